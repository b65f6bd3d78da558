//! [`Classes`]: the quotas of a keyed limiter.

use crate::quota::Quota;
use alloc::vec::Vec;

/// The quotas of a keyed limiter, one per class: free and paid clients, say.
///
/// Made from one [`Quota`], or from an array, a slice or a vector of them; the first is that of calls that name no class.
#[derive(Clone, Debug)]
pub struct Classes(Vec<Quota>);

impl IntoIterator for Classes {
    type Item = Quota;
    type IntoIter = alloc::vec::IntoIter<Quota>;

    fn into_iter(self) -> Self::IntoIter {
        self.0.into_iter()
    }
}

impl From<Quota> for Classes {
    fn from(quota: Quota) -> Self {
        Self([quota].into())
    }
}

impl<const N: usize> From<[Quota; N]> for Classes {
    fn from(quotas: [Quota; N]) -> Self {
        Self(quotas.into())
    }
}

impl From<&[Quota]> for Classes {
    fn from(quotas: &[Quota]) -> Self {
        Self(quotas.into())
    }
}

impl From<Vec<Quota>> for Classes {
    fn from(quotas: Vec<Quota>) -> Self {
        Self(quotas)
    }
}
