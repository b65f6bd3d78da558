//! The script equals the pure step; and a script with one rule removed does not.

use crate::server::Server;
use std::time::Duration;
use tollgate::Quota;
use tollgate_redis::centre::{Centre, Request, Seen};
use tollgate_redis::{Reply, Terms, parse};

const DRAW: &str = include_str!("../../src/draw.lua");
const YEAR: u64 = 31_557_600_000_000;

/// The script with an instant and a server of ours.
fn steered(script: &str) -> String {
    let steered = script
        .replace("redis.call('TIME')", "{ ARGV[13], ARGV[14] }")
        .replace("redis.pcall('INFO', 'replication')", "'master_replid:' .. ARGV[#ARGV]");
    assert_ne!(steered, script);
    steered
}

/// Both, side by side, on one limit.
struct Pair<'a> {
    link: &'a mut redis::Connection,
    script: &'a redis::Script,
    tag: String,
    terms: Terms,
    centre: Centre,
    last: Option<Seen>,
}

impl Pair<'_> {
    /// What the script says, and what the step does.
    fn draw(&mut self, place: &str, time: u64, request: Request) -> (String, Option<Reply>) {
        self.expire(time);
        let ours = self.centre.draw(self.terms, place, time, request);
        if let Some(answer) = ours {
            self.last = Some(answer.seen);
        }
        let mut call = self.script.prepare_invoke();
        for key in ["m".to_owned(), "l".to_owned(), format!("a{}", request.instance), "s".to_owned()] {
            call.key(format!("{{{}}}:{key}", self.tag));
        }
        let Terms { tokens, micros, burst, lease } = self.terms;
        let Request { instance, sequence, least, most, back, seen } = request;
        for number in [tokens, micros, burst, lease, instance, sequence, least, most, back] {
            call.arg(number);
        }
        call.arg(seen.epoch).arg(seen.instant).arg(seen.position);
        // One that no longer runs says something, too.
        let text = call.arg(time / 1_000_000).arg(time % 1_000_000).arg(place).invoke(self.link);
        (text.unwrap_or_else(|error| error.to_string()), Some(ours.map_or(Reply::Old, Reply::Answer)))
    }

    /// Deletes the limit's key once it may have expired: that must make no difference.
    fn expire(&mut self, time: u64) {
        let full = self.terms.until(self.terms.burst + 1).saturating_add(2 * self.terms.lease + 1_000_000);
        if self.last.is_some_and(|last| time.saturating_sub(last.instant) >= full) {
            redis::cmd("DEL").arg(format!("{{{}}}:l", self.tag)).exec(self.link).unwrap();
        }
    }
}

/// An older state, as a replica has it that lags behind.
type Saved = (Centre, Vec<Option<Vec<u8>>>);

impl Pair<'_> {
    fn keys(&self) -> Vec<String> {
        ["m", "l", "a1", "a2", "a3", "s"].map(|key| format!("{{{}}}:{key}", self.tag)).into()
    }

    fn save(&mut self) -> Saved {
        let keys = self.keys();
        let dump = |key| redis::cmd("DUMP").arg(key).query(self.link).unwrap();
        (self.centre.clone(), keys.into_iter().map(dump).collect())
    }

    fn fall_back(&mut self, (centre, dumps): &Saved) {
        self.centre = centre.clone();
        for (key, dump) in self.keys().into_iter().zip(dumps) {
            redis::cmd("DEL").arg(&key).exec(self.link).unwrap();
            if let Some(dump) = dump {
                redis::cmd("RESTORE").arg(&key).arg(0).arg(&dump[..]).exec(self.link).unwrap();
            }
        }
    }
}

/// What the random requests came to: how often a rule was at work.
#[derive(Debug, Default)]
struct Counts {
    granted: u64,
    repeats: u32,
    olds: u32,
    backs: u32,
}

/// Random requests to the script and to the step; the first that they answer differently.
fn compare(server: &Server, script: &str, start: u64) -> Result<Counts, String> {
    let mut link = redis::Client::open(server.url()).unwrap().get_connection().unwrap();
    let script = redis::Script::new(&steered(script));
    let mut random = fastrand::Rng::with_seed(start);
    let mut counts = Counts::default();
    for run in 0..60 {
        let quota = Quota::per(random.u64(1..5_000), Duration::from_nanos(random.u64(1_000_000..10_000_000_000)));
        let burst = random.u64(50..100_000);
        let term = Duration::from_micros(random.u64(0..2) * random.u64(1_000..3_000_000));
        let Ok(terms) = Terms::new(quota.with_burst(burst), term) else { continue };
        let tag = format!("{start}-{run}");
        let mut pair = Pair { link: &mut link, script: &script, tag, terms, centre: Centre::default(), last: None };
        let mut time = 1_700_000_000_000_000 + random.u64(0..1 << 40);
        let (mut place, mut sequences, mut shown) = ("aa".to_owned(), [0_u64; 3], [Seen::default(); 3]);
        let mut saved = None;
        for _ in 0..150 {
            time = if random.u8(..) < 16 { time - random.u64(0..2_000_000) } else { time + random.u64(0..1_500_000) };
            match random.u8(..) {
                0..12 => saved = Some(pair.save()),
                12..18 => {
                    if let Some(saved) = &saved {
                        pair.fall_back(saved);
                    }
                }
                _ => {}
            }
            if random.u8(..) < 5 {
                place = format!("{:x}", random.u64(..));
            }
            let who = random.usize(0..3);
            let sequence = match random.u8(..) {
                0..16 => sequences[who],
                16..24 => sequences[who].saturating_sub(1),
                _ => sequences[who] + 1,
            };
            sequences[who] = sequences[who].max(sequence);
            let least = random.u64(0..30);
            let most = least + random.u64(0..terms.burst);
            let seen = shown[random.usize(0..3)];
            let back = u64::from(random.u8(..) < 100) * random.u64(0..=seen.position.min(200));
            let request = Request { instance: who as u64 + 1, sequence, least, most, back, seen };
            let (theirs, ours) = pair.draw(&place, time, request);
            if parse(&theirs) != ours {
                return Err(format!("run {run}: {request:?} {terms:?}: {theirs}, not {ours:?}"));
            }
            if let Some(Reply::Answer(answer)) = ours {
                counts.repeats += u32::from(shown[who] == answer.seen);
                counts.granted += answer.granted;
                let before = (seen.epoch, seen.position);
                counts.backs += u32::from(before > (answer.seen.epoch, answer.seen.position - answer.granted));
                shown[who] = answer.seen;
            } else {
                counts.olds += 1;
            }
        }
    }
    Ok(counts)
}

/// A number of so many bits at most, each length as likely.
fn up_to(random: &mut fastrand::Rng, bits: u32) -> u64 {
    let bits = random.u32(1..bits);
    random.u64(0..1 << bits)
}

/// Limits that are 50 years old, with positions up to 2^53: what does not fit a double would be seen.
fn compare_large(server: &Server, script: &str) -> Result<u64, String> {
    let mut link = redis::Client::open(server.url()).unwrap().get_connection().unwrap();
    let script = redis::Script::new(&steered(script));
    let mut random = fastrand::Rng::with_seed(53);
    let mut highest = 0;
    for run in 0..200 {
        // Up to the highest rate, and as a fraction of large numbers.
        let micros = random.u64(1..40_000_000);
        let quota = Quota::per(micros * random.u64(1..57) / 10 + random.u64(1..100), Duration::from_micros(micros));
        let burst = 2 + up_to(&mut random, 52);
        let Ok(terms) = Terms::new(quota.with_burst(burst), Duration::ZERO) else { continue };
        let mut pair = Pair {
            link: &mut link,
            script: &script,
            tag: format!("large {run}"),
            terms,
            centre: Centre::default(),
            last: None,
        };
        let mut time = 1_700_000_000_000_000;
        let mut seen = Seen::default();
        for sequence in 1..30 {
            let most = random.u64(0..=terms.burst);
            let request = Request { instance: (1 << 53) - 1, sequence, least: most / 2, most, back: most / 3, seen };
            let (theirs, ours) = pair.draw("aa", time, request);
            if parse(&theirs) != ours {
                return Err(format!("run {run}: {request:?} {terms:?}: {theirs}, not {ours:?}"));
            }
            if let Some(Reply::Answer(answer)) = ours {
                seen = answer.seen;
                highest = highest.max(seen.position);
            }
            time = if sequence == 1 { time + 49 * YEAR } else { time + up_to(&mut random, 44) };
        }
    }
    Ok(highest)
}

#[test]
fn the_script_is_the_step_on_random_requests() {
    let Some(server) = Server::start(&[]) else { return };
    let counts = compare(&server, DRAW, 17).unwrap();
    let Counts { granted, repeats, olds, backs } = counts;
    assert!(granted > 10_000 && repeats > 20 && olds > 20 && backs > 20, "{counts:?}");
}

#[test]
fn the_script_is_the_step_up_to_the_largest_numbers() {
    let Some(server) = Server::start(&[]) else { return };
    assert!(compare_large(&server, DRAW).unwrap() > 1 << 52);
}

/// Each of these lines is needed: without it, random requests find a difference.
#[test]
fn a_script_without_a_rule_is_another() {
    let Some(server) = Server::start(&[]) else { return };
    for (rule, line, broken) in [
        ("1: no marker begins an epoch", "epoch = now\n", "epoch = 1\n"),
        ("1: another server begins one", " or marker[2] ~= server", ""),
        ("1: an epoch begins to fill after a lease", "now - epoch - lease", "now - epoch"),
        ("1: what was in another epoch is void", "tonumber(state[1] or '') == epoch", "state[1]"),
        ("2: time does not go back", "math.max(now, tonumber(state[2])), ", "now, "),
        ("2: nor behind what is shown", "math.max(now, instant), ", "now, "),
        ("3: no more than a burst is saved up", "math.max(position, due - burst)", "position"),
        ("3: no more is granted than there is", "if available >= least then", "if true then"),
        ("4: who else was seen gets a share", "available / (others + 1)", "available"),
        ("4: within the last lease", "redis.call('ZREMRANGEBYSCORE', KEYS[4], '-inf', text(now - 2 * lease))", ""),
        ("5: the same request is answered again", "if answer[3] == ARGV[6] then return answer[4] end", ""),
        ("5: an older one is not", "if tonumber(answer[3]) > tonumber(ARGV[6]) then return 'old' end", ""),
        ("5: without a lease, too", "2 * math.max(lease, 1000000)", "2 * lease"),
        ("6: only what was drawn last goes back", "if shown == position and", "if"),
        ("6: and not long after", " and instant + memory > now", ""),
        ("7: what is shown counts", "math.max(position, shown)", "position"),
        ("numbers keep their digits", "return string.format('%.0f', n)", "return tostring(n)"),
        ("others agree on the terms", "state[4] ~= agreed", "true"),
    ] {
        assert_eq!(DRAW.matches(line).count(), 1, "{rule}: {line}");
        let without = DRAW.replace(line, broken);
        // One start of the random numbers sees most of them at once.
        assert!((17..22).any(|start| compare(&server, &without, start).is_err()), "not seen: {rule}");
        server.command(&["FLUSHALL"]);
    }
    let line = "(elapsed - rest) / micros * tokens + math.floor(rest * tokens / micros)";
    assert_eq!(DRAW.matches(line).count(), 1);
    let inexact = DRAW.replace(line, "math.floor(elapsed * tokens / micros)");
    assert!(compare_large(&server, &inexact).is_err());
}

#[test]
fn keys_live_as_long_as_they_are_needed() {
    let Some(server) = Server::start(&[]) else { return };
    let mut link = redis::Client::open(server.url()).unwrap().get_connection().unwrap();
    for (lease, burst) in [(0, 100), (250, 1_000), (2_000, 20_000)] {
        let terms = Terms::new(Quota::per_second(1_000).with_burst(burst), Duration::from_millis(lease)).unwrap();
        let script = redis::Script::new(DRAW);
        let mut call = script.prepare_invoke();
        for key in ["marker", "limit", "answer", "seen"] {
            call.key(format!("{{{lease}}}:{key}"));
        }
        for number in [terms.tokens, terms.micros, terms.burst, terms.lease, 7, 1, 0, 0, 0, 0, 0, 0] {
            call.arg(number);
        }
        let text: String = call.invoke(&mut link).unwrap();
        assert!(text.starts_with("draw 7 1 0 "), "{text}");
        let left = |key: &str| -> i64 {
            redis::from_redis_value(server.command(&["PTTL", &format!("{{{lease}}}:{key}")])).unwrap()
        };
        // Each has a second more, of which this test takes a part.
        let least = |micros: u64| (micros / 1_000).cast_signed();
        assert_eq!(left("marker"), -1);
        assert!(left("limit") > least(terms.until(terms.burst) + 2 * terms.lease));
        assert!(left("answer") > least(terms.memory()));
        assert!(if lease == 0 { left("seen") == -2 } else { left("seen") > least(2 * terms.lease) });
    }
}
