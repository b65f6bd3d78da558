//! Lock-free rate limiters for hot paths.
