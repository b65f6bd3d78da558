//! [`HashedHeader`]: a secret, such as an API key, as a key.

use super::RequestKey;
use core::fmt;
use core::hash::BuildHasher;
use http::{Extensions, HeaderMap, HeaderName, request::Parts};
use std::hash::RandomState;

/// The value of a header, hashed: an API key or a token. The value itself is neither kept nor shown.
///
/// A client that is not known can send any value, so check the value first (an outer layer), or limit by address as well. A
/// request that has the header twice has no key, for there is no telling which of the two the service believes: with
/// [`Keyless::Pass`](crate::Keyless::Pass) it would have no limit either.
///
/// # Examples
///
/// ```
/// use http::Request;
/// use tollgate_tower::key::{HashedHeader, RequestKey};
///
/// let by_token = HashedHeader::new("x-api-key");
/// let (request, ()) = Request::builder().header("x-api-key", "secret").body(()).unwrap().into_parts();
/// let key = by_token.key(&request).unwrap();
/// assert!(!format!("{key:?}").contains("secret"));
/// ```
#[derive(Clone)]
pub struct HashedHeader {
    name: HeaderName,
    hasher: RandomState,
}

/// What is left of a secret: a hash under a random seed, which tells two of them apart and nothing else. `Debug` does not show it.
///
/// # Examples
///
/// ```
/// use http::Request;
/// use tollgate_tower::key::{HashedHeader, HashedKey, RequestKey};
///
/// let (request, ()) = Request::builder().header("x-api-key", "a").body(()).unwrap().into_parts();
/// let key: Option<HashedKey> = HashedHeader::new("x-api-key").key(&request);
/// assert_eq!(format!("{key:?}"), "Some(HashedKey(..))");
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct HashedKey(u64);

impl HashedHeader {
    /// By the header of this name.
    ///
    /// # Panics
    ///
    /// If `name` is no name of a header, in lower case.
    ///
    /// # Examples
    ///
    /// ```
    /// use http::Request;
    /// use tollgate_tower::key::{HashedHeader, RequestKey};
    ///
    /// let by_token = HashedHeader::new("authorization");
    /// let key = |token: &str| {
    ///     let (request, ()) = Request::builder().header("Authorization", token).body(()).unwrap().into_parts();
    ///     by_token.key(&request)
    /// };
    /// assert_eq!(key("Bearer a"), key("Bearer a"));
    /// assert_ne!(key("Bearer a"), key("Bearer b"));
    /// ```
    pub fn new(name: &'static str) -> Self {
        Self { name: HeaderName::from_static(name), hasher: RandomState::new() }
    }
}

impl RequestKey for HashedHeader {
    type Key = HashedKey;

    fn key(&self, request: &Parts) -> Option<HashedKey> {
        self.key_in(&request.headers, &request.extensions)
    }

    fn reads_all(&self) -> bool {
        false
    }

    fn key_in(&self, headers: &HeaderMap, _: &Extensions) -> Option<HashedKey> {
        let mut values = headers.get_all(&self.name).iter();
        match (values.next(), values.next()) {
            (Some(value), None) => Some(HashedKey(self.hasher.hash_one(value.as_bytes()))),
            _ => None,
        }
    }
}

impl fmt::Debug for HashedHeader {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("HashedHeader").field(&self.name).finish()
    }
}

impl fmt::Debug for HashedKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("HashedKey(..)")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use http::Request;

    #[test]
    fn one_value_is_a_key_and_none_or_two_are_not() {
        let header = HashedHeader::new("x-api-key");
        let key = |values: &[&[u8]]| {
            let request = values.iter().fold(Request::builder(), |request, value| request.header("X-Api-Key", *value));
            header.key(&request.body(()).unwrap().into_parts().0)
        };
        assert!(key(&[b"a"]).is_some() && key(&[b"a"]) == key(&[b"a"]) && key(&[b"a"]) != key(&[b"b"]));
        assert!(key(&[b""]).is_some() && key(&[b"\xff"]).is_some());
        assert_eq!((key(&[]), key(&[b"a", b"a"])), (None, None));
        assert_ne!(HashedHeader::new("x-api-key").hasher.hash_one(b"a"), header.hasher.hash_one(b"a"), "seeded anew");
        assert_eq!(format!("{:?} {header:?}", key(&[b"a"])), "Some(HashedKey(..)) HashedHeader(\"x-api-key\")");
    }
}
