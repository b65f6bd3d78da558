//! [`Values`]: the fields of one line that were asked for.

use core::ops::Range;

/// A place for each field that is asked for.
pub(super) type Slot = usize;
pub(super) const TIME: Slot = 0;
pub(super) const KEY: Slot = 1;
pub(super) const COST: Slot = 2;
/// Addresses that a proxy was called from, if the log has them: they show that the client is a proxy.
pub(super) const FORWARDED: Slot = 3;
/// The first field that has to have some value; the others follow.
pub(super) const FILTERS: Slot = 4;

/// Where a value is.
#[derive(Clone, Debug, Default)]
enum Piece {
    #[default]
    Nowhere,
    InLine(Range<usize>),
    /// It is not in the line as it is; it was written to memory of its own.
    Copied(Range<usize>),
}

/// The fields of one line that were asked for. Used again for every line, so that reading one allocates nothing.
#[derive(Clone, Debug, Default)]
pub(super) struct Values {
    pieces: Vec<Piece>,
    copies: Vec<u8>,
}

impl Values {
    /// Values for the fields that every line has, and for so many filters.
    pub(super) fn new(filters: usize) -> Self {
        Self { pieces: vec![Piece::Nowhere; FILTERS + filters], copies: Vec::new() }
    }

    pub(super) fn clear(&mut self) {
        self.pieces.fill(Piece::Nowhere);
        self.copies.clear();
    }

    /// The value is this part of the line.
    pub(super) fn set(&mut self, slot: Slot, part: Range<usize>) {
        self.pieces[slot] = Piece::InLine(part);
    }

    /// The value is what `write` writes.
    pub(super) fn copy(&mut self, slot: Slot, write: impl FnOnce(&mut Vec<u8>)) {
        let start = self.copies.len();
        write(&mut self.copies);
        self.pieces[slot] = Piece::Copied(start..self.copies.len());
    }

    pub(super) fn has(&self, slot: Slot) -> bool {
        !matches!(self.pieces[slot], Piece::Nowhere)
    }

    /// A value in the line that it was found in.
    pub(super) fn get<'a>(&'a self, slot: Slot, line: &'a [u8]) -> Option<&'a [u8]> {
        match &self.pieces[slot] {
            Piece::Nowhere => None,
            Piece::InLine(part) => line.get(part.clone()),
            Piece::Copied(part) => self.copies.get(part.clone()),
        }
    }
}
