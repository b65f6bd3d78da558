//! The benchmark harness of `tollgate`.

pub mod replay;
