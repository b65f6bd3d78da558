//! A log of any length, line by line.

use std::io::{self, BufRead};

use crate::format::parse::{Line, Malformed, Parser};

/// The longest line that is read, in bytes; a longer one is rejected without being held in memory.
pub(super) const LONGEST_LINE: u64 = 64 * 1024;

/// One line, read or rejected.
#[derive(Debug)]
pub(super) struct Numbered<'a> {
    /// Counted from 1.
    pub(super) number: u64,
    /// Bytes, with the line ending.
    pub(super) length: u64,
    /// What it holds; `Err(None)` if it is longer than [`LONGEST_LINE`].
    pub(super) line: Result<Line<'a>, Option<Malformed>>,
}

/// The lines of a log.
#[derive(Debug)]
pub(super) struct Arrivals<R> {
    reader: R,
    parser: Parser,
    buffer: Vec<u8>,
    number: u64,
}

impl<R: BufRead> Arrivals<R> {
    /// The lines of this reader.
    pub(super) fn new(reader: R, parser: Parser) -> Self {
        Self { reader, parser, buffer: Vec::new(), number: 0 }
    }

    /// The next line; `None` at the end.
    ///
    /// # Errors
    ///
    /// What reading the log failed with.
    pub(super) fn next_line(&mut self) -> io::Result<Option<Numbered<'_>>> {
        self.buffer.clear();
        let mut bounded = io::Read::take(&mut self.reader, LONGEST_LINE);
        let mut length = bounded.read_until(b'\n', &mut self.buffer)? as u64;
        if length == 0 {
            return Ok(None);
        }
        self.number += 1;
        let line = if length == LONGEST_LINE && !self.buffer.ends_with(b"\n") {
            length += self.reader.skip_until(b'\n')? as u64;
            Err(None)
        } else {
            self.parser.line(&self.buffer).map_err(Some)
        };
        Ok(Some(Numbered { number: self.number, length, line }))
    }

    /// What has read the lines so far.
    pub(super) fn parser(&self) -> &Parser {
        &self.parser
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::format::parse::Charge;

    /// Number, length and whether it is an arrival, for each line.
    fn lines(text: &[u8]) -> Vec<(u64, u64, bool)> {
        let mut arrivals = Arrivals::new(text, Parser::new(None, Charge::Cost));
        let mut lines = Vec::new();
        while let Some(read) = arrivals.next_line().unwrap() {
            lines.push((read.number, read.length, matches!(read.line, Ok(Line::Arrival(_)))));
        }
        lines
    }

    #[test]
    fn numbers_and_lengths() {
        assert_eq!(lines(b""), []);
        assert_eq!(lines(b"1,a"), [(1, 3, true)]);
        assert_eq!(lines(b"1,a\r\n\nx\n2,b\n"), [(1, 5, true), (2, 1, false), (3, 2, false), (4, 4, true)]);
    }

    #[test]
    fn a_line_without_end_is_rejected_and_the_next_one_read() {
        let longest = usize::try_from(LONGEST_LINE).unwrap();
        for (key, read) in [(longest - 3, true), (longest - 2, false), (longest * 3, false)] {
            let mut text = b"1,".to_vec();
            text.extend(core::iter::repeat_n(b'k', key));
            text.extend_from_slice(b"\n2,b\n");
            let length = text.len() as u64 - 4;
            assert_eq!(lines(&text), [(1, length, read), (2, 4, true)], "a key of {key} bytes");
        }
    }
}
