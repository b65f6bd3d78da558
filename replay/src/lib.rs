//! What a limit would have done to traffic that a log remembers: the library of the command `tollgate-replay`.
//!
//! Each arrival is put, at its own instant, to a limiter of every algorithm asked for and to an exact log, so that a
//! person who chooses a limit sees who would have been refused, how often, and which algorithm would have decided
//! otherwise. No clock is read.
//!
//! ```text
//! field/    what single fields mean: instants, clients, numbers
//! format/   lines of each format, as fields
//! read/     files, packed or not, several at once, in the order of time
//! judge/    limiters and the exact log, and the search for other limits: neither files nor clocks
//! show/     tables, rows, JSON, pictures
//! ```
//!
//! All but `judge` and `figures` is there with the feature `tool` alone, which is on by default: whoever has arrivals of their
//! own needs no parser.
//!
//! The program is what is stable; the library is there for the project's own measurements and may change with any version.

#![forbid(unsafe_code)]

#[cfg(feature = "tool")]
pub mod args;
#[cfg(feature = "tool")]
pub mod error;
#[cfg(feature = "tool")]
pub mod field;
pub mod figures;
#[cfg(feature = "tool")]
pub mod format;
pub mod judge;
#[cfg(feature = "tool")]
pub mod policy;
#[cfg(feature = "tool")]
pub mod progress;
#[cfg(feature = "tool")]
pub mod read;
#[cfg(feature = "tool")]
mod run;
#[cfg(feature = "tool")]
pub mod selection;
#[cfg(feature = "tool")]
pub mod show;

#[cfg(feature = "tool")]
pub use self::args::Args;
#[cfg(feature = "tool")]
pub use self::error::Error;
pub use self::judge::algorithm::Algorithm;
#[cfg(feature = "tool")]
pub use self::run::run;
