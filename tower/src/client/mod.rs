//! The client's side: requests that go out at the pace their hosts ask for.
//!
//! ```
//! use hyper_util::{client::legacy::Client, rt::TokioExecutor};
//! use tollgate::Quota;
//! use tollgate_tower::client::{Pace, PaceLayer, PaceService};
//! use tower::ServiceBuilder;
//!
//! let pace = Pace::new(Quota::per_second(10).with_burst(1)); // to each host
//! let client: PaceService<Client<_, axum::body::Body>> =
//!     ServiceBuilder::new().layer(PaceLayer::new(pace)).service(Client::builder(TokioExecutor::new()).build_http());
//! ```

mod course;
mod future;
mod host;
mod layer;
mod pace;

pub use future::{PaceError, PaceFuture};
pub use layer::{PaceLayer, PaceService};
pub use pace::{Adaptive, Pace};
