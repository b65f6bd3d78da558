//! The script equals the pure step.

use crate::server::Server;
use std::time::Duration;
use tollgate::Quota;
use tollgate_redis::centre::{Centre, Request, Seen};
use tollgate_redis::{Reply, Terms, parse};

const DRAW: &str = include_str!("../../src/draw.lua");
const GIVE_BACK: &str = include_str!("../../src/give_back.lua");

/// The script with an instant and a server of ours.
fn steered(script: &str) -> String {
    let steered = script
        .replace("redis.call('TIME')", "{ ARGV[12], ARGV[13] }")
        .replace("redis.pcall('INFO', 'server')", "'run_id:' .. ARGV[#ARGV]");
    assert_ne!(steered, script);
    steered
}

#[test]
fn the_script_is_the_step_on_random_requests() {
    let Some(server) = Server::start(&[]) else { return };
    let mut link = redis::Client::open(server.url()).unwrap().get_connection().unwrap();
    let (draw, give_back) = (redis::Script::new(&steered(DRAW)), redis::Script::new(&steered(GIVE_BACK)));
    let mut random = fastrand::Rng::with_seed(17);
    let (mut granted, mut repeats, mut olds, mut backs) = (0, 0, 0, 0);
    for run in 0..60 {
        let quota = Quota::per(random.u64(1..5_000), Duration::from_nanos(random.u64(1_000_000..10_000_000_000)));
        let burst = random.u64(50..100_000);
        let term = Duration::from_micros(random.u64(0..2) * random.u64(1_000..3_000_000));
        let Ok(terms) = Terms::new(quota.with_burst(burst), term) else { continue };
        let keys: Vec<_> = ["m", "l", "a", "s"].map(|key| format!("{{{run}}}:{key}")).into();
        let mut centre = Centre::default();
        let mut time = 1_700_000_000_000_000 + random.u64(0..1 << 40);
        let (mut place, mut sequences, mut shown, mut drawn) =
            ("aa".to_owned(), [0_u64; 3], [Seen::default(); 3], None);
        for _ in 0..150 {
            time = if random.u8(..) < 16 { time - random.u64(0..2_000_000) } else { time + random.u64(0..1_500_000) };
            if random.u8(..) < 5 {
                place = format!("{:x}", random.u64(..));
            }
            if random.u8(..) < 40
                && let Some((epoch, start, end)) = drawn
            {
                let ours = centre.give_back(&place, epoch, start, end);
                let mut call = give_back.prepare_invoke();
                call.key(&keys[0]).key(&keys[1]).arg(epoch).arg(start).arg(end).arg(&place);
                let theirs: String = call.invoke(&mut link).unwrap();
                assert_eq!(theirs, if ours { "back" } else { "lost" });
                backs += u32::from(ours);
                continue;
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
            let request = Request { instance: who as u64 + 1, sequence, least, most, seen };
            let ours = centre.draw(terms, &place, time, request);
            let mut call = draw.prepare_invoke();
            let answer_key = format!("{}{who}", keys[2]);
            call.key(&keys[0]).key(&keys[1]).key(&answer_key).key(&keys[3]);
            for number in
                [terms.tokens, terms.micros, terms.burst, terms.lease, request.instance, sequence, least, most]
            {
                call.arg(number);
            }
            call.arg(seen.epoch).arg(seen.instant).arg(seen.position);
            let text: String = call.arg(time / 1_000_000).arg(time % 1_000_000).arg(&place).invoke(&mut link).unwrap();
            assert_eq!(parse(&text), Some(ours.map_or(Reply::Old, Reply::Answer)), "run {run}: {request:?} {terms:?}");
            if let Some(answer) = ours {
                repeats += u32::from(shown[who] == answer.seen);
                granted += answer.granted;
                shown[who] = answer.seen;
                drawn = Some((answer.seen.epoch, answer.seen.position - answer.granted / 2, answer.seen.position));
            } else {
                olds += 1;
            }
        }
    }
    assert!(granted > 10_000 && repeats > 20 && olds > 20 && backs > 20, "{granted} {repeats} {olds} {backs}");
}
