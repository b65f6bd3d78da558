//! `instructions`: machine instructions for each call on the hot paths, counted by callgrind. They do not depend on
//! the machine's mood, so a change that makes a path longer is seen at once.

pub mod probe;

use crate::figures::error::{Error, Result};
use crate::figures::row::save;
use core::fmt;
use probe::{CALLS, PROBES};
use std::path::{Path, PathBuf};
use std::process::Command;

/// The counts that new ones are held to: a line `probe,instructions` for each, after a line with the compiler.
const RECORDED: &str = include_str!("../../../instructions.csv");

/// How much longer a path may become, in percent.
const TOLERANCE: f64 = 5.0;

/// The command line of `instructions`.
#[derive(Clone, Debug, clap::Args)]
pub struct Options {
    /// Write the counts to this file instead of comparing them: benches/instructions.csv
    #[arg(long)]
    record: Option<PathBuf>,
    /// Runs one probe, for callgrind to watch
    #[arg(long, hide = true)]
    probe: Option<String>,
}

/// Runs `instructions`: counts, and compares with what is recorded.
///
/// # Errors
///
/// If a path has become more than 5 % longer, a probe is not recorded, or callgrind fails. Where there is no valgrind,
/// it says so and succeeds.
pub fn command(options: &Options) -> Result<()> {
    if let Some(name) = &options.probe {
        return probe::run(name);
    }
    let Some(counts) = measure()? else {
        println!("skipped: there is no valgrind on this machine");
        return Ok(());
    };
    if let Some(path) = &options.record {
        return save(path, |path| std::fs::write(path, recording(&counts)));
    }
    let verdicts: Vec<_> = counts.iter().map(|(name, count)| Verdict::new(name, *count, RECORDED)).collect();
    for verdict in &verdicts {
        println!("{verdict}");
    }
    if verdicts.iter().all(Verdict::passes) {
        return Ok(());
    }
    match recorded_compiler(RECORDED) {
        Some(compiler) if compiler == rustc() => {
            Err(Error::Longer(format!("a path is not recorded, or more than {TOLERANCE} % longer than recorded")))
        }
        compiler => {
            println!("not held against {}, for these counts were recorded with {:?}", rustc(), compiler.unwrap_or("?"));
            Ok(())
        }
    }
}

/// The counts as text, a line for each probe; `None` where there is no valgrind.
///
/// # Errors
///
/// If callgrind fails.
pub fn counts() -> Result<Option<String>> {
    let line = |(name, count): &(&str, f64)| format!("{name:28} {count:7.1}\n");
    Ok(measure()?.map(|counts| counts.iter().map(line).collect()))
}

/// Counts all probes.
fn measure() -> Result<Option<Vec<(&'static str, f64)>>> {
    let Ok(true) = Command::new("valgrind").arg("--version").output().map(|output| output.status.success()) else {
        return Ok(None);
    };
    let folder = std::env::temp_dir().join(format!("tollgate-bench-{}", std::process::id()));
    std::fs::create_dir_all(&folder).map_err(Error::file(&folder))?;
    let counts: Result<Vec<_>> = PROBES.iter().map(|probe| count(probe.name, &folder)).collect();
    let _ = std::fs::remove_dir_all(&folder); // what is left there does no harm
    counts.map(Some)
}

/// Has callgrind count the instructions of one probe; returns its name and the instructions for each call.
#[allow(clippy::cast_precision_loss)] // counts stay far below 2^52
fn count(name: &'static str, folder: &Path) -> Result<(&'static str, f64)> {
    let failed = |why: &str| Error::Program(format!("callgrind on {name}: {why}"));
    let this = std::env::current_exe().map_err(|error| failed(&error.to_string()))?;
    let output = folder.join(name);
    let status = Command::new("valgrind")
        .args(["--quiet", "--tool=callgrind", "--collect-atstart=no"])
        .arg(format!("--toggle-collect=*::probe::{}", name.replace('-', "_")))
        .arg(format!("--callgrind-out-file={}", output.display()))
        .arg(this)
        .args(["instructions", "--probe", name])
        .output()
        .map_err(|error| failed(&error.to_string()))?;
    if !status.status.success() {
        return Err(failed(&String::from_utf8_lossy(&status.stderr)));
    }
    let text = std::fs::read_to_string(&output).map_err(Error::file(&output))?;
    let total = total(&text).filter(|&total| total >= CALLS).ok_or_else(|| failed("it saw no instructions"))?;
    Ok((name, total as f64 / CALLS as f64))
}

/// The instructions that a file written by callgrind counts in all.
fn total(text: &str) -> Option<u64> {
    text.lines().find_map(|line| line.strip_prefix("totals:")?.trim().parse().ok())
}

/// What is written to the file of recorded counts.
fn recording(counts: &[(&str, f64)]) -> String {
    let head = format!("probe,instructions with {}", rustc());
    let lines = counts.iter().map(|(name, count)| format!("{name},{count:.1}"));
    let lines: Vec<_> = core::iter::once(head).chain(lines).collect();
    lines.join("\n") + "\n"
}

fn recorded_compiler(recorded: &str) -> Option<&str> {
    recorded.lines().next()?.strip_prefix("probe,instructions with ")
}

/// The compiler on this machine, which built this program.
fn rustc() -> String {
    let output = Command::new("rustc").arg("--version").output();
    output.map_or_else(|_| "rustc ?".into(), |output| String::from_utf8_lossy(&output.stdout).trim().into())
}

/// A count beside the one that is recorded.
#[derive(Clone, Debug)]
struct Verdict {
    name: String,
    count: f64,
    recorded: Option<f64>,
}

impl Verdict {
    fn new(name: &str, count: f64, recorded: &str) -> Self {
        let find = |line: &str| line.split_once(',').filter(|(probe, _)| *probe == name)?.1.parse().ok();
        Self { name: name.into(), count, recorded: recorded.lines().find_map(find) }
    }

    /// The change in percent.
    fn change(&self) -> Option<f64> {
        self.recorded.map(|recorded| (self.count / recorded - 1.0) * 100.0)
    }

    fn passes(&self) -> bool {
        self.recorded.is_some_and(|recorded| self.count * 100.0 <= recorded * (100.0 + TOLERANCE))
    }
}

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { name, count, .. } = self;
        write!(f, "{name:28} {count:7.1} instructions for each call")?;
        match self.change() {
            None => write!(f, ", not recorded yet: run with --record"),
            Some(change) if !self.passes() => write!(f, ", {change:+.1} %: TOO LONG"),
            Some(change) if change < -TOLERANCE => write!(f, ", {change:+.1} %: better, record it"),
            Some(change) => write!(f, ", {change:+.1} %"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn five_percent_more_passes_and_any_more_fails() {
        let recorded = "probe,instructions with rustc 1\na-deny,30.0\na,40.0\n";
        for (count, passes) in [(10.0, true), (40.0, true), (42.0, true), (42.1, false), (400.0, false)] {
            let verdict = Verdict::new("a", count, recorded);
            assert_eq!(verdict.passes(), passes, "{verdict}");
        }
        assert!(!Verdict::new("b", 1.0, recorded).passes(), "what is not recorded cannot pass");
    }

    #[test]
    fn every_probe_is_recorded() {
        for probe in PROBES {
            assert!(Verdict::new(probe.name, 0.0, RECORDED).passes(), "{} is not recorded", probe.name);
        }
        assert!(recorded_compiler(RECORDED).is_some_and(|compiler| compiler.starts_with("rustc ")));
    }

    #[test]
    fn a_recording_is_read_back() {
        let text = recording(&[("a", 40.0), ("b", 12.5)]);
        assert_eq!(Verdict::new("b", 25.0, &text).change(), Some(100.0));
        assert_eq!(recorded_compiler(&text), Some(rustc().as_str()));
    }

    #[test]
    fn the_total_is_found_in_what_callgrind_writes() {
        assert_eq!(total("# callgrind format\nevents: Ir\n\nfn=(1) f\n12 345\n\ntotals: 345\n"), Some(345));
        assert_eq!(total("events: Ir\n"), None);
    }
}
