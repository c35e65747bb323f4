//! Identity of content.

use chronoscope_store::StreamId;
use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

/// FNV-1a, 128 bits: two contents of an operator have the same one when they are the same. No
/// protection against somebody who looks for two.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fingerprint(u128);

impl Default for Fingerprint {
    fn default() -> Self {
        Self(0x6c62_272e_07bb_0142_62b8_2175_6295_c58d)
    }
}

impl Fingerprint {
    /// Takes in what follows.
    pub fn push(&mut self, bytes: &[u8]) {
        const PRIME: u128 = 0x0000_0000_0100_0000_0000_0000_0000_013b;
        for byte in bytes {
            self.0 = (self.0 ^ u128::from(*byte)).wrapping_mul(PRIME);
        }
    }

    /// The fingerprint of all that was taken in.
    pub const fn value(self) -> u128 {
        self.0
    }
}

/// The fingerprint of a file's content.
pub(crate) fn fingerprint(path: &Path) -> io::Result<StreamId> {
    let mut file = File::open(path)?;
    let mut buffer = vec![0; 1 << 16];
    let mut content = Fingerprint::default();
    loop {
        match file.read(&mut buffer)? {
            0 => return Ok(StreamId(content.value())),
            len => content.push(&buffer[..len]),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_fingerprint_is_fnv() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("f");
        std::fs::write(&path, "a").unwrap();
        // The published 128-bit vector of "a".
        assert_eq!(fingerprint(&path).unwrap().0, 0xd228_cb69_6f1a_8caf_7891_2b70_4e4a_8964);
    }
}
