//! Access logs of AWS application load balancers.

use super::columns::{Columns, Separator};
use super::wanted::Wanted;
use crate::field::malformed::Malformed;

/// The columns, by the names that the documents give them; later ones have been added at the end, and may be again.
const NAMES: [&str; 30] = [
    "type",
    "time",
    "elb",
    "client:port",
    "target:port",
    "request_processing_time",
    "target_processing_time",
    "response_processing_time",
    "elb_status_code",
    "target_status_code",
    "received_bytes",
    "sent_bytes",
    "request",
    "user_agent",
    "ssl_cipher",
    "ssl_protocol",
    "target_group_arn",
    "trace_id",
    "domain_name",
    "chosen_cert_arn",
    "matched_rule_priority",
    "request_creation_time",
    "actions_executed",
    "redirect_url",
    "error_reason",
    "target:port_list",
    "target_status_code_list",
    "classification",
    "classification_reason",
    "conn_trace_id",
];

const SEPARATOR: Separator = Separator { byte: b' ', quotes: true };

/// Whether a line may be one of these.
pub(super) fn fits(line: &[u8]) -> bool {
    let mut words = line.splitn(4, |&byte| byte == b' ');
    let kind = words.next().unwrap_or_default();
    matches!(kind, b"http" | b"https" | b"h2" | b"grpcs" | b"ws" | b"wss")
        && matches!(words.next(), Some([_, _, _, _, b'-', _, _, b'-', _, _, b'T', ..]))
        && words.next().is_some_and(|name| name.starts_with(b"app/"))
}

/// The columns of such a log.
///
/// # Errors
///
/// There is no field that was asked for.
pub(super) fn columns(first: &[u8], wanted: &Wanted) -> Result<Columns, Malformed> {
    let mut names: Vec<String> = NAMES.map(str::to_owned).to_vec();
    // Columns that this version of the program does not know.
    let count = super::columns::Fields::of(first, SEPARATOR).count();
    names.extend((NAMES.len()..count).map(|number| (number + 1).to_string()));
    Columns::named(&names, first, SEPARATOR, wanted)
}
