//! The example of that name as its users run it: a process that is told by signals to read its file again, and to save.
//!
//! Its limits are of a day, so that no time which passes here gives a token back.
#![cfg(unix)]

use core::time::Duration;
use std::fs;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdout, Command, Stdio};

/// The example, running.
struct Process {
    child: Child,
    lines: BufReader<ChildStdout>,
    url: String,
}

impl Process {
    fn start(folder: &Path) -> Self {
        // Cargo builds examples beside its tests.
        let here = std::env::current_exe().unwrap();
        let example = here.parent().unwrap().parent().unwrap().join("examples/http_limits");
        let mut child = Command::new(example)
            .args([folder.join("limits.toml"), folder.join("state.bin")])
            .env("LIMITS_ADDRESS", "127.0.0.1:0")
            .stdout(Stdio::piped())
            .spawn()
            .expect("the example is built: run all of the package's tests, not this one alone");
        let mut lines = BufReader::new(child.stdout.take().unwrap());
        let mut line = String::new();
        lines.read_line(&mut line).unwrap();
        let url = line.trim().split_once("listening on ").unwrap().1.to_owned();
        Self { child, lines, url }
    }

    fn signal(&self, name: &str) {
        let command = format!("kill -{name} {}", self.child.id());
        assert!(Command::new("sh").args(["-c", &command]).status().unwrap().success());
    }

    /// How many of `asked` requests pass.
    fn passed(&self, path: &str, asked: usize) -> usize {
        let agent = ureq::Agent::config_builder()
            .http_status_as_error(false)
            .timeout_global(Some(Duration::from_secs(30)))
            .proxy(None)
            .build()
            .new_agent();
        let url = format!("{}{path}", self.url);
        (0..asked).filter(|_| agent.get(&url).call().unwrap().status() == 200).count()
    }

    fn terminate(mut self) {
        self.signal("TERM");
        assert!(self.child.wait().unwrap().success());
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// A folder that goes when the test ends.
struct Folder(PathBuf);

impl Folder {
    fn new() -> Self {
        let folder = std::env::temp_dir().join(format!("tollgate-limits-from-file-{}", std::process::id()));
        fs::create_dir_all(&folder).unwrap();
        Self(folder)
    }

    fn limit(&self, client: u32, search: u32) {
        let limits = format!("all = \"1000 per 1d\"\nclient = \"{client} per 1d\"\nsearch = \"{search} per 1d\"\n");
        fs::write(self.0.join("limits.toml"), limits).unwrap();
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

#[test]
fn it_reads_its_file_again_saves_what_was_spent_and_starts_with_it() {
    let folder = Folder::new();
    folder.limit(18, 3);
    let mut process = Process::start(&folder.0);
    assert_eq!(process.passed("/search", 5), 3);

    // Larger quotas: what was spent stays spent.
    folder.limit(20, 5);
    process.signal("HUP");
    let mut line = String::new();
    process.lines.read_line(&mut line).unwrap();
    assert_eq!(line.trim(), "limits were read again");
    assert_eq!(process.passed("/search", 5), 2);
    process.terminate();
    assert!(!folder.0.join("state.bin.new").exists());

    // Five of the client's twenty are spent: what `search` refused was given back.
    let process = Process::start(&folder.0);
    assert_eq!(process.passed("/search", 2), 0);
    assert_eq!(process.passed("/", 20), 15);
    process.terminate();

    // A state that was damaged is not believed in any part.
    let state = folder.0.join("state.bin");
    let mut bytes = fs::read(&state).unwrap();
    let last = bytes.len() - 1;
    bytes[last] ^= 1;
    fs::write(&state, bytes).unwrap();
    let process = Process::start(&folder.0);
    assert_eq!((process.passed("/search", 6), process.passed("/", 20)), (5, 15));
}
