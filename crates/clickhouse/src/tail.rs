//! The end of an answer: Arrow streams say where they end, and the words of a server that fails in
//! the middle are in the last bytes.

use std::io::{self, Read};
use std::sync::{Arc, Mutex, PoisonError};

/// End of an Arrow stream: a continuation mark, and a message of no bytes.
const END_OF_STREAM: [u8; 8] = [0xff, 0xff, 0xff, 0xff, 0, 0, 0, 0];

/// The last bytes of a stream.
#[derive(Clone, Default)]
pub(crate) struct Tail {
    bytes: Arc<Mutex<Vec<u8>>>,
}

impl Tail {
    const BYTES: usize = 4096;

    /// The bytes, as a text.
    pub(crate) fn text(&self) -> String {
        let bytes = self.bytes.lock().unwrap_or_else(PoisonError::into_inner);
        String::from_utf8_lossy(&bytes).into_owned()
    }

    fn push(&self, new: &[u8]) {
        let mut bytes = self.bytes.lock().unwrap_or_else(PoisonError::into_inner);
        let new = &new[new.len().saturating_sub(Self::BYTES)..];
        let excess = (bytes.len() + new.len()).saturating_sub(Self::BYTES);
        bytes.drain(..excess);
        bytes.extend_from_slice(new);
    }

    pub(crate) fn is_end_of_stream(&self) -> bool {
        let bytes = self.bytes.lock().unwrap_or_else(PoisonError::into_inner);
        bytes.ends_with(&END_OF_STREAM)
    }
}

/// Remembers the end of what is read through it.
pub(crate) struct Watched<R> {
    pub(crate) body: R,
    pub(crate) tail: Tail,
}

impl<R: Read> Read for Watched<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let count = self.body.read(buffer)?;
        self.tail.push(&buffer[..count]);
        Ok(count)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_end_of_a_stream_is_seen_however_it_comes() {
        let tail = Tail::default();
        tail.push(&[7; 10_000]);
        assert!(!tail.is_end_of_stream());
        END_OF_STREAM.iter().for_each(|byte| tail.push(&[*byte]));
        assert!(tail.is_end_of_stream());
        tail.push(&[0]);
        assert!(!tail.is_end_of_stream());
        assert_eq!(tail.bytes.lock().unwrap().len(), Tail::BYTES);
    }
}
