//! A store that says anything: random replies, of which many are nearly right. Needs no `redis-server`.
//!
//! For a longer search: `TOLLGATE_REPLIES_SECONDS=180 cargo test -p tollgate-redis --test replies -- --nocapture`

use std::collections::HashMap;
use std::io::{BufRead, BufReader, Result, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};
use tollgate::Quota;
use tollgate_redis::centre::{Answer, Centre, Request, Seen};
use tollgate_redis::{DistributedTokenBucket, Refused, Reply, Store, Terms, parse};

fn search_time() -> Duration {
    Duration::from_secs(std::env::var("TOLLGATE_REPLIES_SECONDS").map_or(2, |seconds| seconds.parse().unwrap()))
}

fn text(answer: Answer) -> String {
    let Answer { instance, sequence, granted, seen: Seen { epoch, instant, position } } = answer;
    format!("draw {instance} {sequence} {granted} {epoch} {instant} {position}")
}

/// `text` with a change or two.
fn changed(text: &str, random: &mut fastrand::Rng) -> String {
    let mut words: Vec<_> = text.split(' ').map(str::to_owned).collect();
    for _ in 0..random.u8(1..3) {
        let (at, other) = (random.usize(..words.len()), random.usize(..words.len()));
        match random.u8(..10) {
            0 => drop(words.remove(at)),
            1 => words.insert(at, words[other].clone()),
            2 => words.swap(at, other),
            3 => words[at] = random.u64(..).to_string(),
            4 => words[at] = ((1 << 53) - random.u64(..2)).to_string(),
            5 => words[at] = random.u64(..3).to_string(),
            6 => words[at] = format!("{}{}", ["-", "+", "0", " ", "\n", "1e", "é"][random.usize(..7)], words[at]),
            7 => words[at] += ["", " ", ".0", "\0", "x"][random.usize(..5)],
            8 => ["draw", "old", "terms", "", "nan"][random.usize(..5)].clone_into(&mut words[at]),
            _ => {
                if let Ok(number) = words[at].parse::<u64>() {
                    words[at] = number.wrapping_add(random.u64(..5)).wrapping_sub(2).to_string();
                }
            }
        }
        if words.is_empty() {
            break;
        }
    }
    words.join(" ")
}

#[test]
fn what_is_read_is_what_was_written() {
    let mut random = fastrand::Rng::with_seed(5);
    let (mut read, mut refused) = (0_u32, 0_u32);
    for _ in 0..200_000 {
        let mut number = || random.u64(..) >> random.u8(10..64);
        let seen = Seen { epoch: number(), instant: number(), position: number() };
        let answer = Answer { instance: number(), sequence: number(), granted: number(), seen };
        let possible = answer.granted <= seen.position && seen.epoch <= seen.instant;
        let written = text(answer);
        let fits = written.split(' ').skip(1).all(|word| word.parse::<u64>().unwrap() < 1 << 53);
        assert_eq!(parse(&written), (possible && fits).then_some(Reply::Answer(answer)), "{written}");
        let written = changed(&written, &mut random);
        let numbers = || written.split(' ').skip(1).map(|word| word.parse::<u64>().unwrap());
        match parse(&written) {
            Some(reply) => {
                assert!(
                    written.bytes().all(|byte| byte.is_ascii_digit() || b"drawoltems ".contains(&byte)),
                    "{written:?}"
                );
                assert!(numbers().all(|number| number < 1 << 53), "{written}");
                let same = match reply {
                    Reply::Answer(answer) => {
                        text(answer).split(' ').skip(1).map(|w| w.parse::<u64>().unwrap()).eq(numbers())
                    }
                    Reply::Terms(terms) => terms.into_iter().eq(numbers()),
                    Reply::Old => written == "old",
                };
                assert!(same, "{written} was read as {reply:?}");
                read += 1;
            }
            None => refused += 1,
        }
    }
    assert!(read > 10_000 && refused > 10_000, "{read} {refused}");
}

/// What the strange server knows and has said.
struct Strange {
    random: fastrand::Rng,
    /// One in so many replies to draws is true.
    truth: u8,
    centre: Centre,
    said: Vec<String>,
    /// The most tokens that a reply to each request can be taken to have granted.
    granted: HashMap<(u64, u64), u64>,
    kinds: [u32; 6],
}

impl Strange {
    fn new(seed: u64) -> Self {
        let mut random = fastrand::Rng::with_seed(seed);
        let truth = random.u8(1..6);
        Self { random, truth, centre: Centre::default(), said: Vec::new(), granted: HashMap::new(), kinds: [0; 6] }
    }

    /// The bytes that answer a draw with these arguments; none: it hangs up.
    fn draw(&mut self, numbers: &[u64]) -> Option<Vec<u8>> {
        let [tokens, micros, burst, lease, instance, sequence, floor, most, back, epoch, time, position] = *numbers
        else {
            panic!("{numbers:?}")
        };
        let request =
            Request { instance, sequence, least: floor, most, back, seen: Seen { epoch, instant: time, position } };
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_micros();
        let terms = Terms { tokens, micros, burst, lease };
        let answer = self.centre.draw(terms, "aa", u64::try_from(now).unwrap(), request);
        let truth = answer.map_or("old".to_owned(), text);
        self.said.push(truth.clone());
        let bulk = |text: &str| format!("${}\r\n{text}\r\n", text.len()).into_bytes();
        let kind = if self.random.u8(..self.truth) == 0 { 0 } else { self.random.usize(..6) };
        self.kinds[kind] += 1;
        match kind {
            0 => {
                self.note(&truth, request);
                Some(bulk(&truth))
            }
            1 | 2 => {
                let lie = match answer {
                    // Nothing is wrong with it but how much it grants.
                    Some(mut lie) if kind == 2 => {
                        let all = lie.seen.position;
                        lie.granted =
                            [self.random.u64(..10), most + self.random.u64(..10)][self.random.usize(..2)].min(all);
                        text(lie)
                    }
                    _ => changed(&truth, &mut self.random),
                };
                self.note(&lie, request);
                Some(bulk(&lie))
            }
            3 => {
                let other = self.said[self.random.usize(..self.said.len())].clone();
                self.note(&other, request);
                Some(bulk(&other))
            }
            4 => {
                let frames = [
                    "$-1\r\n",
                    "+OK\r\n",
                    "+old\r\n",
                    ":7\r\n",
                    "*0\r\n",
                    "*2\r\n+draw\r\n:1\r\n",
                    "_\r\n",
                    "#t\r\n",
                    ",1.5\r\n",
                    "%1\r\n+draw\r\n:1\r\n",
                    "(3492890328409238509324850943850943825024385\r\n",
                    ">2\r\n+message\r\n+x\r\n",
                    "-ERR no\r\n",
                    "-READONLY You can't write against a read only replica.\r\n",
                    "-OOM command not allowed when used memory > 'maxmemory'.\r\n",
                    "-NOSCRIPT No matching script.\r\n",
                    "-LOADING Redis is loading the dataset in memory\r\n",
                    "-MOVED 3999 127.0.0.1:1\r\n",
                    "-\r\n",
                    "$5\r\n\u{7f}\r\n",
                ];
                Some(frames[self.random.usize(..frames.len())].as_bytes().to_vec())
            }
            _ => {
                let mut bytes = bulk(&truth);
                bytes.truncate(self.random.usize(..bytes.len()));
                bytes.extend((0..self.random.usize(..20)).map(|_| self.random.u8(..)));
                self.note(&truth, request); // a cut frame may be whole
                (self.random.bool()).then_some(bytes)
            }
        }
    }

    /// Notes what `said` grants, if it can be taken for an answer to `request`. Reads it in its own way.
    fn note(&mut self, said: &str, request: Request) {
        let words: Vec<_> = said.split(' ').collect();
        let numbers: Option<Vec<u64>> = words[1..].iter().map(|word| word.parse().ok()).collect();
        if let (Some(&"draw"), Some([instance, sequence, granted, _, _, _])) = (words.first(), numbers.as_deref())
            && (*instance, *sequence) == (request.instance, request.sequence)
            && (request.least..=request.most).contains(granted)
        {
            let most = self.granted.entry((*instance, *sequence)).or_default();
            *most = (*most).max(*granted);
        }
    }
}

/// The words of the next command.
fn command(from: &mut impl BufRead) -> Result<Vec<String>> {
    let mut length = |kind: u8| -> Result<usize> {
        let mut line = String::new();
        from.read_line(&mut line)?;
        let end = || std::io::Error::from(std::io::ErrorKind::UnexpectedEof);
        line.trim_end().strip_prefix(char::from(kind)).and_then(|number| number.parse().ok()).ok_or_else(end)
    };
    let count = length(b'*')?;
    let mut words = Vec::new();
    for _ in 0..count {
        let mut line = String::new();
        from.read_line(&mut line)?;
        let mut word = vec![0; line.trim_end()[1..].parse::<usize>().unwrap() + 2];
        from.read_exact(&mut word)?;
        word.truncate(word.len() - 2);
        words.push(String::from_utf8_lossy(&word).into_owned());
    }
    Ok(words)
}

fn converse(link: TcpStream, strange: &Mutex<Strange>) -> Result<()> {
    let (mut from, mut to) = (BufReader::new(link.try_clone()?), link);
    loop {
        let words = command(&mut from)?;
        if !words[0].starts_with("EVAL") {
            to.write_all(b"+OK\r\n")?;
        } else if words[2] == "1" {
            to.write_all(b"$27\r\nmaxmemory_policy:noeviction\r\n")?;
        } else {
            let numbers: Vec<_> = words[7..].iter().map(|word| word.parse().unwrap()).collect();
            match strange.lock().unwrap().draw(&numbers) {
                Some(bytes) => to.write_all(&bytes)?,
                None => return Ok(()),
            }
        }
    }
}

/// A limit on a strange server of its own: how many tokens were admitted, and how many replies there were of each kind.
async fn visit(seed: u64) -> (u64, [u32; 6]) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let strange = Arc::new(Mutex::new(Strange::new(seed)));
    let theirs = Arc::clone(&strange);
    // It ends with the connection that says so.
    let server = std::thread::spawn(move || {
        for link in listener.incoming() {
            let (Ok(mut link), strange) = (link, Arc::clone(&theirs)) else { continue };
            let mut first = [0];
            if link.peek(&mut first).is_ok_and(|length| length == 1) && first == *b"!" {
                let _ = link.write_all(b"!");
                return;
            }
            std::thread::spawn(move || drop(converse(link, &strange)));
        }
    });
    let mut random = fastrand::Rng::with_seed(seed);
    let client = redis::Client::open(format!("redis://127.0.0.1:{port}/")).unwrap();
    let lease = if random.bool() { Duration::ZERO } else { Duration::from_millis(20) };
    let bucket = {
        let store = Store::new(client, Duration::from_millis(30));
        let quota = Quota::per_second(2_000).with_burst(1_000);
        Arc::new(DistributedTokenBucket::new(store, "test", "limit", quota, lease).unwrap())
    };
    let ahead = random.bool().then(|| tokio::spawn(bucket.keep_ahead()));
    let mut admitted = 0;
    for _ in 0..random.u32(20..120) {
        let n = random.u64(1..10);
        match bucket.try_acquire_n(n).await {
            Ok(()) => admitted += n,
            Err(Refused::TryAfter(_)) => tokio::time::sleep(Duration::from_millis(1)).await,
            Err(_) => tokio::time::sleep(Duration::from_millis(3)).await,
        }
    }
    if let Some(task) = ahead {
        task.abort();
        let _ = task.await;
    }
    let (granted, kinds) = {
        let strange = strange.lock().unwrap();
        (strange.granted.values().sum::<u64>(), strange.kinds)
    };
    assert!(admitted <= granted, "seed {seed}: {admitted} admitted of {granted}");
    TcpStream::connect(("127.0.0.1", port)).unwrap().write_all(b"!").unwrap();
    server.join().unwrap();
    (admitted, kinds)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn nothing_is_admitted_that_no_reply_can_be_taken_to_grant() {
    let (until, start) = (Instant::now() + search_time(), fastrand::u64(..));
    println!("from seed {start}");
    let mut visitors = tokio::task::JoinSet::new();
    for visitor in 0..16 {
        visitors.spawn(async move {
            let (mut total, mut kinds, mut visits) = (0, [0; 6], 0);
            while Instant::now() < until {
                let (admitted, seen) = visit(start.wrapping_add(visitor << 32 | visits)).await;
                total += admitted;
                visits += 1;
                for (sum, count) in kinds.iter_mut().zip(seen) {
                    *sum += count;
                }
            }
            (total, kinds, visits)
        });
    }
    let (mut total, mut kinds, mut visits) = (0, [0; 6], 0);
    for (admitted, seen, more) in visitors.join_all().await {
        total += admitted;
        visits += more;
        kinds.iter_mut().zip(seen).for_each(|(sum, count)| *sum += count);
    }
    println!("{visits} limits, {total} tokens admitted, replies by kind {kinds:?}");
    assert!(total > 0 && kinds.iter().all(|&count| count > 0), "{total} {kinds:?}");
}
