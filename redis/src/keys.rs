//! [`Keys`]: where a limit is in the store.

use crate::terms::TermsError;

/// The keys of one limit, all in the slot of its namespace. What varies comes last, so that no name makes one limit's key
/// another's.
#[derive(Debug)]
pub(crate) struct Keys {
    pub(crate) marker: String,
    pub(crate) limit: String,
    pub(crate) seen: String,
    answers: String,
    name: String,
}

/// A namespace whose name is a hash tag.
#[derive(Debug)]
pub(crate) struct Namespace(String);

impl Namespace {
    pub(crate) fn new(name: &str) -> Result<Self, TermsError> {
        if name.is_empty() || name.contains(['{', '}']) {
            return Err(TermsError::Namespace);
        }
        Ok(Self(name.to_owned()))
    }

    /// The keys of the limit `name`.
    pub(crate) fn keys(&self, name: &str) -> Keys {
        let Self(namespace) = self;
        Keys {
            marker: format!("{{{namespace}}}:marker"),
            limit: format!("{{{namespace}}}:limit:{name}"),
            seen: format!("{{{namespace}}}:seen:{name}"),
            answers: format!("{{{namespace}}}:answer:"),
            name: name.to_owned(),
        }
    }
}

impl Keys {
    /// Where the last answer to an instance is.
    pub(crate) fn answer(&self, instance: u64) -> String {
        let Self { answers, name, .. } = self;
        format!("{answers}{instance}:{name}")
    }
}
