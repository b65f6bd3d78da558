//! The client's side: requests that go out at the pace their hosts ask for.

mod future;
mod host;
mod layer;
mod pace;

pub use future::{PaceError, PaceFuture};
pub use layer::{PaceLayer, PaceService};
pub use pace::{Adaptive, Pace};
