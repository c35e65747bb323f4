//! What fuzzing of rings and of core files checks; `fuzz/fuzz_targets/ring.rs` and `core_file.rs`
//! share it with the replay of the kept inputs.
//!
//! A ring has a quarter of a megabyte, nearly all of it zero, which no fuzzer gets through. An input
//! is a list of changes to a kept ring instead: its first octet names the ring, the next four the
//! length that is left of it (0: all), and then ten octets each say which word of eight octets is
//! to be what.
#![allow(dead_code, unreachable_pub, clippy::unwrap_used)] // the fuzz targets use some of it

use chronoscope_model::{Batch, context};
use chronoscope_record::read::{Cursors, MEMORY_BYTES_MAX, Ring, RingError};
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::sync::LazyLock;

/// A ring of each version: offset and value of each word that is not zero, in hexadecimal.
const RINGS: [&str; 2] = [include_str!("../data/ring-1.txt"), include_str!("../data/ring-2.txt")];

/// Where the core file has its ring, and where the ring's process had it.
pub const RING_OFFSET: usize = 4096;
pub const RING_ADDRESS: u64 = 0x7f00_0000_0000;
/// Where a ring says at which address it is.
const BASE_ADDRESS: usize = 16;

/// The unchanged ring.
pub struct Base {
    pub bytes: Vec<u8>,
    /// Offsets of words that are not zero: where changes matter most.
    words: Vec<usize>,
}

impl Base {
    fn new(bytes: Vec<u8>) -> Self {
        let is_used = |(_, word): &(usize, &[u8])| word.iter().any(|octet| *octet != 0);
        let words = bytes.chunks_exact(8).enumerate().filter(is_used);
        let words = words.map(|(at, _)| at * 8).collect();
        Self { bytes, words }
    }

    /// The bytes with an input's changes.
    pub fn changed(&self, input: &[u8]) -> Vec<u8> {
        let mut bytes = self.bytes.clone();
        let Some((len, changes)) = input.split_first_chunk::<4>() else { return bytes };
        for change in changes.chunks_exact(10) {
            let which = usize::from(u16::from_le_bytes([change[0], change[1]]));
            let at = match which.checked_sub(1 << 15) {
                Some(used) => self.words[used % self.words.len()],
                None => which * 8 % (bytes.len() - 7),
            };
            bytes[at..at + 8].copy_from_slice(&change[2..]);
        }
        let len = usize::try_from(u32::from_le_bytes(*len)).unwrap();
        bytes.truncate(if len == 0 { bytes.len() } else { len });
        bytes
    }
}

pub static BASES: LazyLock<[Base; 2]> = LazyLock::new(|| RINGS.map(|text| Base::new(ring(text))));
pub static CORE: LazyLock<Base> = LazyLock::new(|| Base::new(core(&BASES[1].bytes)));

fn ring(text: &str) -> Vec<u8> {
    let number = |text: &str| u64::from_str_radix(text, 16).unwrap();
    let mut lines = text.lines().map(|line| line.split_once(' ').unwrap());
    let mut bytes = vec![0; usize::try_from(number(lines.next().unwrap().1)).unwrap()];
    for (at, value) in lines {
        let at = usize::try_from(number(at)).unwrap();
        bytes[at..at + 8].copy_from_slice(&number(value).to_le_bytes());
    }
    bytes
}

/// An ELF program header of type LOAD.
pub fn segment(address: u64, offset: u64, bytes: u64) -> [u8; 56] {
    let mut header = [0; 56];
    header[0] = 1;
    for (at, value) in [(8, offset), (16, address), (32, bytes), (40, bytes)] {
        header[at..at + 8].copy_from_slice(&value.to_le_bytes());
    }
    header
}

/// The head of a core file with these segments.
pub fn core_head(segments: &[[u8; 56]]) -> Vec<u8> {
    let mut head = vec![0; 64];
    head[..6].copy_from_slice(b"\x7fELF\x02\x01");
    head[16] = 4; // ET_CORE
    head[32] = 64; // the program headers follow
    head[54] = 56;
    head[56..58].copy_from_slice(&u16::try_from(segments.len()).unwrap().to_le_bytes());
    head.extend(segments.as_flattened());
    head
}

/// A core file of a process that had mapped the ring behind a page of its own.
fn core(ring: &[u8]) -> Vec<u8> {
    let page = RING_OFFSET as u64;
    let segments = [segment(0x40_0000, 0, page), segment(RING_ADDRESS, page, ring.len() as u64)];
    let mut bytes = core_head(&segments);
    bytes.resize(RING_OFFSET, 0);
    bytes.extend(ring);
    bytes[RING_OFFSET + BASE_ADDRESS..][..8].copy_from_slice(&RING_ADDRESS.to_le_bytes());
    bytes
}

/// An input as a ring: refused with a position, or read; never more. Says whether it was opened.
pub fn check_ring(input: &[u8]) -> bool {
    let Some((which, changes)) = input.split_first() else { return false };
    let ring = Ring::from_bytes(BASES[usize::from(*which) % BASES.len()].changed(changes));
    ring.map(check_opened).is_ok()
}

/// An input as a core file, which `path` is made to hold. How many rings it has.
///
/// # Errors
/// As [`Ring::open_core`].
pub fn check_core(input: &[u8], path: &Path) -> Result<usize, RingError> {
    let bytes = CORE.changed(input);
    let file = std::fs::File::options().create(true).truncate(false).write(true).open(path);
    let file = file.unwrap();
    file.write_all_at(&bytes, 0).unwrap();
    file.set_len(bytes.len() as u64).unwrap();
    let rings = Ring::open_core(path)?;
    Ok(rings.into_iter().map(check_opened).count())
}

/// Everything that is asked of a ring. What it answers is bounded, whatever the ring says.
fn check_opened(mut ring: Ring) {
    let mut batch = Batch::default();
    let mut cursors = Cursors::default();
    let drained = ring.drain(&mut cursors, 10_000, &mut batch);
    assert!(batch.len() <= 10_000);
    // A record may claim up to 64 KiB: all together they are no more than the ring has.
    assert!(batch.contexts().len() as u64 <= MEMORY_BYTES_MAX);
    if drained.is_ok_and(|drained| drained.read < 10_000) {
        let again = ring.drain(&mut cursors, 10_000, &mut batch).unwrap();
        assert_eq!((again.read, again.lapped), (0, 0), "nobody writes it");
    }
    if let Ok(all) = ring.statistics() {
        assert!(all.iter().all(|class| class.worst.len() <= 64));
    }
    if let Ok(open) = ring.open_transactions() {
        assert!(open.iter().all(|open| open.context.len() <= context::MAX_BYTES));
    }
    if let Ok(last) = ring.last(10) {
        assert!(last.len() <= 10);
    }
    // The rest is refused or answers: both are right.
    let (_, _) = (ring.counters(), ring.check());
    assert!(!ring.is_alive() && ring.memory_bytes() < MEMORY_BYTES_MAX);
}
