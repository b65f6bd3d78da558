//! `record`: measures everything and keeps the figures, in a folder of their own for each machine and date.

pub mod build;
pub mod date;
pub mod machine;
pub mod readme;
pub mod report;
pub mod splice;
pub mod steps;

use crate::figures::error::{Error, Result};
use crate::figures::row::write;
use machine::Machine;
use std::path::{Path, PathBuf};
use std::process::Command;
use steps::STEPS;

/// The command line of `record`.
#[derive(Clone, Debug, clap::Args)]
pub struct Options {
    /// Where to make the folder
    #[arg(long, default_value = "results")]
    results: PathBuf,
    /// The machine's name in the folder's name [default: processor and cores]
    #[arg(long)]
    machine: Option<String>,
    /// Time for the timed measurements, in seconds; building tables and counting come on top
    #[arg(long, default_value_t = 240.0)]
    seconds: f64,
    /// A rough look, in a quarter of the time
    #[arg(long)]
    quick: bool,
}

/// Runs `record`: refuses sources that nobody could go back to, measures, writes, and puts the folder in place as the
/// last thing.
///
/// # Errors
///
/// If the sources are not those of a commit, an admitted count cannot be right, or a file cannot be written.
pub fn command(options: &Options) -> Result<()> {
    let seconds = if options.quick { options.seconds / 4.0 } else { options.seconds };
    keep(&options.results, options.machine.as_deref(), |draft, machine| fill(draft, machine, seconds))
}

/// Makes a folder in `results` for this machine and day, once `fill` has written its files to a draft of it.
///
/// # Errors
///
/// If the sources are not those of a commit, or `fill` fails: then there is no folder.
pub fn keep(results: &Path, machine: Option<&str>, fill: impl FnOnce(&Path, &Machine) -> Result<()>) -> Result<()> {
    let [head, changes] = [git(&["rev-parse", "HEAD"]), git(&["status", "--porcelain"])];
    clean(build::COMMIT, head.as_deref(), changes.as_deref())?;
    let this = Machine::this();
    let slug = machine.map_or_else(|| this.slug(), str::to_owned);
    if !slug.chars().all(|c| c.is_ascii_alphanumeric() || c == '-') {
        return Err(Error::Request(format!("a machine's name has letters, digits and dashes: {slug}")));
    }
    let draft = results.join(format!(".draft-{}", std::process::id()));
    std::fs::create_dir_all(&draft).map_err(Error::file(&draft))?;
    let folder = fill(&draft, &this).and_then(|()| {
        let folder = free(results, &format!("{}_{slug}", date::today()));
        std::fs::rename(&draft, &folder).map_err(Error::file(&folder))?;
        Ok(folder)
    });
    if folder.is_err() {
        let _ = std::fs::remove_dir_all(&draft); // half a record is none
    }
    println!("recorded {}", folder?.display());
    Ok(())
}

/// Measures every step and writes all files.
fn fill(draft: &Path, machine: &Machine, seconds: f64) -> Result<()> {
    let save = |name: &str, text: &str| {
        let path = draft.join(name);
        std::fs::write(&path, text).map_err(Error::file(&path))
    };
    save("machine.txt", &machine.description)?;
    for (number, step) in STEPS.iter().enumerate() {
        println!("{} of {}: {}", number + 1, STEPS.len(), step.name);
        let outcome = (step.record)(seconds * step.share)?;
        outcome.verified()?;
        if outcome.rows.is_empty() {
            println!("  skipped: what it needs is not on this machine");
            continue;
        }
        let csv = draft.join(format!("{}.csv", step.name));
        write(&csv, &outcome.rows).map_err(Error::file(&csv))?;
        if let Some(plot) = step.plot {
            save(&format!("{}.svg", step.name), &plot(&outcome.rows).svg())?;
        }
    }
    println!("and: accuracy, waiting, instructions");
    let accuracy = crate::measure::accuracy::record(draft)?;
    let waiting = crate::measure::waiting::record(draft)?;
    let instructions = crate::measure::instructions::counts()?;
    // From the files, so that the text says what they say.
    save("README.md", &readme::text(&report::read(draft)?, machine, &accuracy, &waiting, instructions.as_deref()))
}

/// The sources must be those of a commit, and of the commit that this program was built from.
fn clean(built: &str, head: Option<&str>, changes: Option<&str>) -> Result<()> {
    let why = match (head, changes) {
        _ if !built.chars().all(|c| c.is_ascii_hexdigit()) => {
            format!("this program was not built from a commit, but from: {built}; commit, build and record again")
        }
        (Some(head), _) if head != built => {
            format!("this program was built from {built}, but here is {head}: build again")
        }
        (Some(_), Some(changes)) if !changes.is_empty() => {
            format!("there are changes that are not committed:\n{changes}")
        }
        _ => return Ok(()), // elsewhere than in its repository, the program vouches for itself
    };
    Err(Error::Request(why))
}

/// What git says, if there is git and this is a repository.
fn git(arguments: &[&str]) -> Option<String> {
    let output = Command::new("git").args(arguments).output().ok().filter(|output| output.status.success())?;
    Some(String::from_utf8_lossy(&output.stdout).trim_end().to_owned())
}

/// A folder that does not exist yet: `name`, or else `name.2` and so on.
fn free(results: &Path, name: &str) -> PathBuf {
    let numbered = (2..).map(|number| results.join(format!("{name}.{number}")));
    let mut candidates = core::iter::once(results.join(name)).chain(numbered);
    candidates.find(|folder| !folder.exists()).expect("some number is free")
}

#[cfg(test)]
mod tests {
    use super::*;

    const HEAD: &str = "0123456789abcdef0123456789abcdef01234567";

    #[test]
    fn only_a_commit_that_is_built_and_checked_out_can_be_recorded() {
        assert!(clean(HEAD, Some(HEAD), Some("")).is_ok());
        assert!(clean(HEAD, None, None).is_ok(), "carried to another machine");
        let refusal = |head, changes| clean(HEAD, Some(head), Some(changes)).unwrap_err().to_string();
        assert!(refusal(HEAD, " M src/lib.rs").contains("src/lib.rs"));
        assert!(refusal("f00d", "").contains("build again"));
        assert!(clean("unknown", None, None).is_err());
        assert!(clean(&format!("{HEAD} and changes on top"), Some(HEAD), Some("")).is_err());
    }

    #[test]
    fn nothing_is_overwritten() {
        let results = std::env::temp_dir().join(format!("tollgate-bench-free-{}", std::process::id()));
        for expected in ["day_box", "day_box.2", "day_box.3"] {
            let folder = free(&results, "day_box");
            assert_eq!(folder, results.join(expected));
            std::fs::create_dir_all(folder).unwrap();
        }
        std::fs::remove_dir_all(results).unwrap();
    }
}
