//! One log, line by line.

use std::io::{self, BufRead, Read};

use crate::field::malformed::Malformed;
use crate::format::lines::{Line, Lines};

/// The longest line that is read, in bytes; a longer one is rejected without being held in memory.
pub(super) const LONGEST_LINE: u64 = 64 * 1024;

/// What one line, or a few that a quoted field joins, came to.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Numbered<'a> {
    /// The first line, counted from 1.
    pub(super) number: u64,
    /// How many lines it was.
    pub(super) lines: u64,
    /// What it holds.
    pub(super) line: Result<Line<'a>, Malformed>,
}

/// The lines of a log.
#[derive(Debug)]
pub(super) struct Log<R> {
    reader: R,
    lines: Lines,
    buffer: Vec<u8>,
    number: u64,
}

impl<R: BufRead> Log<R> {
    pub(super) fn new(reader: R, lines: Lines) -> Self {
        Self { reader, lines, buffer: Vec::new(), number: 0 }
    }

    /// What has read the lines so far.
    pub(super) fn lines(&self) -> &Lines {
        &self.lines
    }

    /// The next line; `None` at the end.
    ///
    /// # Errors
    ///
    /// What reading the log failed with.
    pub(super) fn next_line(&mut self) -> io::Result<Option<Numbered<'_>>> {
        self.buffer.clear();
        self.skip_nuls()?;
        if !self.read_line()? {
            return Ok(None);
        }
        let (number, mut lines) = (self.number, 1);
        if self.is_too_long()? {
            return Ok(Some(Numbered { number, lines, line: Err(Malformed::TooLong(LONGEST_LINE)) }));
        }
        // A quoted field may hold the end of a line.
        while self.lines.may_go_on(&self.buffer) && self.lines.line(&self.buffer) == Err(Malformed::OpenQuote) {
            if !self.read_line()? {
                break;
            }
            lines += 1;
            if self.is_too_long()? {
                return Ok(Some(Numbered { number, lines, line: Err(Malformed::OpenQuote) }));
            }
        }
        Ok(Some(Numbered { number, lines, line: self.lines.line(&self.buffer) }))
    }

    /// Adds a line to the buffer, as far as there is room; whether there was one.
    fn read_line(&mut self) -> io::Result<bool> {
        let room = LONGEST_LINE.saturating_sub(self.buffer.len() as u64);
        let read = (&mut self.reader).take(room).read_until(b'\n', &mut self.buffer)?;
        self.number += u64::from(read > 0);
        Ok(read > 0)
    }

    /// Whether the buffer is full in the middle of a line, of which the rest is then skipped.
    fn is_too_long(&mut self) -> io::Result<bool> {
        let too_long = self.buffer.len() as u64 >= LONGEST_LINE && !self.buffer.ends_with(b"\n");
        if too_long {
            self.reader.skip_until(b'\n')?;
        }
        Ok(too_long)
    }

    /// Skips the zeros that are left where a file was truncated while a server went on writing to it. What follows is a whole
    /// line.
    fn skip_nuls(&mut self) -> io::Result<()> {
        loop {
            let available = self.reader.fill_buf()?;
            let nuls = available.iter().take_while(|&&byte| byte == 0).count();
            if nuls == 0 {
                return Ok(());
            }
            self.reader.consume(nuls);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::format::wanted::Wanted;

    /// Number, how many lines, and whether it is an arrival, for each line.
    fn lines(text: &[u8]) -> Vec<(u64, u64, bool)> {
        let mut log = Log::new(text, Lines::new(Wanted::default()));
        let mut lines = Vec::new();
        while let Some(read) = log.next_line().unwrap() {
            lines.push((read.number, read.lines, matches!(read.line, Ok(Line::Arrival(_)))));
        }
        lines
    }

    #[test]
    fn lines_are_numbered() {
        assert_eq!(lines(b""), []);
        assert_eq!(lines(b"1,a"), [(1, 1, true)]);
        assert_eq!(lines(b"1,a\r\n\nx\n2,b\n"), [(1, 1, true), (2, 1, false), (3, 1, false), (4, 1, true)]);
    }

    #[test]
    fn a_line_without_end_is_rejected_and_the_next_one_read() {
        let longest = usize::try_from(LONGEST_LINE).unwrap();
        for (key, read) in [(longest - 3, true), (longest - 2, false), (longest * 3, false)] {
            let mut text = b"1,".to_vec();
            text.extend(core::iter::repeat_n(b'k', key));
            text.extend_from_slice(b"\n2,b\n");
            assert_eq!(lines(&text), [(1, 1, read), (2, 1, true)], "a key of {key} bytes");
        }
    }

    #[test]
    fn a_quoted_field_may_hold_the_end_of_a_line() {
        assert_eq!(lines(b"1,\"a\nb\"\n2,c\n"), [(1, 2, true), (3, 1, true)]);
        assert_eq!(lines(b"1,c\n2,\"open\n3,d\n"), [(1, 1, true), (2, 2, false)]);
    }
}
