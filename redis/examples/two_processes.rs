//! Two processes keep one limit together, through one Redis.
//!
//! ```sh
//! cargo run -p tollgate-redis --example two_processes                          # starts a redis-server for it
//! cargo run -p tollgate-redis --example two_processes -- redis://10.0.0.1/     # uses one that is there
//! ```
//!
//! Each process asks for far more than the limit for two seconds; both together get no more than its bound.

use std::error::Error;
use std::net::{TcpListener, TcpStream};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant, SystemTime};
use tollgate::Quota;
use tollgate_redis::{DistributedTokenBucket, Eviction, Store};

/// Over all processes.
const QUOTA: Quota = Quota::per_second(1_000).with_burst(800);
/// An eighth of the time in which the burst falls due.
const LEASE: Duration = Duration::from_millis(100);
const RUN: Duration = Duration::from_secs(2);

type Result<T> = std::result::Result<T, Box<dyn Error>>;

/// What each process of a service does.
async fn serve(url: &str) -> Result<u64> {
    let store = Store::new(redis::Client::open(url)?, Duration::from_millis(50));
    if let Eviction::Forgets(policy) = store.eviction().await? {
        eprintln!("this server may forget limits: set maxmemory-policy to noeviction, not {policy}");
    }
    let bucket = DistributedTokenBucket::new(store, "shop", "orders", QUOTA, LEASE)?;
    // Fetches the next lease while the last one is spent, so that requests do not wait for the network.
    let ahead = tokio::spawn(bucket.keep_ahead());
    let (started, mut admitted) = (Instant::now(), 0);
    while started.elapsed() < RUN {
        // One request. It goes ahead, or is refused with a hint when to try again.
        match bucket.try_acquire().await {
            Ok(()) => admitted += 1,
            Err(_) => tokio::time::sleep(Duration::from_millis(1)).await,
        }
    }
    ahead.abort();
    bucket.shutdown().await; // gives back what is unspent
    Ok(admitted)
}

/// A `redis-server` of our own, in a folder of its own.
struct Server {
    child: Child,
    folder: std::path::PathBuf,
    url: String,
}

impl Server {
    fn start() -> Result<Self> {
        let port = TcpListener::bind("127.0.0.1:0")?.local_addr()?.port();
        let folder = std::env::temp_dir().join(format!("two-processes-{}", std::process::id()));
        std::fs::create_dir_all(&folder)?;
        let mut command = Command::new("redis-server");
        command.args([
            "--port",
            &port.to_string(),
            "--bind",
            "127.0.0.1",
            "--save",
            "",
            "--maxmemory-policy",
            "noeviction",
        ]);
        let child = command.arg("--dir").arg(&folder).stdout(Stdio::null()).spawn();
        let child = child.map_err(|error| format!("redis-server does not start: {error}"))?;
        let server = Self { child, folder, url: format!("redis://127.0.0.1:{port}/") };
        let started = Instant::now();
        while TcpStream::connect(("127.0.0.1", port)).is_err() {
            if started.elapsed() > Duration::from_secs(20) {
                return Err("redis-server does not answer".into());
            }
            std::thread::sleep(Duration::from_millis(10));
        }
        Ok(server)
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
        let _ = std::fs::remove_dir_all(&self.folder);
    }
}

/// Two processes at once. Their admissions lie between these two instants.
fn both(url: &str) -> Result<()> {
    let process = || Command::new(std::env::current_exe()?).args(["serve", url]).stdout(Stdio::piped()).spawn();
    let started = SystemTime::now();
    let processes = [process()?, process()?];
    let mut total: u64 = 0;
    for (process, name) in processes.into_iter().zip(["first", "second"]) {
        let output = process.wait_with_output()?;
        let admitted: u64 = String::from_utf8(output.stdout)?.trim().parse()?;
        println!("{name} process: {admitted} admitted");
        total += admitted;
    }
    let time = started.elapsed()?;
    let bound = u128::from(QUOTA.burst()) + u128::from(QUOTA.tokens()) * time.as_micros().div_ceil(1_000) / 1_000;
    println!("together: {total} admitted in {time:.1?}, where the bound is {bound}");
    if u128::from(total) <= bound { Ok(()) } else { Err("above the bound".into()) }
}

fn main() -> Result<()> {
    let arguments: Vec<_> = std::env::args().skip(1).collect();
    match arguments.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        ["serve", url] => {
            let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build()?;
            println!("{}", runtime.block_on(serve(url))?);
            Ok(())
        }
        [url] => both(url),
        _ => both(&Server::start()?.url),
    }
}
