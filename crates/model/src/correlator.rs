//! The token that travels with a message, so that the receiver's transaction knows its parent and
//! its whole chain.
//!
//! Layout, version 1, network byte order, in the envelope of ARM 4.0 (C binding, correlator):
//!
//! | octets | what |
//! |---|---|
//! | 0–1 | length of the whole, in `[48, 512]` |
//! | 2 | format: [`FORMAT`] |
//! | 3 | ARM flags: [`ASYNCHRONOUS`], [`INDEPENDENT`] |
//! | 4 | version: 1 |
//! | 5 | number of ancestors that follow, in `[0, 29]` |
//! | 6–7 | level of the transaction that issued it: 0 for a root |
//! | 8–23 | chain id |
//! | 24–31 | id of the transaction that issued it: the receiver's parent |
//! | 32–39 | process of the root |
//! | 40–47 | path of the transaction that issued it |
//! | 48… | ancestors, 16 octets each: class, start in UTC nanoseconds |
//!
//! Ancestors are the root first and the issuing transaction last. Where not all fit, those behind
//! the root are dropped first, and `level + 1` minus their number says how many. Without any the
//! chain is a foreign one, whose root is not known.
//!
//! ARM leaves the positions of its flags in octet 3 to the implementation.

use crate::{ChainId, ClassId, PathId, ProcessId, TransactionId};
use std::ops::Deref;

/// Largest correlator, in octets (ARM 4.0, `ARM_CORR_MAX_LENGTH`).
pub const MAX_BYTES: usize = 512;
/// Octets before the ancestors.
pub const HEADER_BYTES: usize = 48;
/// Octets of one ancestor.
pub const ANCESTOR_BYTES: usize = 16;
/// Largest number of ancestors, including the root and the issuing transaction.
pub const MAX_ANCESTORS: usize = (MAX_BYTES - HEADER_BYTES) / ANCESTOR_BYTES;
/// The format octet of Chronoscope's correlators.
pub const FORMAT: u8 = 0x43;
/// Flag octet: the issuer does not wait for its children.
pub const ASYNCHRONOUS: u8 = 0x10;
/// Flag octet: the children's status does not touch the issuer's.
pub const INDEPENDENT: u8 = 0x08;

const VERSION: u8 = 1;

/// Class and start of one transaction on the path from the root.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(C)]
pub struct Ancestor {
    /// The ancestor's class.
    pub class: ClassId,
    /// The ancestor's start time: UTC, nanoseconds since 1970, by its own host's clock.
    pub start_ns: i64,
}

/// Reason why bytes are not a correlator.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum CorrelatorError {
    /// There are fewer octets than the length field announces, or than a header has.
    #[error("correlator is cut: {have} octets, {need} expected")]
    Cut {
        /// Octets that are there.
        have: usize,
        /// Octets that there should be.
        need: usize,
    },
    /// The length word contradicts the number of ancestors or the bound.
    #[error("octets 0-1: length {length} does not fit {ancestors} ancestors (octet 5)")]
    Length {
        /// Value of the length field.
        length: usize,
        /// Number of ancestors announced.
        ancestors: usize,
    },
    /// The format is that of another product.
    #[error("octet 2: format {0:#04x} is not Chronoscope's ({FORMAT:#04x})")]
    Format(u8),
    /// The version is newer than this program.
    #[error("octet 4: version {0} is not known (1 is): update this program")]
    Version(u8),
    /// There are more ancestors than the level allows.
    #[error("octets 5-7: {ancestors} ancestors at level {level}")]
    Level {
        /// Number of ancestors announced.
        ancestors: usize,
        /// Level announced.
        level: u16,
    },
}

/// The correlator of a transaction, for those that continue its chain elsewhere. Uses no heap.
#[derive(Clone, Debug)]
pub struct Correlator {
    chain: ChainId,
    parent: TransactionId,
    root_process: ProcessId,
    path: PathId,
    level: u16,
    flags: u8,
    ancestor_count: u8, // at most MAX_ANCESTORS
    ancestors: [Ancestor; MAX_ANCESTORS],
}

impl Correlator {
    /// The correlator of a root transaction.
    #[inline]
    pub fn root(chain: ChainId, id: TransactionId, process: ProcessId, root: Ancestor) -> Self {
        let mut ancestors = [Ancestor::default(); MAX_ANCESTORS];
        ancestors[0] = root;
        Self {
            chain,
            parent: id,
            root_process: process,
            path: PathId::root(root.class),
            level: 0,
            flags: 0,
            ancestor_count: 1,
            ancestors,
        }
    }

    /// A correlator for a transaction of which only chain and parent are known, as from a W3C trace
    /// context: level, path and root stay unknown along the whole chain.
    #[inline]
    pub fn foreign(chain: ChainId, parent: TransactionId) -> Self {
        Self {
            chain,
            parent,
            root_process: ProcessId::NONE,
            path: PathId::NONE,
            level: 0,
            flags: 0,
            ancestor_count: 0,
            ancestors: [Ancestor::default(); MAX_ANCESTORS],
        }
    }

    /// The correlator of transaction `id`, a child of the one that issued `self`. When there is
    /// no room for one more ancestor the one behind the root is dropped.
    #[inline]
    pub fn child(&self, id: TransactionId, own: Ancestor) -> Self {
        let mut child = self.clone();
        child.descend(id, own);
        child
    }

    /// Becomes [`Self::child`], in place.
    #[inline]
    pub fn descend(&mut self, id: TransactionId, own: Ancestor) {
        self.parent = id;
        self.flags = 0;
        self.push(own);
    }

    /// The correlator of a child, one level further down; see [`Self::child`].
    #[inline]
    fn push(&mut self, own: Ancestor) {
        if self.is_foreign() {
            return;
        }
        self.level = self.level.saturating_add(1);
        self.path = self.path.child(own.class);
        let count = usize::from(self.ancestor_count);
        if count < MAX_ANCESTORS {
            self.ancestors[count] = own;
            self.ancestor_count += 1;
        } else {
            self.ancestors.copy_within(2.., 1);
            self.ancestors[MAX_ANCESTORS - 1] = own;
        }
    }

    /// Sets ARM 4.1's two flags.
    pub const fn with_flags(mut self, asynchronous: bool, independent: bool) -> Self {
        self.flags =
            if asynchronous { ASYNCHRONOUS } else { 0 } | if independent { INDEPENDENT } else { 0 };
        self
    }

    /// The chain that the correlator belongs to.
    pub const fn chain(&self) -> ChainId {
        self.chain
    }

    /// The transaction that issued it.
    pub const fn parent(&self) -> TransactionId {
        self.parent
    }

    /// The process of the root.
    pub const fn root_process(&self) -> ProcessId {
        self.root_process
    }

    /// The path of the transaction that issued it.
    pub const fn path(&self) -> PathId {
        self.path
    }

    /// The level of the transaction that issued it: 0 for a root.
    pub const fn level(&self) -> u16 {
        self.level
    }

    /// Whether the issuer does not wait for its children.
    pub const fn is_asynchronous(&self) -> bool {
        self.flags & ASYNCHRONOUS != 0
    }

    /// Whether the children's status does not touch the issuer's.
    pub const fn is_independent(&self) -> bool {
        self.flags & INDEPENDENT != 0
    }

    /// Whether the correlator carries no ancestors.
    pub const fn is_foreign(&self) -> bool {
        self.ancestor_count == 0
    }

    /// The ancestors that are known: the root first, the issuing transaction last.
    #[inline]
    pub fn ancestors(&self) -> &[Ancestor] {
        &self.ancestors[..usize::from(self.ancestor_count)]
    }

    /// Start time of the root, UTC nanoseconds; `None` for a foreign chain.
    #[inline]
    pub fn root_start_ns(&self) -> Option<i64> {
        self.ancestors().first().map(|root| root.start_ns)
    }

    /// Number of ancestors below the root that were dropped so far.
    #[inline]
    pub fn dropped(&self) -> u16 {
        // level + 1 - count, where the level may be the last that there is.
        self.ancestor_count.checked_sub(1).map_or(0, |above| self.level - u16::from(above))
    }

    /// Encodes the correlator in at most `max_len` octets. Ancestors below the root are dropped
    /// until it fits, the root last. The [`HEADER_BYTES`] are written even when `max_len` is less:
    /// a carrier must have that much room.
    pub fn to_bytes(&self, max_len: usize) -> CorrelatorBytes {
        let room = max_len.min(MAX_BYTES).saturating_sub(HEADER_BYTES) / ANCESTOR_BYTES;
        let kept = self.ancestors().len().min(room);
        let mut bytes = CorrelatorBytes { bytes: [0; MAX_BYTES], len: 0, dropped: 0 };
        bytes.len = self.encode(kept, &mut bytes.bytes);
        #[allow(clippy::cast_possible_truncation)] // at most 29
        let dropped = u16::from(self.ancestor_count) - kept as u16;
        bytes.dropped = dropped;
        bytes
    }

    /// Encodes the whole correlator at the beginning of `to` and returns the number of octets.
    /// Unlike [`Self::to_bytes`] it copies nothing. The octets behind are left unchanged.
    #[inline]
    pub fn encode_into(&self, to: &mut [u8; MAX_BYTES]) -> usize {
        usize::from(self.encode(self.ancestors().len(), to))
    }

    /// Keeps at most `count` ancestors.
    #[inline]
    fn encode(&self, kept: usize, to: &mut [u8; MAX_BYTES]) -> u16 {
        let known = self.ancestors();
        #[allow(clippy::cast_possible_truncation)] // at most 512 and 29
        let (len, count) = ((HEADER_BYTES + kept * ANCESTOR_BYTES) as u16, kept as u8);
        to[0..2].copy_from_slice(&len.to_be_bytes());
        to[2..6].copy_from_slice(&[FORMAT, self.flags, VERSION, count]);
        to[6..8].copy_from_slice(&self.level.to_be_bytes());
        to[8..24].copy_from_slice(&self.chain.0.to_be_bytes());
        to[24..32].copy_from_slice(&self.parent.0.to_be_bytes());
        to[32..40].copy_from_slice(&self.root_process.0.to_be_bytes());
        to[40..48].copy_from_slice(&self.path.0.to_be_bytes());
        let root = known.iter().take(kept.min(1));
        let nearest = known.iter().skip(known.len() - kept.saturating_sub(1));
        let places = to[HEADER_BYTES..].chunks_exact_mut(ANCESTOR_BYTES);
        for (place, ancestor) in places.zip(root.chain(nearest)) {
            place[..8].copy_from_slice(&ancestor.class.0.to_be_bytes());
            place[8..].copy_from_slice(&ancestor.start_ns.to_be_bytes());
        }
        len
    }

    /// Reads a correlator from the beginning of `bytes`; what follows its length is not looked at.
    ///
    /// # Errors
    /// [`CorrelatorError`], with the octets that contradict the layout.
    #[inline]
    pub fn decode(bytes: &[u8]) -> Result<Self, CorrelatorError> {
        let cut = |need| CorrelatorError::Cut { have: bytes.len(), need };
        let header: &[u8; HEADER_BYTES] = bytes.first_chunk().ok_or(cut(HEADER_BYTES))?;
        if header[2] != FORMAT {
            return Err(CorrelatorError::Format(header[2]));
        }
        if header[4] != VERSION {
            return Err(CorrelatorError::Version(header[4]));
        }
        let length = usize::from(u16::from_be_bytes([header[0], header[1]]));
        let count = usize::from(header[5]);
        let level = u16::from_be_bytes([header[6], header[7]]);
        if count > MAX_ANCESTORS || length != HEADER_BYTES + count * ANCESTOR_BYTES {
            return Err(CorrelatorError::Length { length, ancestors: count });
        }
        if count > usize::from(level) + 1 {
            return Err(CorrelatorError::Level { ancestors: count, level });
        }
        let body = bytes.get(HEADER_BYTES..length).ok_or(cut(length))?;
        let mut ancestors = [Ancestor::default(); MAX_ANCESTORS];
        for (ancestor, octets) in ancestors.iter_mut().zip(body.chunks_exact(ANCESTOR_BYTES)) {
            ancestor.class = ClassId(be_u64(octets, 0));
            ancestor.start_ns = be_u64(octets, 8).cast_signed();
        }
        Ok(Self {
            chain: ChainId::from_halves(be_u64(header, 8), be_u64(header, 16)),
            parent: TransactionId(be_u64(header, 24)),
            root_process: ProcessId(be_u64(header, 32)),
            path: PathId(be_u64(header, 40)),
            level,
            flags: header[3] & (ASYNCHRONOUS | INDEPENDENT),
            ancestor_count: header[5],
            ancestors,
        })
    }
}

impl PartialEq for Correlator {
    /// Ancestors beyond the count are nobody's.
    fn eq(&self, other: &Self) -> bool {
        (self.chain, self.parent, self.root_process, self.path, self.level, self.flags)
            == (other.chain, other.parent, other.root_process, other.path, other.level, other.flags)
            && self.ancestors() == other.ancestors()
    }
}

impl Eq for Correlator {}

#[inline]
fn be_u64(octets: &[u8], at: usize) -> u64 {
    octets[at..].first_chunk().map_or(0, |octets| u64::from_be_bytes(*octets))
}

/// The octets of a correlator. No heap.
#[derive(Clone)]
pub struct CorrelatorBytes {
    bytes: [u8; MAX_BYTES],
    len: u16,
    dropped: u16,
}

impl CorrelatorBytes {
    /// Number of ancestors that did not fit.
    pub const fn dropped(&self) -> u16 {
        self.dropped
    }
}

impl Deref for CorrelatorBytes {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        &self.bytes[..usize::from(self.len)]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn chain_of(levels: u64) -> Correlator {
        let step = |n: u64| Ancestor { class: ClassId(100 + n), start_ns: n.cast_signed() * 10 };
        let root = Correlator::root(ChainId(9), TransactionId(1), ProcessId(5), step(0));
        (1..=levels).fold(root, |c, n| c.child(TransactionId(n + 1), step(n)))
    }

    #[test]
    fn encoding_in_place_writes_the_same_and_no_more() {
        for correlator in
            [Correlator::foreign(ChainId(7), TransactionId(8)), chain_of(0), chain_of(3)]
                .into_iter()
                .chain([chain_of(28), chain_of(70).with_flags(true, false)])
        {
            let mut octets = [0xa5; MAX_BYTES];
            let len = correlator.encode_into(&mut octets);
            assert_eq!(octets[..len], *correlator.to_bytes(MAX_BYTES));
            assert!(octets[len..].iter().all(|octet| *octet == 0xa5));
        }
    }

    #[test]
    fn bytes_of_version_1_are_kept() {
        let bytes = chain_of(1).with_flags(true, true).to_bytes(MAX_BYTES);
        assert_eq!(bytes.len(), 80);
        assert_eq!(bytes[..8], [0, 80, 0x43, 0x18, 1, 2, 0, 1]);
        assert_eq!(bytes[23], 9); // chain id
        assert_eq!(bytes[31], 2); // parent
        assert_eq!(bytes[39], 5); // root process
        assert_eq!(bytes[40..48], PathId::of(&[ClassId(100), ClassId(101)]).0.to_be_bytes());
        assert_eq!((bytes[55], bytes[63], bytes[71], bytes[79]), (100, 0, 101, 10));
    }

    #[test]
    fn the_middle_is_dropped_first_and_counted() {
        let sent = chain_of(20); // 21 ancestors
        let bytes = sent.to_bytes(254);
        assert!(bytes.len() <= 254);
        assert_eq!(bytes.dropped(), 21 - 12);
        let got = Correlator::decode(&bytes).unwrap();
        assert_eq!((got.level(), got.path(), got.dropped()), (20, sent.path(), 9));
        assert_eq!(got.root_start_ns(), Some(0));
        assert_eq!(got.ancestors().last().unwrap().start_ns, 200);
        assert_eq!(got.ancestors()[1].start_ns, 100);
    }

    #[test]
    fn a_chain_deeper_than_the_bound_keeps_root_level_and_path() {
        let deep = chain_of(100);
        assert_eq!((deep.level(), deep.dropped()), (100, 101 - 29));
        let classes: Vec<_> = (0..=100).map(|n| ClassId(100 + n)).collect();
        assert_eq!(deep.path(), PathId::of(&classes));
        assert_eq!(deep.ancestors()[0].class, ClassId(100));
        assert_eq!(deep.ancestors()[1].class, ClassId(173));
    }

    /// Octets from outside may say the last level there is, and levels stay there.
    #[test]
    fn the_last_level_overflows_nowhere() {
        let mut bytes = chain_of(0).to_bytes(MAX_BYTES).to_vec();
        bytes[6..8].copy_from_slice(&[0xff, 0xff]);
        let deepest = Correlator::decode(&bytes).unwrap();
        assert_eq!((deepest.level(), deepest.dropped()), (u16::MAX, u16::MAX));
        let child = deepest.child(TransactionId(2), Ancestor::default());
        assert_eq!((child.level(), child.dropped()), (u16::MAX, u16::MAX - 1));
    }

    #[test]
    fn errors_say_where() {
        let mut bytes = chain_of(0).to_bytes(MAX_BYTES).to_vec();
        assert_eq!(
            Correlator::decode(&bytes[..50]).unwrap_err().to_string(),
            "correlator is cut: 50 octets, 64 expected"
        );
        bytes[5] = 3;
        assert_eq!(
            Correlator::decode(&bytes).unwrap_err().to_string(),
            "octets 0-1: length 64 does not fit 3 ancestors (octet 5)"
        );
        bytes[2] = 0;
        assert_eq!(Correlator::decode(&bytes).unwrap_err(), CorrelatorError::Format(0));
    }

    proptest! {
        #[test]
        fn whatever_fits_reads_back(levels in 0u64..40, max in 48usize..=512) {
            let sent = chain_of(levels);
            let bytes = sent.to_bytes(max);
            prop_assert!(bytes.len() <= max);
            let got = Correlator::decode(&bytes).unwrap();
            prop_assert_eq!(got.chain(), sent.chain());
            prop_assert_eq!(got.parent(), sent.parent());
            prop_assert_eq!(got.level(), sent.level());
            if bytes.dropped() == 0 {
                prop_assert_eq!(got, sent);
            }
        }

        /// Whatever arrives is refused or understood; understood means it is written the same.
        #[test]
        fn garbage_is_refused_or_stable(
            mut bytes in prop::collection::vec(any::<u8>(), 0..600),
            count in 0u8..32,
        ) {
            if bytes.len() > 48 && count < 30 {
                let length = (48 + u16::from(count) * 16).to_be_bytes();
                bytes[..6].copy_from_slice(&[length[0], length[1], FORMAT, 0x10, 1, count]);
            }
            if let Ok(read) = Correlator::decode(&bytes) {
                let again = Correlator::decode(&read.to_bytes(MAX_BYTES)).unwrap();
                prop_assert_eq!(again, read);
            }
        }
    }
}
