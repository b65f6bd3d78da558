//! Metrics and log events, behind features.

use crate::limit::Said;
use crate::policy::Policy;
use core::time::Duration;

/// Notes what a policy has said to a request.
#[cfg_attr(not(any(feature = "metrics", feature = "tracing")), allow(unused_variables, clippy::missing_const_for_fn))]
pub(crate) fn said<T>(policy: &Policy, said: &Said<T>) {
    #[cfg(feature = "metrics")]
    {
        let outcome = match said {
            Said::Admitted(..) => "admitted",
            Said::Denied(tollgate::Denied::TableFull(_)) => "table_full",
            Said::Denied(..) => "denied",
            Said::NoKey => "no_key",
            Said::Unlimited => "unlimited",
        };
        let mode = if policy.observed { "observed" } else { "enforced" };
        metrics::counter!("tollgate_requests_total", "policy" => policy.name.clone(), "outcome" => outcome, "mode" => mode)
            .increment(1);
    }
    #[cfg(feature = "tracing")]
    match said {
        Said::Denied(denied) => {
            tracing::debug!(policy = &*policy.name, observed = policy.observed, retry_after = ?denied.retry_after(), "over the limit");
        }
        Said::NoKey => tracing::debug!(policy = &*policy.name, observed = policy.observed, "no key"),
        Said::Admitted(..) | Said::Unlimited => {}
    }
}

/// Notes how long a request will have to wait.
#[cfg_attr(not(feature = "metrics"), allow(unused_variables, clippy::missing_const_for_fn))]
pub(crate) fn wait(wait: Duration) {
    #[cfg(feature = "metrics")]
    metrics::histogram!("tollgate_wait_seconds").record(wait);
}

/// Notes what has become of a request of a client: sent, or not.
#[cfg_attr(not(feature = "tracing"), allow(unused_variables, clippy::missing_const_for_fn))] // the hint is for a log alone
pub(crate) fn paced(outcome: &'static str, retry_after: Option<Duration>) {
    #[cfg(feature = "metrics")]
    metrics::counter!("tollgate_paced_requests_total", "outcome" => outcome).increment(1);
    #[cfg(feature = "tracing")]
    if outcome != "sent" {
        tracing::debug!(outcome, ?retry_after, "not sent");
    }
}
