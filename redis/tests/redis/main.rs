//! Tests against a real `redis-server`, each with one of its own on a free loopback port.
//!
//! Without one they say NOT CHECKED; with `TOLLGATE_REQUIRE_REDIS=1` that is a failure.

mod faults;
mod front;
mod limits;
mod process;
mod proxy;
mod script;
mod server;
mod store;
mod trips;
