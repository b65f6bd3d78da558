//! [`Outcome`]: the figures of a measurement, and what was wrong with them.

use super::error::{Error, Result};
use super::row::Row;

/// Whether an admitted count can be right; if not, what is wrong with it, in words.
pub type Verdict = core::result::Result<(), String>;

/// The figures, and what was wrong with them.
#[derive(Debug, Default)]
pub struct Outcome {
    /// One row for each case.
    pub rows: Vec<Row>,
    /// A line for each measurement whose admitted count cannot be right.
    pub faults: Vec<String>,
}

impl Outcome {
    /// Adds the row of a case, and a fault for each repetition of it that cannot be right.
    pub fn add<'a>(&mut self, row: Row, verdicts: impl IntoIterator<Item = &'a Verdict>) {
        let case = row.case();
        let faults = verdicts.into_iter().filter_map(|verdict| verdict.as_ref().err());
        self.faults.extend(faults.map(|why| format!("{case}: {why}")));
        self.rows.push(row);
    }

    /// Reports what cannot be right.
    ///
    /// # Errors
    ///
    /// If there is any.
    pub fn verified(&self) -> Result<()> {
        if self.faults.is_empty() { Ok(()) } else { Err(Error::Counts(self.faults.clone())) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fault_makes_the_command_fail_and_names_its_case() {
        let row =
            Row { engine: "mutex".into(), clock: "std".into(), load: "deny".into(), threads: 2, ..Row::default() };
        let mut outcome = Outcome::default();
        outcome.add(row.clone(), &[Ok(())]);
        assert!(outcome.verified().is_ok());
        outcome.add(row, &[Ok(()), Err("one too many".into())]);
        let message = outcome.verified().unwrap_err().to_string();
        assert!(message.contains("mutex (std clock), deny, 2 threads: one too many"), "{message}");
        assert_eq!(outcome.rows.len(), 2);
    }
}
