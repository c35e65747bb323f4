//! What can be wrong with ASTERIX octets, and with what is to become such.

/// Why octets are not ASTERIX, or why a record cannot be written as such.
///
/// Positions (`at`) count octets from 0 at the start of what was handed to
/// [`decode_block`](super::decode_block).
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum AsterixError {
    /// An item goes on past the end of its block.
    #[error("octet {at}: {item} needs {needed} octets, its block has {left} left")]
    Truncated {
        /// The item, as `I048/040` or `I062/380/ADR`.
        item: &'static str,
        /// Where the item's part that is missing would start.
        at: usize,
        /// Octets that the part takes.
        needed: usize,
        /// Octets between `at` and the end of the block.
        left: usize,
    },
    /// A block's length field names fewer octets than its own header, or more than there are.
    #[error("octet {at}: block of category {category} says {length} octets, {left} are there")]
    BlockLength {
        /// The block's category.
        category: u8,
        /// Where the block starts.
        at: usize,
        /// What its length field says.
        length: usize,
        /// Octets from the start of the block to the end of the datagram.
        left: usize,
    },
    /// Fewer than three octets are left: no block header.
    #[error("octet {at}: {left} octets are too few for a block header")]
    BlockHeader {
        /// Where the header would start.
        at: usize,
        /// How many octets there are.
        left: usize,
    },
    /// The field specification goes on longer than the category or compound item has fields.
    #[error("octet {at}: field specification of {item} is longer than {octets_max} octets")]
    FieldSpecification {
        /// `I048`, or the compound item as `I048/130`.
        item: &'static str,
        /// Where the field specification starts.
        at: usize,
        /// Octets that its fields need at most.
        octets_max: usize,
    },
    /// The field specification names a field that the edition leaves free, whose length is unknown.
    #[error("octet {at}: {item} has no field with reference number {field_reference}")]
    UnknownField {
        /// `I048`, or the compound item as `I034/050`.
        item: &'static str,
        /// Where the field would start.
        at: usize,
        /// The field reference number, from 1.
        field_reference: usize,
    },
    /// An explicit-length field (RE, SP) of length 0, which does not count its own length octet.
    #[error("octet {at}: {item} says length 0, which does not hold its own length octet")]
    ZeroLength {
        /// The field, as `I048/SP`.
        item: &'static str,
        /// Where the length octet is.
        at: usize,
    },
    /// A record without an item that every record of the category has.
    #[error("octet {at}: the record that starts here has no {item}")]
    Missing {
        /// The item.
        item: &'static str,
        /// Where the record starts.
        at: usize,
    },
    /// A value that the item cannot carry (encoding only).
    #[error("{item} carries values from {min} to {max}, not {value}")]
    OutOfRange {
        /// The item.
        item: &'static str,
        /// The value, in the item's unit.
        value: f64,
        /// Least value, in the item's unit.
        min: f64,
        /// Greatest value, in the item's unit.
        max: f64,
    },
    /// Text that the item cannot carry (encoding only).
    #[error("{item} carries {octets_max} characters, not {text:?}")]
    Text {
        /// The item.
        item: &'static str,
        /// The text.
        text: String,
        /// Characters that the item holds.
        octets_max: usize,
    },
    /// More content or repetitions than the item's length octet can count (encoding only).
    #[error("{item} holds at most {max} of them, not {count}")]
    TooMany {
        /// The item.
        item: &'static str,
        /// How many there are.
        count: usize,
        /// How many there may be.
        max: usize,
    },
    /// More records than a block's 16-bit length can count (encoding only).
    #[error("a block of {octets} octets: at most 65535, send fewer records at once")]
    BlockTooLong {
        /// What the block would take.
        octets: usize,
    },
}
