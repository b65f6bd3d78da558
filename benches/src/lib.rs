//! The benchmark harness of `tollgate`.

pub mod accuracy;
pub mod replay;
