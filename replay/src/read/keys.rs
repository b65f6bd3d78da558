//! [`Keys`]: clients by number.

use core::hash::BuildHasher;

use foldhash::fast::RandomState;
use hashbrown::HashTable;

/// Every client of a log, numbered from 0 in the order in which they are first read.
///
/// Their names lie in one block of memory: a client costs its name and about 20 bytes.
#[derive(Debug, Default)]
pub struct Keys {
    names: Vec<u8>,
    /// Where each name ends.
    ends: Vec<usize>,
    numbers: HashTable<u32>,
    hasher: RandomState,
}

impl Keys {
    /// The number of a client.
    ///
    /// # Panics
    ///
    /// At 2^32 clients.
    pub fn number(&mut self, name: &[u8]) -> u32 {
        let Self { names, ends, numbers, hasher } = self;
        let hash = hasher.hash_one(name);
        let is_it = |&number: &u32| slice(names, ends, number as usize) == name;
        if let Some(&number) = numbers.find(hash, is_it) {
            return number;
        }
        let number = u32::try_from(ends.len()).expect("2^32 clients");
        names.extend_from_slice(name);
        ends.push(names.len());
        let (names, ends, hasher) = (&*names, &*ends, &*hasher);
        numbers.insert_unique(hash, number, |&number| hasher.hash_one(slice(names, ends, number as usize)));
        number
    }

    /// The name of a client.
    pub fn name(&self, number: usize) -> &[u8] {
        slice(&self.names, &self.ends, number)
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }
}

fn slice<'a>(names: &'a [u8], ends: &[usize], number: usize) -> &'a [u8] {
    let start = number.checked_sub(1).map_or(0, |before| ends[before]);
    &names[start..ends[number]]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_has_one_number() {
        let mut keys = Keys::default();
        for round in 0..2 {
            for number in 0..5_000_u32 {
                assert_eq!(keys.number(format!("client {number}").as_bytes()), number, "round {round}");
            }
        }
        assert_eq!((keys.len(), keys.name(0), keys.name(4_999)), (5_000, &b"client 0"[..], &b"client 4999"[..]));
        assert_eq!(keys.number(b"client"), 5_000);
    }
}
