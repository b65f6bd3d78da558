//! The script equals the pure step.

use crate::server::Server;
use std::time::Duration;
use tollgate::Quota;
use tollgate_redis::centre::{Centre, Request, Seen};
use tollgate_redis::{Reply, Terms, parse};

const DRAW: &str = include_str!("../../src/draw.lua");

/// The script with an instant and a server of ours.
fn steered(script: &str) -> String {
    let steered = script
        .replace("redis.call('TIME')", "{ ARGV[13], ARGV[14] }")
        .replace("redis.pcall('INFO', 'server')", "'run_id:' .. ARGV[#ARGV]");
    assert_ne!(steered, script);
    steered
}

#[test]
fn the_script_is_the_step_on_random_requests() {
    let Some(server) = Server::start(&[]) else { return };
    let mut link = redis::Client::open(server.url()).unwrap().get_connection().unwrap();
    let draw = redis::Script::new(&steered(DRAW));
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
        let (mut place, mut sequences, mut shown) = ("aa".to_owned(), [0_u64; 3], [Seen::default(); 3]);
        for _ in 0..150 {
            time = if random.u8(..) < 16 { time - random.u64(0..2_000_000) } else { time + random.u64(0..1_500_000) };
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
            let ours = centre.draw(terms, &place, time, request);
            let mut call = draw.prepare_invoke();
            let answer_key = format!("{}{who}", keys[2]);
            call.key(&keys[0]).key(&keys[1]).key(&answer_key).key(&keys[3]);
            for number in
                [terms.tokens, terms.micros, terms.burst, terms.lease, request.instance, sequence, least, most, back]
            {
                call.arg(number);
            }
            call.arg(seen.epoch).arg(seen.instant).arg(seen.position);
            let text: String = call.arg(time / 1_000_000).arg(time % 1_000_000).arg(&place).invoke(&mut link).unwrap();
            assert_eq!(parse(&text), Some(ours.map_or(Reply::Old, Reply::Answer)), "run {run}: {request:?} {terms:?}");
            if let Some(answer) = ours {
                repeats += u32::from(shown[who] == answer.seen);
                granted += answer.granted;
                let before = (seen.epoch, seen.position);
                backs += u32::from(before > (answer.seen.epoch, answer.seen.position - answer.granted));
                shown[who] = answer.seen;
            } else {
                olds += 1;
            }
        }
    }
    assert!(granted > 10_000 && repeats > 20 && olds > 20 && backs > 20, "{granted} {repeats} {olds} {backs}");
}
