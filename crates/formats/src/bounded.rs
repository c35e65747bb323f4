//! A reader that gives up on a piece of input that is longer than it may be.

use std::io::{self, BufRead, Read};

/// Error of [`Bounded`]; its value is the largest piece in bytes.
#[derive(Clone, Copy, Debug, thiserror::Error)]
#[error("a piece of more than {0} bytes")]
pub(crate) struct TooLong(pub(crate) usize);

/// Hands out at most `max` bytes until [`Self::next_piece`] is called.
#[derive(Debug)]
pub(crate) struct Bounded<R> {
    inner: R,
    max: usize,
    left: usize,
}

impl<R> Bounded<R> {
    pub(crate) const fn new(inner: R, max: usize) -> Self {
        Self { inner, max, left: max }
    }

    /// A piece is complete: the next may be as long again.
    pub(crate) const fn next_piece(&mut self) {
        self.left = self.max;
    }

    /// Whether an answer of the operating system is none but ours.
    pub(crate) fn is_too_long(error: &io::Error) -> bool {
        error.get_ref().is_some_and(|inner| inner.is::<TooLong>())
    }
}

impl<R: Read> Read for Bounded<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.left == 0 {
            return Err(io::Error::other(TooLong(self.max)));
        }
        let len = buffer.len().min(self.left);
        let read = self.inner.read(&mut buffer[..len])?;
        self.left -= read;
        Ok(read)
    }
}

impl<R: BufRead> BufRead for Bounded<R> {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        let bytes = self.inner.fill_buf()?;
        if self.left == 0 && !bytes.is_empty() {
            return Err(io::Error::other(TooLong(self.max)));
        }
        Ok(&bytes[..bytes.len().min(self.left)])
    }

    fn consume(&mut self, len: usize) {
        self.inner.consume(len);
        self.left = self.left.saturating_sub(len);
    }
}
