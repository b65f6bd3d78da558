//! A file as bytes: compressed or not, named or standard input.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Read};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use flate2::bufread::MultiGzDecoder;

use crate::error::Error;

/// How compressed files begin. Of these gzip is read.
const GZIP: &[u8] = b"\x1F\x8B";
const OTHERS: [(&[u8], &str); 4] =
    [(b"\x28\xB5\x2F\xFD", "zstd"), (b"\xFD7zXZ\0", "xz"), (b"BZh", "bzip2"), (b"PK\x03\x04", "zip")];

/// How much is read at once.
const BUFFER: usize = 256 << 10;

/// How many bytes of all files have been read.
#[derive(Clone, Debug, Default)]
pub(super) struct Position(Arc<AtomicU64>);

impl Position {
    pub(super) fn bytes(&self) -> u64 {
        // ORDERING: Relaxed: a count to show, of one thread.
        self.0.load(Ordering::Relaxed)
    }
}

/// Counts what passes.
struct Counted<R> {
    inner: R,
    position: Position,
}

impl<R: Read> Read for Counted<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.inner.read(buffer)?;
        // ORDERING: Relaxed: a count to show, of one thread.
        self.position.0.fetch_add(read as u64, Ordering::Relaxed);
        Ok(read)
    }
}

/// Opens a file, and unpacks it on the way if it is packed by gzip. `-` is standard input.
///
/// # Errors
///
/// It cannot be read, or is compressed in another way.
pub(super) fn open(path: &Path, position: &Position) -> Result<Box<dyn BufRead>, Error> {
    let unreadable = |error| Error::Unreadable(path.to_owned(), error);
    let inner: Box<dyn Read> =
        if path == Path::new("-") { Box::new(io::stdin()) } else { Box::new(File::open(path).map_err(unreadable)?) };
    let mut bytes = BufReader::with_capacity(BUFFER, Counted { inner, position: position.clone() });
    let start = bytes.fill_buf().map_err(unreadable)?;
    if let Some((_, name)) = OTHERS.iter().find(|(magic, _)| start.starts_with(magic)) {
        return Err(Error::Compressed(path.to_owned(), name));
    }
    if start.starts_with(GZIP) {
        return Ok(Box::new(BufReader::with_capacity(BUFFER, MultiGzDecoder::new(bytes))));
    }
    Ok(Box::new(bytes))
}

/// The length of all files together, if it is known.
pub(super) fn total_length(paths: &[std::path::PathBuf]) -> Option<u64> {
    paths.iter().map(|path| Some(path.metadata().ok()?.len())).sum()
}
