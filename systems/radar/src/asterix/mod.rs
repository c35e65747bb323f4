//! ASTERIX: messages of radars and trackers.
//!
//! Of sensors categories 048 ([`cat048::Plot`]) and 034 ([`cat034::ServiceMessage`]), of older
//! radars 001 ([`cat001::Report`]) and 002 ([`cat002::ServiceMessage`]), of ADS-B 021
//! ([`cat021::Report`], of editions before 2.0 [`cat021::EarlyReport`]), of multilateration 020 ([`cat020::Report`]) and 010 ([`cat010::Report`]);
//! of trackers 062 ([`cat062::Track`]), 063 ([`cat063::SensorStatus`]) and 065
//! ([`cat065::SystemStatus`]), as EUROCONTROL-SPEC-0149 gives them; the page of each category names
//! its part and edition (the layouts of 1.21 to 1.32 of category 048 differ only in what bits mean).
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
//! contents of RE and SP fields, which are given as octets; the meaning of Mode S registers but 4,0
//! ([`VerticalIntention`]).

#![allow(clippy::unit_arg, reason = "the encoder of a field is one expression, wrapped in Ok")]
#![allow(private_interfaces, reason = "the trait with the tables cannot be named from outside")]

#[macro_use]
mod items;

pub mod cat001;
pub mod cat002;
pub mod cat010;
pub mod cat020;
pub mod cat021;
pub mod cat034;
pub mod cat048;
pub mod cat062;
pub mod cat063;
pub mod cat065;
mod error;
mod intention;
mod values;
mod wire;

pub use error::AsterixError;
pub use intention::{
    FinalStateSelectedAltitude, SelectedAltitude, VerticalIntention, VerticalModes,
};
pub use values::{Callsign, DataSource, DataSourceError, LatLon, TimeOfDay};

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
    /// Category 021: an ADS-B target report.
    AdsB(cat021::Report),
    /// Category 021 before edition 2.0: an ADS-B target report.
    EarlyAdsB(cat021::EarlyReport),
    /// Category 020: a target report of multilateration.
    Multilateration(cat020::Report),
    /// Category 010: a target report at an aerodrome.
    Surface(cat010::Report),
    /// Category 001: an older radar's plot or track.
    OldReport(cat001::Report),
    /// Category 002: an older radar's service message.
    OldService(cat002::ServiceMessage),
    /// Category 063: a tracker's word about a sensor.
    SensorStatus(cat063::SensorStatus),
    /// Category 065: a tracker's word about itself.
    SystemStatus(cat065::SystemStatus),
    /// Octets of 0 where a record or a block would begin: filling up to some length.
    Padding {
        /// Number of octets.
        octets: usize,
    },
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

    /// Properties shared by the record types; only they implement it.
    pub trait Category: Default + 'static {
        /// The user application profile.
        fn fields() -> &'static Fields<Self>;
        /// The profile of this record, in a category that has two.
        fn own_fields(&self) -> &'static Fields<Self> {
            Self::fields()
        }
        /// The profile of the record that `octets` begin with, in a category that has two.
        fn fields_at(_octets: &[u8]) -> &'static Fields<Self> {
            Self::fields()
        }
        fn into_record(self) -> super::Record;
    }
}

/// A record that [`encode_block`] can write.
pub trait EncodeRecord: sealed::Category {
    /// Number of the category.
    const CATEGORY: u8;
    /// The category as errors name it, as `I048`.
    const NAME: &'static str;
    /// Name of the data source identifier, the first field of each profile, which every record
    /// has.
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
        .try_for_each(|record| wire::encode_fields(record.own_fields(), record, out).map(drop));
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
/// only lacks a mandatory item is an error of its own. Octets of 0 up to the end of a block, or after
/// one up to the end of the datagram, are [`Record::Padding`]. A broken block header ends everything.
#[must_use]
pub fn decode_block(octets: &[u8]) -> Blocks<'_> {
    decode_block_of(octets, Editions::default())
}

/// The same, of other editions than the latest: a record does not say which one it is of.
#[must_use]
pub fn decode_block_of(octets: &[u8], editions: Editions) -> Blocks<'_> {
    Blocks { octets, editions, category: 0, at: 0, end: 0 }
}

/// Whose the first record of a block is: its first item in all categories here. The rest is not decoded.
#[must_use]
pub fn source_of(block: &[u8]) -> Option<DataSource> {
    let record = block.get(3..)?;
    let specification = record.iter().position(|octet| octet & 1 == 0)? + 1;
    match (record.first()? & 0x80, record.get(specification..specification + 2)?) {
        (0x80, &[sac, sic]) => Some(DataSource { sac, sic }),
        _ => None,
    }
}

/// The editions of categories that have had several profiles.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Editions {
    /// Of category 021.
    pub adsb: cat021::Edition,
}

/// Iterator over the result of [`decode_block`].
#[derive(Clone, Debug)]
pub struct Blocks<'a> {
    octets: &'a [u8],
    editions: Editions,
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
            // What follows a block may be fill octets: no block begins with category 0.
            if self.at > 0 && self.is_filled(self.octets.len()) {
                return Some(Ok(self.padding(self.octets.len())));
            }
            if let Err(error) = self.enter_block() {
                (self.at, self.end) = (self.octets.len(), self.octets.len());
                return Some(Err(error));
            }
        }
        if known(self.category) && self.is_filled(self.end) {
            return Some(Ok(self.padding(self.end)));
        }
        Some(match self.category {
            1 => self.record::<cat001::Report>(),
            2 => self.record::<cat002::ServiceMessage>(),
            10 => self.record::<cat010::Report>(),
            20 => self.record::<cat020::Report>(),
            21 => self.adsb(),
            63 => self.record::<cat063::SensorStatus>(),
            65 => self.record::<cat065::SystemStatus>(),
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

/// Whether records of a category are decoded here.
fn known(category: u8) -> bool {
    matches!(category, 1 | 2 | 10 | 20 | 21 | 34 | 48 | 62 | 63 | 65)
}

impl Blocks<'_> {
    /// Whether all octets from here to `end` are 0. A record has at least its data source, so that
    /// its first octet is not.
    fn is_filled(&self, end: usize) -> bool {
        self.octets[self.at..end].iter().all(|octet| *octet == 0)
    }

    fn padding(&mut self, end: usize) -> Record {
        let octets = end - self.at;
        (self.at, self.end) = (end, end);
        Record::Padding { octets }
    }

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
        self.record_by(R::fields_at(&self.octets[self.at..self.end]), R::default())
    }

    fn adsb(&mut self) -> Result<Record, AsterixError> {
        let of_023 = match self.editions.adsb {
            cat021::Edition::Current => return self.record::<cat021::Report>(),
            cat021::Edition::Early26 => false,
            cat021::Edition::Early23 => true,
        };
        let record = cat021::EarlyReport { of_023, ..cat021::EarlyReport::default() };
        self.record_by(cat021::EarlyReport::fields_of(of_023), record)
    }

    /// The next record, by a profile; `record` has no items yet.
    fn record_by<R: EncodeRecord>(
        &mut self,
        fields: &wire::Fields<R>,
        mut record: R,
    ) -> Result<Record, AsterixError> {
        let start = self.at;
        let mut cursor = Cursor { octets: self.octets, at: start, end: self.end };
        let walked = cursor.fields(R::NAME, fields, |f, o| (f.decode)(&mut record, o));
        self.at = if walked.is_ok() { cursor.at } else { self.end };
        walked?;
        if self.octets[start] & 0x80 == 0 {
            return Err(AsterixError::Missing { item: R::SOURCE, at: start });
        }
        Ok(record.into_record())
    }
}
