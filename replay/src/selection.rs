//! [`Selection`]: algorithms as they are asked for.

use clap::ValueEnum;
use clap::builder::PossibleValue;

use crate::judge::algorithm::Algorithm;

/// What can be asked for on the command line: one algorithm, or all of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Selection {
    /// All of them.
    All,
    /// This one.
    One(Algorithm),
}

impl Selection {
    /// The algorithms selected, each once, in the order of [`Algorithm::ALL`].
    pub fn algorithms(selections: &[Self]) -> Vec<Algorithm> {
        let selected = |one: &Algorithm| selections.iter().any(|&s| s == Self::All || s == Self::One(*one));
        Algorithm::ALL.into_iter().filter(selected).collect()
    }
}

impl ValueEnum for Selection {
    fn value_variants<'a>() -> &'a [Self] {
        const VARIANTS: [Selection; 9] = {
            let mut variants = [Selection::All; 9];
            let mut place = 0;
            while place < Algorithm::ALL.len() {
                variants[place] = Selection::One(Algorithm::ALL[place]);
                place += 1;
            }
            variants
        };
        &VARIANTS
    }

    fn to_possible_value(&self) -> Option<PossibleValue> {
        Some(PossibleValue::new(match self {
            Self::All => "all",
            Self::One(algorithm) => algorithm.name(),
        }))
    }
}
