//! The first steps with a limiter: `cargo run --example quickstart`.

use core::time::Duration;
use std::thread;

use tollgate::{Denied, Quota, TokenBucket};

/// 100 requests per second, at most 5 of them at once. Const, so that it can be a `static` without a lock or lazy cell.
static GATE: TokenBucket = TokenBucket::new(Quota::per_second(100).with_burst(5));

fn main() {
    println!("a burst of 5 passes at once, the sixth has to wait:");
    for request in 1..=6 {
        match GATE.try_acquire() {
            Ok(()) => println!("  request {request}: admitted, {} left", GATE.available()),
            Err(denied) => println!("  request {request}: {denied}"),
        }
    }

    println!("a denial says how long to wait, and the wait is exact:");
    if let Err(denied) = GATE.try_acquire() {
        let wait = denied.retry_after().expect("a cost within the burst comes due at some time");
        thread::sleep(wait);
        println!("  slept {wait:?}, then: {:?}", GATE.try_acquire());
    }

    println!("work of different sizes has different costs:");
    thread::sleep(Duration::from_millis(50));
    println!("  a batch of 3: {:?}", GATE.try_acquire_n(3));
    println!("  as many as there are, up to 8: {}", GATE.try_acquire_up_to(8));
    match GATE.try_acquire_n(6) {
        Err(Denied::ExceedsBurst { cost, max_cost }) => {
            println!("  {cost} can never pass: the most is {max_cost}");
        }
        outcome => println!("  {outcome:?}"),
    }

    println!("what a caller may want to know:");
    println!("  {:?}", GATE.status());

    println!("threads share a limiter by reference:");
    thread::sleep(Duration::from_millis(50));
    let admitted: usize = thread::scope(|scope| {
        let workers: Vec<_> =
            (0..4).map(|_| scope.spawn(|| (0..1000).filter(|_| GATE.try_acquire().is_ok()).count())).collect();
        workers.into_iter().map(|worker| worker.join().expect("a worker does not panic")).sum()
    });
    println!("  4 threads, 4000 requests at once: {admitted} admitted");
}
