//! `record`: measures everything and keeps the figures, in a folder of their own for each machine and date.

pub mod build;
pub mod date;
pub mod machine;
pub mod readme;
pub mod step;

use crate::report::read;
use crate::row::Row;
use machine::Machine;
use std::path::{Path, PathBuf};
use std::process::Command;
use step::STEPS;

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
    #[arg(long, default_value_t = 120.0)]
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
pub fn command(options: &Options) -> Result<(), String> {
    let [head, changes] = [git(&["rev-parse", "HEAD"]), git(&["status", "--porcelain"])];
    clean(build::COMMIT, head.as_deref(), changes.as_deref())?;
    let machine = Machine::this();
    let slug = options.machine.clone().unwrap_or_else(|| machine.slug());
    if !slug.chars().all(|c| c.is_ascii_alphanumeric() || c == '-') {
        return Err(format!("a machine's name has letters, digits and dashes: {slug}"));
    }
    let seconds = if options.quick { options.seconds / 4.0 } else { options.seconds };
    let draft = options.results.join(format!(".draft-{}", std::process::id()));
    let fail = |error: std::io::Error| format!("{}: {error}", draft.display());
    std::fs::create_dir_all(&draft).map_err(fail)?;
    let folder = fill(&draft, &machine, seconds).and_then(|()| {
        let folder = free(&options.results, &format!("{}_{slug}", date::today()));
        std::fs::rename(&draft, &folder).map_err(fail)?;
        Ok(folder)
    });
    if folder.is_err() {
        let _ = std::fs::remove_dir_all(&draft); // half a record is none
    }
    println!("recorded {}", folder?.display());
    Ok(())
}

/// Measures every step and writes all files.
fn fill(draft: &Path, machine: &Machine, seconds: f64) -> Result<(), String> {
    let save = |name: &str, text: &str| {
        let path = draft.join(name);
        std::fs::write(&path, text).map_err(|error| format!("{}: {error}", path.display()))
    };
    save("machine.txt", &machine.description)?;
    let mut plots = Vec::new();
    for (number, step) in STEPS.iter().enumerate() {
        println!("{} of {}: {}", number + 1, STEPS.len(), step.name);
        let outcome = (step.measure)(seconds * step.share)?;
        outcome.verified()?;
        if outcome.rows.is_empty() {
            println!("  skipped: what it needs is not on this machine");
            continue;
        }
        let csv = draft.join(format!("{}.csv", step.name));
        Row::write_all(&csv, &outcome.rows).map_err(|error| format!("{}: {error}", csv.display()))?;
        if let Some(plot) = step.plot {
            let name = format!("{}.svg", step.name);
            save(&name, &plot(&outcome.rows).svg())?;
            plots.push((step.name, name));
        }
    }
    println!("and: accuracy, instructions");
    let accuracy = crate::accuracy::record(draft)?;
    let instructions = crate::instructions::counts()?;
    // From the files, so that the text says what they say.
    save("README.md", &readme::text(&read(draft)?, machine, &plots, &accuracy, instructions.as_deref()))
}

/// The sources must be those of a commit, and of the commit that this program was built from.
fn clean(built: &str, head: Option<&str>, changes: Option<&str>) -> Result<(), String> {
    if !built.chars().all(|c| c.is_ascii_hexdigit()) {
        return Err(format!(
            "this program was not built from a commit, but from: {built}; commit, build and record again"
        ));
    }
    match (head, changes) {
        (Some(head), _) if head != built => {
            Err(format!("this program was built from {built}, but here is {head}: build again"))
        }
        (Some(_), Some(changes)) if !changes.is_empty() => {
            Err(format!("there are changes that are not committed:\n{changes}"))
        }
        _ => Ok(()), // elsewhere than in its repository, the program vouches for itself
    }
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
        assert_eq!(clean(HEAD, Some(HEAD), Some("")), Ok(()));
        assert_eq!(clean(HEAD, None, None), Ok(()), "carried to another machine");
        assert!(clean(HEAD, Some(HEAD), Some(" M src/lib.rs")).unwrap_err().contains("src/lib.rs"));
        assert!(clean(HEAD, Some("f00d"), Some("")).unwrap_err().contains("build again"));
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
