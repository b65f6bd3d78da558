//! [`Process`]: a client in a process of its own, which says at which instants it was admitted.

use std::io::Read;
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};
use tollgate::Quota;
use tollgate_redis::{DistributedTokenBucket, Store};

pub(crate) const QUOTA: Quota = Quota::per_second(2_000).with_burst(1_600);
pub(crate) const LEASE: Duration = Duration::from_millis(100);

/// In this time an empty store is full, and has ended an epoch's first lease.
pub(crate) const FILL: Duration = Duration::from_millis(1_100);

/// Admissions lie between these instants of the store's clock, which is that of this machine.
pub(crate) type Admission = (u64, u64);

fn micros() -> u64 {
    u64::try_from(SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_micros()).unwrap()
}

#[test]
#[ignore = "the body of the processes of other tests"]
fn client() {
    let Ok(url) = std::env::var("CLIENT_URL") else { return };
    let millis: u64 = std::env::var("CLIENT_MILLIS").unwrap().parse().unwrap();
    let slow = Duration::from_millis(std::env::var("CLIENT_SLOW").map_or(0, |millis| millis.parse().unwrap()));
    let exact = std::env::var_os("CLIENT_EXACT").is_some();
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap();
    runtime.block_on(async {
        let store = Store::new(redis::Client::open(url).unwrap(), Duration::from_millis(40));
        let lease = if exact { Duration::ZERO } else { LEASE };
        let bucket = Arc::new(DistributedTokenBucket::new(store, "test", "limit", QUOTA, lease).unwrap());
        tokio::spawn(bucket.keep_ahead());
        // The store fills; then demand is slow, so that leases are held; then there is as much as can be.
        let _ = bucket.try_acquire().await;
        tokio::time::sleep(FILL).await;
        let started = Instant::now();
        while started.elapsed() < Duration::from_millis(millis) {
            if started.elapsed() < slow {
                tokio::time::sleep(Duration::from_millis(5)).await;
            }
            let before = micros();
            if bucket.try_acquire().await.is_ok() {
                // By `write`, at once: what a killed process was admitted counts.
                let line = format!("admitted {before} {}\n", micros());
                rustix::io::write(std::io::stdout(), line.as_bytes()).unwrap();
            } else {
                tokio::time::sleep(Duration::from_micros(200)).await;
            }
        }
    });
}

pub(crate) struct Process(Child);

impl Process {
    pub(crate) fn start(url: &str, run: Duration) -> Self {
        Self::with(url, run, &[])
    }

    pub(crate) fn with(url: &str, run: Duration, variables: &[(&str, &str)]) -> Self {
        let child = Command::new(std::env::current_exe().unwrap())
            .args(["--exact", "process::client", "--ignored", "--nocapture"])
            .env("CLIENT_URL", url)
            .env("CLIENT_MILLIS", run.as_millis().to_string())
            .envs(variables.iter().copied())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        Self(child)
    }

    pub(crate) fn signal(&self, signal: rustix::process::Signal) {
        let id = rustix::process::Pid::from_child(&self.0);
        rustix::process::kill_process(id, signal).unwrap();
    }

    /// Waits for its end; every admission that it told.
    pub(crate) fn admissions(mut self) -> Vec<Admission> {
        let mut text = String::new();
        self.0.stdout.take().unwrap().read_to_string(&mut text).unwrap();
        self.0.wait().unwrap();
        let admission = |line: &str| {
            let (before, after) = line.split_once("admitted ")?.1.split_once(' ')?;
            Some((before.parse().ok()?, after.parse().ok()?))
        };
        text.lines().filter_map(admission).collect()
    }
}

/// Gathers what each process told while all run.
pub(crate) fn gather(processes: Vec<Process>) -> Vec<Vec<Admission>> {
    let threads: Vec<_> = processes.into_iter().map(|p| std::thread::spawn(move || p.admissions())).collect();
    threads.into_iter().map(|thread| thread.join().unwrap()).collect()
}

/// The most by which any interval holds more admissions than `burst + rate * length`, rounded up: 0 or less if none does.
pub(crate) fn excess(traces: &[Vec<Admission>], quota: Quota) -> i128 {
    let mut by_end = traces.concat();
    let starts: Vec<_> = by_end.iter().map(|&(before, _)| before).collect();
    by_end.sort_unstable_by_key(|&(_, after)| after);
    let period = quota.period().as_micros().cast_signed();
    let mut worst = i128::MIN;
    for start in starts {
        let mut count = 0;
        for &(_, after) in by_end.iter().filter(|&&(before, _)| before >= start) {
            count += 1;
            let beyond = (count - i128::from(quota.burst())) * period;
            worst = worst.max(beyond - i128::from(quota.tokens()) * i128::from(after - start));
        }
    }
    -(-worst).div_euclid(period)
}

#[test]
fn an_excess_is_seen() {
    let quota = Quota::per_second(1_000).with_burst(10);
    let trace: Vec<_> = (0..20).map(|n| (1_000_000 + n * 500, 1_000_000 + n * 500)).collect();
    assert_eq!(excess(std::slice::from_ref(&trace), quota), 1); // 20 in 9.5 ms, where 19 are allowed
    assert!(excess(&[trace[..18].to_vec()], quota) <= 0);
}
