//! The benchmark harness.
fn main() {}
