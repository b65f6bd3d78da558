//! What is measured, a file or a folder each.
//!
//! To add a measurement that calls engines from threads:
//!
//! 1. Implement [`Drive`](crate::run::slice::Drive), the timed loop, and [`Visitor`](crate::engine::registry::Visitor),
//!    whose work is `slice::run::<E, YourDrive>`; `contention.rs` is the shortest example.
//! 2. Have a [`Plan`](crate::run::plan::Plan) run it: it chooses threads, order and time, and shows the progress. What a
//!    case comes to is a [`Row`](crate::figures::row::Row) of an [`Outcome`](crate::figures::outcome::Outcome); a figure
//!    that no column holds yet gets a new optional one, after the others.
//! 3. Say in a constant [`Measurement`](measurement::Measurement) how it is called, shown, drawn and recorded, and end the
//!    command with its `finish`.
//! 4. Add the constant to the list in `record/steps.rs`, and the command to `main.rs`.
//!
//! One with threads of another kind takes [`stage`](crate::run::stage::stage) and [`Rounds`](crate::run::rounds::Rounds)
//! instead of a plan, as `keyed` does. One whose figures are others altogether has rows of its own and is called by `record`
//! itself: `accuracy` and `waiting`.

pub mod accuracy;
pub mod clock;
pub mod contention;
pub mod instructions;
pub mod keyed;
pub mod latency;
pub mod measurement;
pub mod single;
pub mod snapshot;
pub mod summary;
pub mod waiting;
pub mod writes;
