//! [`Server`]: a `redis-server` in a folder of its own, ended by its process id.

use std::net::{TcpListener, TcpStream};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};
use tollgate_redis::Store;

pub(crate) struct Server {
    child: Child,
    pub(crate) port: u16,
    folder: PathBuf,
    options: Vec<String>,
}

/// A port that nobody listens on.
pub(crate) fn free_port() -> u16 {
    TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port()
}

/// A store behind a port, with milliseconds for each answer.
pub(crate) fn store_at(port: u16, timeout: u64) -> Store {
    let client = redis::Client::open(format!("redis://127.0.0.1:{port}/")).unwrap();
    Store::new(client, Duration::from_millis(timeout))
}

impl Server {
    /// `None`, which is said, if there is no `redis-server` and none is required.
    pub(crate) fn start(options: &[&str]) -> Option<Self> {
        static NUMBER: AtomicU32 = AtomicU32::new(0);
        if Command::new("redis-server").arg("--version").stdout(Stdio::null()).status().is_err() {
            assert!(std::env::var_os("TOLLGATE_REQUIRE_REDIS").is_none(), "no redis-server, and one is required");
            println!("NOT CHECKED: no redis-server");
            return None;
        }
        // ORDERING: Relaxed: a number of its own for each folder.
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        let folder = std::env::temp_dir().join(format!("tollgate-redis-{}-{number}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        let port = free_port();
        let options: Vec<_> = options.iter().map(|&option| option.to_owned()).collect();
        let child = Self::spawn(port, &folder, &options);
        let server = Self { child, port, folder, options };
        server.ready();
        Some(server)
    }

    fn spawn(port: u16, folder: &PathBuf, options: &[String]) -> Child {
        Command::new("redis-server")
            .args(["--port", &port.to_string(), "--bind", "127.0.0.1", "--save", ""])
            .arg("--dir")
            .arg(folder)
            .args(options)
            .stdout(Stdio::null())
            .spawn()
            .unwrap()
    }

    fn ready(&self) {
        let started = Instant::now();
        while self.connect().and_then(|mut link| redis::cmd("PING").query::<String>(&mut link).ok()).is_none() {
            assert!(started.elapsed() < Duration::from_secs(20), "the server does not start");
            std::thread::sleep(Duration::from_millis(10));
        }
    }

    fn connect(&self) -> Option<redis::Connection> {
        TcpStream::connect(("127.0.0.1", self.port)).ok()?;
        redis::Client::open(self.url()).unwrap().get_connection().ok()
    }

    pub(crate) fn url(&self) -> String {
        format!("redis://127.0.0.1:{}/", self.port)
    }

    pub(crate) fn store(&self, timeout: u64) -> Store {
        store_at(self.port, timeout)
    }

    pub(crate) fn command(&self, words: &[&str]) -> redis::Value {
        let mut command = redis::cmd(words[0]);
        for word in &words[1..] {
            command.arg(word);
        }
        command.query(&mut self.connect().unwrap()).unwrap()
    }

    pub(crate) fn signal(&self, signal: rustix::process::Signal) {
        let id = rustix::process::Pid::from_child(&self.child);
        rustix::process::kill_process(id, signal).unwrap();
    }

    /// `kill -9`.
    pub(crate) fn kill(&mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }

    /// The same port and folder again.
    pub(crate) fn start_again(&mut self) {
        self.child = Self::spawn(self.port, &self.folder, &self.options);
        self.ready();
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
        let _ = std::fs::remove_dir_all(&self.folder);
    }
}
