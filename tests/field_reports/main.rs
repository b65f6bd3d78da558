//! Faults that users of other rate limiters have reported in public, each restated as a kind and tested as one: over the
//! algorithms it applies to and over several sets of numbers.

mod clocks;
mod costs;
mod extremes;
mod interface;
mod precision;
