//! `report`: puts the tables of the newest folder in `results/` into the README, or checks that they are there.

use super::splice::splice;
use super::steps::STEPS;
use crate::figures::error::{Error, Result};
use crate::figures::row::{self, Row};
use crate::measure::{summary, waiting};
use std::path::{Path, PathBuf};

/// What benches of other packages record, each in a folder of that name.
const ELSEWHERE: [&str; 2] = ["distributed", "services"];

/// The command line of `report`.
#[derive(Clone, Debug, clap::Args)]
pub struct Options {
    /// Change nothing; fail if the tables are not those of the newest folder
    #[arg(long)]
    check: bool,
    /// The file whose tables are kept up to date
    #[arg(long, default_value = "README.md")]
    readme: PathBuf,
    /// Where the recorded figures are
    #[arg(long, default_value = "results")]
    results: PathBuf,
}

/// Runs `report`.
///
/// # Errors
///
/// If a file cannot be read or written, a marker asks for what there is not, or, with `--check`, a table differs.
pub fn command(options: &Options) -> Result<()> {
    let path = &options.readme;
    let text = std::fs::read_to_string(path).map_err(Error::file(path))?;
    let fresh = splice(&text, |name| block(name, &options.results))?;
    if fresh == text {
        println!("{} is up to date", path.display());
        return Ok(());
    }
    if options.check {
        let difference = difference(&text, &fresh);
        return Err(Error::Request(format!(
            "{} differs from the newest figures at {difference}; run report",
            path.display()
        )));
    }
    std::fs::write(path, fresh).map_err(Error::file(path))?;
    println!("{} brought up to date", path.display());
    Ok(())
}

/// What belongs between the markers: a table and where it comes from; nothing as long as nothing is recorded. All but the
/// headline are of the csv of their name; waiting has rows of its own kind. What other packages' benches came to is in folders of
/// their own, with the text that belongs here.
fn block(wanted: &str, results: &Path) -> Result<String> {
    if ELSEWHERE.contains(&wanted) {
        let results = results.join(wanted);
        let Some(folder) = newest(&results)? else { return Ok(String::new()) };
        let path = results.join(&folder).join("summary.md");
        let text = std::fs::read_to_string(&path).map_err(Error::file(&path))?;
        return Ok(format!("\n{}\n\nFrom `results/{wanted}/{folder}` in the repository.\n\n", text.trim_end()));
    }
    let step = STEPS.iter().find(|step| step.name == wanted);
    if step.is_none() && wanted != "headline" && wanted != "waiting" {
        let names = STEPS.map(|step| step.name).join(" ");
        return Err(Error::Request(format!(
            "no table is called {wanted}; there are: headline waiting {} {names}",
            ELSEWHERE.join(" ")
        )));
    }
    let Some(folder) = newest(results)? else { return Ok(String::new()) };
    let text = if wanted == "waiting" {
        let Some(table) = waiting::recorded(&results.join(&folder))? else { return Ok(String::new()) };
        table
    } else {
        let rows = read(&results.join(&folder))?;
        step.map_or_else(|| summary::text(&rows), |step| step.block(&rows))
    };
    Ok(format!("\n{}\n\nFrom `results/{folder}` in the repository.\n\n", text.trim_end()))
}

/// The folder with the latest date in its name.
fn newest(results: &Path) -> Result<Option<String>> {
    let entries = match std::fs::read_dir(results) {
        Ok(entries) => entries,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(Error::file(results)(error)),
    };
    let folders = entries.filter_map(|entry| entry.ok().filter(|entry| entry.path().is_dir()));
    let names = folders.filter_map(|folder| folder.file_name().into_string().ok());
    Ok(names.filter(|name| name.contains('_')).max_by_key(|name| order(name)))
}

/// Folders sort by date, then by the number behind a second run of the same day (`2026-11-30_name.2`).
fn order(name: &str) -> (String, u32, String) {
    let (date, slug) = name.split_once('_').unwrap_or((name, ""));
    let run = slug.rsplit_once('.').and_then(|(_, run)| run.parse().ok()).unwrap_or(1);
    (date.into(), run, slug.into())
}

/// Every row of every csv in `folder` that a table is made of.
///
/// # Errors
///
/// If there is none, or one cannot be read.
pub fn read(folder: &Path) -> Result<Vec<Row>> {
    let mut rows = Vec::new();
    let files = STEPS.map(|step| folder.join(step.name).with_extension("csv"));
    for file in files.iter().filter(|file| file.exists()) {
        rows.extend(row::read(file)?);
    }
    if rows.is_empty() { Err(Error::Request(format!("{} has no figures", folder.display()))) } else { Ok(rows) }
}

/// Where the texts part: the first line that is not the same.
fn difference(old: &str, new: &str) -> String {
    let same = old.lines().zip(new.lines()).take_while(|(old, new)| old == new).count();
    let line = |text: &str| text.lines().nth(same).unwrap_or("the end").to_owned();
    format!("line {}:\n  is:        {}\n  should be: {}", same + 1, line(old), line(new))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A README and a results folder of its own for a test.
    struct Place(PathBuf);

    impl Place {
        fn new(name: &str, readme: &str) -> Self {
            let folder = std::env::temp_dir().join(format!("tollgate-bench-report-{name}-{}", std::process::id()));
            let _ = std::fs::remove_dir_all(&folder);
            std::fs::create_dir_all(folder.join("results")).unwrap();
            std::fs::write(folder.join("README.md"), readme).unwrap();
            Self(folder)
        }

        fn record(&self, folder: &str, ns_per_op: f64) {
            let folder = self.0.join("results").join(folder);
            std::fs::create_dir_all(&folder).unwrap();
            let row = Row { bench: "clock".into(), engine: "tick".into(), threads: 1, ns_per_op, ..Row::default() };
            row::write(&folder.join("clock.csv"), &[row]).unwrap();
        }

        fn report(&self, check: bool) -> Result<String> {
            let (readme, results) = (self.0.join("README.md"), self.0.join("results"));
            command(&Options { check, readme: readme.clone(), results })?;
            Ok(std::fs::read_to_string(readme).unwrap())
        }
    }

    impl Drop for Place {
        fn drop(&mut self) {
            let _ = std::fs::remove_dir_all(&self.0);
        }
    }

    const README: &str = "# Title\n\n<!-- tollgate-bench:begin clock -->\n<!-- tollgate-bench:end clock -->\n\nend\n";

    #[test]
    fn a_readme_is_checked_brought_up_to_date_and_then_passes() {
        let place = Place::new("update", README);
        assert_eq!(place.report(true).unwrap(), README, "nothing recorded, nothing to show");
        place.record("2026-01-31_box", 12.5);
        let message = place.report(true).unwrap_err().to_string();
        assert!(message.contains("line 4"), "{message}");
        let text = place.report(false).unwrap();
        assert!(
            text.contains("12.5\n") && text.contains("\n\nFrom `results/2026-01-31_box` in the repository.\n"),
            "{text}"
        );
        assert!(text.starts_with("# Title\n\n<!--") && text.ends_with("-->\n\nend\n"));
        assert_eq!(place.report(true).unwrap(), text);
        // One digit by hand, and the check fails.
        std::fs::write(place.0.join("README.md"), text.replace("12.5", "11.5")).unwrap();
        assert!(place.report(true).unwrap_err().to_string().contains("11.5"));
    }

    #[test]
    fn the_newest_folder_counts() {
        let place = Place::new("newest", README);
        place.record("2026-01-31_box", 1.0);
        place.record("2025-12-31_zoo", 2.0);
        assert!(place.report(false).unwrap().contains("2026-01-31_box"));
        place.record("2026-01-31_box.2", 3.0);
        place.record("2026-01-31_box.10", 4.0);
        assert!(place.report(false).unwrap().contains("2026-01-31_box.10"));
    }

    #[test]
    fn what_other_benches_came_to_is_taken_as_it_is_written() {
        for name in ELSEWHERE {
            let place = Place::new(name, &README.replace("clock", name));
            assert!(!place.report(false).unwrap().contains("From"), "nothing recorded, nothing to show");
            place.record("2026-02-01_box", 1.0);
            for (folder, text) in [("2026-01-30_box", "old\n"), ("2026-01-31_box", "leases | 7\n")] {
                let folder = place.0.join("results").join(name).join(folder);
                std::fs::create_dir_all(&folder).unwrap();
                std::fs::write(folder.join("summary.md"), text).unwrap();
            }
            let text = place.report(false).unwrap();
            let block = format!("\nleases | 7\n\nFrom `results/{name}/2026-01-31_box` in the repository.\n\n<!--");
            assert!(text.contains(&block), "{text}");
            assert_eq!(place.report(true).unwrap(), text);
        }
    }

    #[test]
    fn an_unknown_table_is_an_error_that_names_the_known_ones() {
        let place = Place::new("unknown", &README.replace("clock", "clocks"));
        let message = place.report(true).unwrap_err().to_string();
        assert!(message.contains("clocks") && message.contains("headline"), "{message}");
    }
}
