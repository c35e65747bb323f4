//! Cutting a byte stream into ASTERIX blocks.

/// Octets of an ASTERIX block before its first record: category and length.
const HEADER: usize = 3;

/// Reason why a stream cannot be cut into blocks any further. The block boundaries are lost: close
/// the connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum FrameError {
    /// A block claims to be shorter than its own header.
    #[error(
        "block of category {category} at octet {position} claims {length} octets, at least 3 needed"
    )]
    TooShort {
        /// First octet of the block.
        category: u8,
        /// The length it claims.
        length: u16,
        /// Octets of the stream before this block.
        position: u64,
    },
}

/// Collects what arrives and hands out whole blocks.
///
/// Memory is bounded by one block (65,535 octets) and one read.
#[derive(Debug, Default)]
pub struct BlockReader {
    bytes: Vec<u8>,
    /// Octets of `bytes` already handed out.
    taken: usize,
    /// Octets of the stream before `bytes[0]`.
    position: u64,
}

impl BlockReader {
    /// Appends octets read from the stream.
    pub fn extend(&mut self, bytes: &[u8]) {
        if self.taken > 0 {
            self.bytes.drain(..self.taken);
            self.position += self.taken as u64;
            self.taken = 0;
        }
        self.bytes.extend_from_slice(bytes);
    }

    /// The next whole block, or `None` until more has arrived.
    ///
    /// # Errors
    /// [`FrameError`] when the stream is not one of ASTERIX blocks.
    pub fn next_block(&mut self) -> Result<Option<&[u8]>, FrameError> {
        let rest = &self.bytes[self.taken..];
        let &[category, high, low, ..] = rest else { return Ok(None) };
        let length = u16::from_be_bytes([high, low]);
        if usize::from(length) < HEADER {
            let position = self.position + self.taken as u64;
            return Err(FrameError::TooShort { category, length, position });
        }
        if rest.len() < usize::from(length) {
            return Ok(None);
        }
        let start = self.taken;
        self.taken += usize::from(length);
        Ok(Some(&self.bytes[start..self.taken]))
    }

    /// Forgets everything, for a new connection.
    pub fn clear(&mut self) {
        *self = Self::default();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        /// However the stream is torn into reads, the same blocks come out.
        #[test]
        fn any_tearing_gives_the_same_blocks(
            blocks in prop::collection::vec((any::<u8>(), prop::collection::vec(any::<u8>(), 0..300)), 0..20),
            tears in prop::collection::vec(1usize..400, 1..40),
        ) {
            let mut stream = Vec::new();
            let mut expected = Vec::new();
            for (category, content) in blocks {
                let mut block = vec![category];
                block.extend(u16::try_from(content.len() + 3).unwrap().to_be_bytes());
                block.extend(content);
                stream.extend_from_slice(&block);
                expected.push(block);
            }
            let mut reader = BlockReader::default();
            let mut got = Vec::new();
            let mut rest = &stream[..];
            for tear in tears.iter().cycle() {
                if rest.is_empty() { break; }
                let (now, later) = rest.split_at((*tear).min(rest.len()));
                rest = later;
                reader.extend(now);
                while let Some(block) = reader.next_block().unwrap() {
                    got.push(block.to_vec());
                }
            }
            prop_assert_eq!(got, expected);
        }
    }

    #[test]
    fn a_length_below_three_is_refused_where_it_stands() {
        let mut reader = BlockReader::default();
        reader.extend(&[62, 0, 4, 1, 62, 0, 2]);
        assert_eq!(reader.next_block().unwrap(), Some(&[62, 0, 4, 1][..]));
        assert_eq!(
            reader.next_block(),
            Err(FrameError::TooShort { category: 62, length: 2, position: 4 })
        );
    }
}
