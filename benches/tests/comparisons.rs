//! The comparisons as they are used: from the command line to files and exit codes.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// A folder of its own for a test, in which the program runs.
struct Place(PathBuf);

impl Place {
    fn new(name: &str) -> Self {
        let folder = std::env::temp_dir().join(format!("tollgate-bench-{name}-{}", std::process::id()));
        let _ = std::fs::remove_dir_all(&folder);
        std::fs::create_dir_all(&folder).unwrap();
        Self(folder)
    }

    fn run(&self, arguments: &[&str]) -> Output {
        Command::new(env!("CARGO_BIN_EXE_tollgate-bench")).args(arguments).current_dir(&self.0).output().unwrap()
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.join(name)
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

const SHORT: [&str; 6] =
    ["--seconds", "0.2", "--engine", "mutex-std,governor,token-bucket,floor-rmw", "--threads", "1,2"];

const HEADER: &str =
    "bench,load,engine,version,threads,oversubscribed,clock,ops,seconds,mops,ns_per_op,admitted,verified";

fn lines(path: &Path) -> Vec<String> {
    std::fs::read_to_string(path).unwrap().lines().map(String::from).collect()
}

#[test]
fn a_comparison_prints_tables_and_writes_figures_and_a_plot() {
    let place = Place::new("contention");
    let output = place.run(&[&SHORT[..], &["--csv", "figures.csv", "--load", "admit,mixed"]].concat());
    let printed = String::from_utf8(output.stdout).unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    for part in ["admit, 1 thread", "mixed, 2 threads", "mutex-std", "governor", "0.10.4", "x best peer"] {
        assert!(printed.contains(part), "{part} is missing: {printed}");
    }
    let figures = lines(&place.path("figures.csv"));
    assert!(figures[0].starts_with(HEADER), "{}", figures[0]);
    // Governor and the token bucket run on two clocks each: six rows for each load and number of threads.
    assert_eq!(figures.len(), 1 + 6 * 2 * 2);
    assert!(figures[1..].iter().all(|line| line.starts_with("contention,") && line.split(',').nth(12) == Some("true")));
    let plot = std::fs::read_to_string(place.path("target/contention.svg")).unwrap();
    assert!(plot.starts_with("<svg") && plot.contains("token-bucket"));
}

#[test]
fn latencies_and_clocks_go_to_files_of_the_same_form() {
    let place = Place::new("latency");
    let arguments =
        [&["latency"], &SHORT[..], &["--csv", "figures.csv", "--svg", "plot.svg", "--load", "admit"]].concat();
    assert!(place.run(&arguments).status.success());
    let figures = lines(&place.path("figures.csv"));
    assert!(figures[0].starts_with(HEADER) && figures.len() == 1 + 6 * 2);
    assert!(place.path("plot.svg").exists());

    let output = place.run(&["clock", "--seconds", "0.2", "--csv", "clock.csv", "--threads", "1"]);
    assert!(output.status.success() && String::from_utf8_lossy(&output.stdout).contains("clock-quanta"));
    assert!(lines(&place.path("clock.csv")).iter().skip(1).all(|line| line.starts_with("clock,")));
}

#[test]
fn limits_by_key_go_to_a_table_a_file_and_a_plot() {
    let place = Place::new("keyed");
    let arguments = ["keyed", "--keys", "1e2,1e3", "--seconds", "0.1", "--repetitions", "1", "--flood", "1000"];
    let output =
        place.run(&[&arguments[..], &["--engine", "keyed,floor-line,governor-keyed", "--csv", "k.csv"]].concat());
    let printed = String::from_utf8(output.stdout).unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    for part in ["admit, zipf keys, 2 threads", "allocated bytes", "how many times as fast", "a flood of 1000", "slots"]
    {
        assert!(printed.contains(part), "{part} is missing: {printed}");
    }
    let figures = lines(&place.path("k.csv"));
    assert!(figures[0].starts_with(HEADER) && figures[0].contains("pattern,hasher"), "{}", figures[0]);
    // Three floods; for each size and engine three patterns admitted, one denied and two mixed, with one and two threads; two
    // fills.
    assert_eq!(figures.len(), 1 + 3 + 2 * 3 * (3 + 1 + 2) * 2 + 2);
    assert!(figures[1..].iter().all(|line| line.starts_with("keyed,") && line.split(',').nth(12) == Some("true")));
    assert!(std::fs::read_to_string(place.path("target/keyed.svg")).unwrap().contains("bytes/key"));
    assert!(!place.run(&["keyed", "--engine", "keyd"]).status.success());
}

#[test]
fn what_is_not_known_is_an_error_that_says_what_is() {
    let place = Place::new("unknown");
    let output = place.run(&["--engine", "guvernor"]);
    assert!(!output.status.success());
    assert!(String::from_utf8_lossy(&output.stderr).contains("governor"));
    assert!(!place.run(&["--load", "heavy"]).status.success());
    assert!(!place.run(&["--threads", "0"]).status.success());
    std::fs::write(place.path("file"), "").unwrap();
    assert!(!place.run(&[&SHORT[..], &["--csv", "file/figures.csv"]].concat()).status.success());
}

#[test]
fn a_report_without_a_readme_fails() {
    let place = Place::new("report");
    assert!(!place.run(&["report", "--check"]).status.success());
    std::fs::write(place.path("README.md"), "no tables here\n").unwrap();
    assert!(place.run(&["report", "--check"]).status.success());
}
