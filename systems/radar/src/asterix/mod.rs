//! ASTERIX: messages of radars and trackers.
//!
//! Categories 048 ([`cat048::Plot`]), 034 ([`cat034::ServiceMessage`]) and 062
//! ([`cat062::Track`]), as EUROCONTROL-SPEC-0149 parts 4, 2b and 9 give them (editions 1.32,
//! 1.29 and 1.20; the layouts of 1.21 to 1.32 of category 048 differ only in what bits mean).
//! Every item of their profiles is decoded or stepped over at its exact length; which is which
//! stands in the tables of the categories.
//!
//! ```
//! use chronoscope_radar::asterix::{cat048::Plot, decode_block, encode_block, DataSource, Record};
//! let plot = Plot { source: DataSource { sac: 25, sic: 1 }, track_number: Some(7), ..Plot::default() };
//! let mut datagram = Vec::new();
//! encode_block(&[plot.clone()], &mut datagram)?;
//! assert_eq!(datagram, [48, 0, 9, 0x81, 0x10, 25, 1, 0, 7]);
//! assert_eq!(decode_block(&datagram).next(), Some(Ok(Record::Plot(plot))));
//! # Ok::<(), chronoscope_radar::asterix::AsterixError>(())
//! ```
//!
//! Limits: spare bits are read as nothing and written as 0. Memory is bounded by the datagram:
//! a record keeps at most as many octets of lists as were received.
//! Not here: other categories, whose blocks are named ([`Record::Other`]) and stepped over; the
//! contents of RE and SP fields, which are given as octets; the meaning of Mode S registers.

#![allow(clippy::unit_arg, reason = "the encoder of a field is one expression, wrapped in Ok")]
#![allow(private_interfaces, reason = "the trait with the tables cannot be named from outside")]

pub mod cat034;
pub mod cat048;
pub mod cat062;
mod error;
mod values;
mod wire;

pub use error::AsterixError;
pub use values::{Callsign, DataSource, DataSourceError, TimeOfDay};

use wire::Cursor;

/// Octets of a block before its first record: category and length.
const HEADER_OCTETS: usize = 3;

/// One record, or what stands for a block of another category.
#[derive(Clone, Debug, PartialEq)]
#[allow(
    clippy::large_enum_variant,
    reason = "records are handled one at a time, boxing would cost"
)]
pub enum Record {
    /// Category 048: a radar's target report.
    Plot(cat048::Plot),
    /// Category 034: a radar's service message.
    Service(cat034::ServiceMessage),
    /// Category 062: a tracker's track.
    Track(cat062::Track),
    /// A whole block of a category that is not decoded here.
    Other {
        /// Number of the category.
        category: u8,
        /// Octets of the block, header included.
        octets: usize,
    },
}

mod sealed {
    use super::wire::Fields;

    /// Properties shared by the three record types; only they implement it.
    pub trait Category: Default + 'static {
        fn fields() -> &'static Fields<Self>;
        fn into_record(self) -> super::Record;
    }
}

/// A record that [`encode_block`] can write: a plot, a service message or a track.
pub trait EncodeRecord: sealed::Category {
    /// Number of the category.
    const CATEGORY: u8;
    /// The category as errors name it, as `I048`.
    const NAME: &'static str;
    /// Name of the data source identifier, the first field of each of the three profiles, which
    /// every record has.
    const SOURCE: &'static str;
}

/// Appends one block with all `records` to `out`; nothing for no records.
///
/// # Errors
/// [`AsterixError`] when a value does not fit its item or the block gets too long; `out` is then
/// as it was before.
pub fn encode_block<R: EncodeRecord>(records: &[R], out: &mut Vec<u8>) -> Result<(), AsterixError> {
    if records.is_empty() {
        return Ok(());
    }
    let start = out.len();
    out.extend_from_slice(&[R::CATEGORY, 0, 0]);
    let written = records
        .iter()
        .try_for_each(|record| wire::encode_fields(R::fields(), record, out).map(drop));
    let octets = out.len() - start;
    let length = u16::try_from(octets).map_err(|_| AsterixError::BlockTooLong { octets });
    match written.and(length) {
        Ok(length) => {
            out[start + 1..start + HEADER_OCTETS].copy_from_slice(&length.to_be_bytes());
            Ok(())
        }
        Err(error) => {
            out.truncate(start);
            Err(error)
        }
    }
}

/// Decodes the records of one block, or of several one after another as a datagram carries them.
///
/// A record whose structure is broken ends its block, because the start of the next record is
/// unknown: the error is returned once and decoding continues with the next block. A record that
/// only lacks a mandatory item is an error of its own. A broken block header ends everything.
#[must_use]
pub fn decode_block(octets: &[u8]) -> Blocks<'_> {
    Blocks { octets, category: 0, at: 0, end: 0 }
}

/// Iterator over the result of [`decode_block`].
#[derive(Clone, Debug)]
pub struct Blocks<'a> {
    octets: &'a [u8],
    /// Category of the block that contains `at`.
    category: u8,
    /// The next record, or the next block when it equals `end`.
    at: usize,
    /// End of the block that `at` is in.
    end: usize,
}

impl Iterator for Blocks<'_> {
    type Item = Result<Record, AsterixError>;

    fn next(&mut self) -> Option<Self::Item> {
        // A block of no records is stepped over.
        while self.at == self.end {
            if self.at == self.octets.len() {
                return None;
            }
            if let Err(error) = self.enter_block() {
                (self.at, self.end) = (self.octets.len(), self.octets.len());
                return Some(Err(error));
            }
        }
        Some(match self.category {
            34 => self.record::<cat034::ServiceMessage>(),
            48 => self.record::<cat048::Plot>(),
            62 => self.record::<cat062::Track>(),
            category => {
                let octets = self.end - self.at + HEADER_OCTETS;
                self.at = self.end;
                Ok(Record::Other { category, octets })
            }
        })
    }
}

impl std::iter::FusedIterator for Blocks<'_> {}

impl Blocks<'_> {
    fn enter_block(&mut self) -> Result<(), AsterixError> {
        let at = self.at;
        let left = self.octets.len() - at;
        let [category, high, low, ..] = self.octets[at..] else {
            return Err(AsterixError::BlockHeader { at, left });
        };
        let length = usize::from(u16::from_be_bytes([high, low]));
        if length < HEADER_OCTETS || length > left {
            return Err(AsterixError::BlockLength { category, at, length, left });
        }
        self.category = category;
        self.at = at + HEADER_OCTETS;
        self.end = at + length;
        Ok(())
    }

    fn record<R: EncodeRecord>(&mut self) -> Result<Record, AsterixError> {
        let start = self.at;
        let mut cursor = Cursor { octets: self.octets, at: start, end: self.end };
        let mut record = R::default();
        let walked = cursor.fields(R::NAME, R::fields(), |f, o| (f.decode)(&mut record, o));
        self.at = if walked.is_ok() { cursor.at } else { self.end };
        walked?;
        if self.octets[start] & 0x80 == 0 {
            return Err(AsterixError::Missing { item: R::SOURCE, at: start });
        }
        Ok(record.into_record())
    }
}
