//! Faults that users of other rate limiters have reported in public, each restated as a kind and tested as one: over the
//! algorithms it applies to and over several sets of numbers. The name of each test begins with the report's id.

#[path = "field_reports/clocks.rs"]
mod clocks;
#[path = "field_reports/costs.rs"]
mod costs;
#[path = "field_reports/extremes.rs"]
mod extremes;
#[path = "field_reports/interface.rs"]
mod interface;
#[path = "field_reports/precision.rs"]
mod precision;
mod subject;
