//! The public interface, as somebody else's crate meets it.

mod at;
mod debug;
mod forgive;
mod initial;
mod names;
mod one_reading;
mod own;
mod published;
mod with_status;
