//! A trace of memory accesses, and what to look for in it.

use core::fmt;
use std::io::{self, BufRead};

/// Where the limiter is, and how its calls are told from the rest of the program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Watch {
    /// A place that is written to just before the calls, and again just after them.
    pub(super) mark: u64,
    /// The limiter's first byte.
    pub(super) start: u64,
    /// How many bytes it has.
    pub(super) size: u64,
}

impl fmt::Display for Watch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "watch {:x} {:x} {:x}", self.mark, self.start, self.size)
    }
}

impl Watch {
    /// What [`Display`](fmt::Display) has written, somewhere in `text`.
    pub(super) fn parse(text: &str) -> Option<Self> {
        let line = text.lines().find_map(|line| line.strip_prefix("watch "))?;
        let mut numbers = line.split(' ').map(|number| u64::from_str_radix(number, 16).ok());
        Some(Self { mark: numbers.next()??, start: numbers.next()??, size: numbers.next()?? })
    }

    /// The writes to the limiter between the two writes to the mark, in a trace by lackey:
    ///
    /// ```text
    /// I  04001234,3      an instruction
    ///  L 1ffeff7e0,8     a load
    ///  S 1ffeff7e0,8     a store
    ///  M 0421c7cc,4      a load and a store of the same bytes
    /// ```
    ///
    /// An atomic read-modify-write may be traced as a load and a store, and is one write.
    ///
    /// # Errors
    ///
    /// If the trace cannot be read, or does not hold both writes to the mark.
    pub(super) fn count(&self, trace: impl BufRead) -> io::Result<u64> {
        let (mut marks, mut writes) = (0, 0);
        for line in trace.lines() {
            let line = line?;
            let Some(access) = line.strip_prefix(" S ").or_else(|| line.strip_prefix(" M ")) else { continue };
            let address = access.split(',').next().and_then(|address| u64::from_str_radix(address.trim(), 16).ok());
            let Some(address) = address else { continue };
            if address == self.mark {
                marks += 1;
            } else if marks == 1 && (self.start..self.start + self.size).contains(&address) {
                writes += 1;
            }
        }
        if marks == 2 {
            Ok(writes)
        } else {
            Err(io::Error::other(format!("the mark was written {marks} times, not twice")))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const WATCH: Watch = Watch { mark: 0x100, start: 0x1000, size: 0x40 };

    #[test]
    fn what_to_watch_is_written_and_read() {
        assert_eq!(Watch::parse(&format!("noise\n{WATCH}\n")), Some(WATCH));
        assert_eq!(Watch::parse("watch 1 2\n"), None);
    }

    #[test]
    fn writes_between_the_marks_and_within_the_limiter_count() {
        let trace = "==1== noise\n S 00001000,8\nI  04000000,3\n S 00000100,8\n L 00001000,8\n S 00001000,8\n M 0000103f,1\n\
                     \x20S 00001040,8\n S 00000fff,1\n S 00000100,8\n S 00001000,8\n";
        assert_eq!(WATCH.count(trace.as_bytes()).unwrap(), 2);
    }

    #[test]
    fn a_trace_without_both_marks_is_no_trace() {
        assert!(WATCH.count(" S 00000100,8\n".as_bytes()).is_err());
        assert!(WATCH.count("".as_bytes()).is_err());
    }
}
