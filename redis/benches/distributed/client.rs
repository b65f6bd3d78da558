//! [`Client`]: one of the processes, which says on its last line what it got.

use crate::engine::{Engine, Limit};
use crate::load::Load;
use hdrhistogram::Histogram;
use std::sync::Arc;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};
use tollgate_bench::figures::error::{Error, Result};

/// The command line of a process, which the bench gives itself.
#[derive(Clone, Debug, clap::Args)]
pub(crate) struct Client {
    #[arg(long)]
    pub(crate) url: String,
    #[arg(long)]
    pub(crate) name: String,
    #[arg(long)]
    pub(crate) engine: Engine,
    #[arg(long)]
    pub(crate) load: Load,
    #[arg(long)]
    pub(crate) processes: u32,
    /// Tasks that call, in this process
    #[arg(long)]
    pub(crate) callers: u32,
    #[arg(long)]
    pub(crate) seconds: f64,
}

/// What one process got, or all of them.
#[derive(Clone, Debug)]
pub(crate) struct Tally {
    /// Decisions while it counted.
    pub(crate) decisions: u64,
    /// Those that were admissions.
    pub(crate) admitted: u64,
    /// Calls that came to no decision.
    pub(crate) failed: u64,
    /// Admissions with those of the warming up, all between `first` and `last` in microseconds of Unix time.
    pub(crate) total: u64,
    pub(crate) first: u64,
    pub(crate) last: u64,
    /// Nanoseconds that single decisions took.
    pub(crate) nanos: Histogram<u64>,
}

impl Tally {
    pub(crate) fn new() -> Self {
        let nanos = Histogram::new_with_max(60_000_000_000, 3).expect("a range that a histogram can have");
        Self { decisions: 0, admitted: 0, failed: 0, total: 0, first: u64::MAX, last: 0, nanos }
    }

    pub(crate) fn add(&mut self, other: &Self) {
        self.decisions += other.decisions;
        self.admitted += other.admitted;
        self.failed += other.failed;
        self.total += other.total;
        self.first = self.first.min(other.first);
        self.last = self.last.max(other.last);
        self.nanos.add(&other.nanos).expect("equal ranges");
    }

    fn line(&self) -> String {
        let counts = [self.decisions, self.admitted, self.failed, self.total, self.first, self.last];
        let times =
            self.nanos.iter_recorded().map(|times| format!("{}:{}", times.value_iterated_to(), times.count_at_value()));
        let words = counts.iter().map(u64::to_string).chain(times);
        format!("got {}", words.collect::<Vec<_>>().join(" "))
    }

    /// What [`line`](Self::line) wrote.
    pub(crate) fn read(text: &str) -> Option<Self> {
        let mut words = text.lines().find_map(|line| line.strip_prefix("got "))?.split(' ');
        let mut count = || words.next()?.parse::<u64>().ok();
        let mut tally = Self {
            decisions: count()?,
            admitted: count()?,
            failed: count()?,
            total: count()?,
            first: count()?,
            last: count()?,
            ..Self::new()
        };
        for word in words {
            let (value, count) = word.split_once(':')?;
            tally.nanos.record_n(value.parse().ok()?, count.parse().ok()?).ok()?;
        }
        Some(tally)
    }
}

/// Microseconds of Unix time.
pub(crate) fn micros() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| u64::try_from(since.as_micros()).unwrap_or(u64::MAX))
}

impl Client {
    /// The words that make a process of this.
    pub(crate) fn words(&self) -> Vec<String> {
        let Self { url, name, engine, load, processes, callers, seconds } = self;
        let (engine, load) = (engine.name(), load.name());
        let words = format!(
            "client --url {url} --name {name} --engine {engine} --load {load} --processes {processes} \
             --callers {callers} --seconds {seconds}"
        );
        words.split(' ').map(str::to_owned).collect()
    }

    /// Says that it is ready, and is told when what counts begins, in microseconds of Unix time. Until then it warms up,
    /// under the same load; then it calls until the time is over.
    pub(crate) fn run(self) -> Result<()> {
        // The task that asks ahead has a thread of its own, since its callers need not wait. Those that wait for each answer
        // are faster with the connection on their own thread.
        let runtime = if self.engine.is_in_memory() {
            tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build()
        } else {
            tokio::runtime::Builder::new_current_thread().enable_all().build()
        };
        let runtime = runtime.map_err(|error| Error::Program(error.to_string()))?;
        let tally = runtime.block_on(async {
            let limit =
                Arc::new(Limit::open(self.engine, &self.url, &self.name, self.load.quota(), self.processes).await);
            println!("ready");
            let mut line = String::new();
            std::io::stdin().read_line(&mut line).ok()?;
            let wait = line.trim().parse::<u64>().ok()?.checked_sub(micros())?;
            let begin = Instant::now() + Duration::from_micros(wait);
            let end = begin + Duration::from_secs_f64(self.seconds);
            let every = self
                .load
                .offered()
                .map(|offered| Duration::from_secs_f64(f64::from(self.processes) * f64::from(self.callers) / offered));
            let mut tally = Tally::new();
            let stride = if self.engine.is_in_memory() && every.is_none() { 61 } else { 1 };
            let caller = Caller { limit, begin, end, every, stride };
            let others: Vec<_> = (1..self.callers).map(|_| tokio::spawn(caller.clone().run())).collect();
            tally.add(&caller.run().await);
            for other in others {
                tally.add(&other.await.expect("callers do not panic"));
            }
            Some(tally)
        });
        let tally = tally.ok_or_else(|| Error::Program("the process was ready after the beginning".into()))?;
        println!("{}", tally.line());
        Ok(())
    }
}

/// One task that calls.
#[derive(Clone)]
struct Caller {
    limit: Arc<Limit>,
    begin: Instant,
    end: Instant,
    /// From one call to the next; `None`: as fast as it can.
    every: Option<Duration>,
    /// One call in so many is timed.
    stride: u32,
}

/// A caller that fell behind its pace by more makes no more calls for it.
const LATE: Duration = Duration::from_millis(100);

impl Caller {
    async fn run(self) -> Tally {
        let mut tally = Tally { first: micros(), ..Tally::new() };
        let mut next = Instant::now();
        loop {
            let mut start = Instant::now();
            if start >= self.end {
                break;
            }
            if let Some(every) = self.every {
                if next > start {
                    tokio::time::sleep_until(next.into()).await;
                    start = Instant::now();
                }
                next = next.max(start.checked_sub(LATE).unwrap_or(start)) + every;
            }
            let answer = self.limit.decide().await;
            let nanos = start.elapsed().as_nanos();
            let counts = start >= self.begin;
            if counts {
                tally.nanos.saturating_record(u64::try_from(nanos).unwrap_or(u64::MAX));
            }
            tally.count(&answer, counts);
            for _ in 1..self.stride {
                tally.count(&self.limit.decide().await, counts);
            }
        }
        tally.last = micros();
        tally
    }
}

impl Tally {
    #[inline]
    fn count(&mut self, answer: &core::result::Result<bool, String>, counts: bool) {
        let admitted = u64::from(matches!(answer, Ok(true)));
        self.total += admitted;
        if counts {
            self.decisions += u64::from(answer.is_ok());
            self.admitted += admitted;
            self.failed += u64::from(answer.is_err());
        }
    }
}
