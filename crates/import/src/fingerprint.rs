//! Identity of a file's content.

use chronoscope_store::StreamId;
use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

/// FNV-1a over the content, 128 bits: two files of an operator have the same one when they have the
/// same content.
pub(crate) fn fingerprint(path: &Path) -> io::Result<StreamId> {
    const OFFSET: u128 = 0x6c62_272e_07bb_0142_62b8_2175_6295_c58d;
    const PRIME: u128 = 0x0000_0000_0100_0000_0000_0000_0000_013b;
    let mut file = File::open(path)?;
    let mut buffer = vec![0; 1 << 16];
    let mut hash = OFFSET;
    loop {
        match file.read(&mut buffer)? {
            0 => return Ok(StreamId(hash)),
            len => {
                for byte in &buffer[..len] {
                    hash = (hash ^ u128::from(*byte)).wrapping_mul(PRIME);
                }
            }
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
