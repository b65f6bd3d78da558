//! Tasks that wait for one limiter, on tokio's threads.

use super::admissions::{Admissions, Share};
use super::load::{Load, PATIENT, PERIOD, QUOTA};
use super::row::Row;
use crate::engine::waiting::{Caller, Waiting};
use crate::figures::error::{Error, Result};
use crate::figures::outcome::Verdict;
use core::time::Duration;
use std::io;
use std::sync::Arc;
use std::time::Instant;
use tokio::runtime;
use tokio::task::JoinSet;
use tokio::time::{timeout, timeout_at};

/// Measures one limiter for `length`, and says whether what it admitted can be right.
pub(super) fn run<W: Waiting>(load: Load, length: Duration) -> Result<(Row, Verdict)> {
    let runtime = runtime::Builder::new_multi_thread().enable_time().build().map_err(|error| failed(&error))?;
    let admissions = runtime.block_on(admissions::<W>(load, length));
    let verdict = admissions.verdict(|elapsed| W::bound(QUOTA, elapsed));
    let admissions = admissions.within(length);
    Ok((Row::new(W::LABEL, load, length, &admissions, PERIOD, &verdict), verdict))
}

/// Lets the tasks wait, one time after the other, until `length` is over; then all that wait are dropped.
async fn admissions<W: Waiting>(load: Load, length: Duration) -> Admissions {
    let start = Instant::now();
    let limiter = Arc::new(W::build(QUOTA));
    let mut tasks = JoinSet::new();
    for number in 0..load.tasks() {
        let mut caller = W::caller(Arc::clone(&limiter));
        let mut share = Share { is_patient: number < PATIENT, ..Share::default() };
        let mut random = fastrand::Rng::with_seed(number.into());
        let line = u64::try_from((PERIOD * load.tasks()).as_nanos()).expect("a line is short");
        tasks.spawn(async move {
            let all_the_time = async {
                loop {
                    if share.is_patient {
                        caller.wait().await;
                    } else {
                        let patience = Duration::from_nanos(random.u64(..line));
                        if timeout(patience, caller.wait()).await.is_err() {
                            share.dropped += 1;
                            continue;
                        }
                    }
                    share.at.push(start.elapsed());
                }
            };
            let _: core::result::Result<core::convert::Infallible, _> =
                timeout_at((start + length).into(), all_the_time).await;
            share
        });
    }
    Admissions::new(tasks.join_all().await)
}

pub(super) fn failed(error: &io::Error) -> Error {
    Error::Program(format!("no runtime: {error}"))
}
