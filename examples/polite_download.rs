//! Downloads pages politely: no faster than a pace between requests, and no more bytes each second than agreed.
//!
//! Runs without a network: the "server" is a reader of bytes in memory.
//!
//! ```sh
//! cargo run --example polite_download
//! ```

use std::io::{self, Read};
use std::time::{Duration, Instant};
use tollgate::{Pacer, Quota, Throttled, WaitingTokenBucket};

/// Ten requests each second, evenly.
const REQUESTS: Quota = Quota::per_second(10);

/// 200 kB each second for all downloads together, and 8 kB at once.
static BANDWIDTH: WaitingTokenBucket =
    WaitingTokenBucket::new(Quota::per_second(200_000).with_burst(8_000), Duration::from_secs(60));

/// What a server would send.
fn get(page: u64) -> impl Read {
    io::repeat(b'.').take(page * 10_000)
}

fn main() -> io::Result<()> {
    let start = Instant::now();
    for (page, tick) in (1..=4).zip(Pacer::new(REQUESTS)) {
        let mut body = Vec::new();
        let bytes = io::copy(&mut Throttled::new(get(page), &BANDWIDTH), &mut body)?;
        let late = match tick.skipped {
            0 => String::new(),
            skipped => format!(" ({skipped} ticks skipped: the page before took longer)"),
        };
        println!("{:4} ms  page {page}: {bytes} bytes{late}", start.elapsed().as_millis());
    }
    Ok(())
}
