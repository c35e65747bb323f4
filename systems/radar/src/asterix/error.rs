//! Faults of ASTERIX octets, and of records that cannot be encoded.

/// Reason why octets are not ASTERIX, or why a record cannot be encoded.
///
/// Positions (`at`) count octets from 0 at the start of the input of
/// [`decode_block`](super::decode_block).
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum AsterixError {
    /// An item extends past the end of its block.
    #[error("octet {at}: {item} needs {needed} octets, its block has {left} left")]
    Truncated {
        /// The item, as `I048/040` or `I062/380/ADR`.
        item: &'static str,
        /// Start of the missing part of the item.
        at: usize,
        /// Octets that the part takes.
        needed: usize,
        /// Octets between `at` and the end of the block.
        left: usize,
    },
    /// A block's length field names fewer octets than its own header, or more than there are.
    #[error(
        "octet {at}: block of category {category} states a length of {length} octets, but {left} \
         are left"
    )]
    BlockLength {
        /// The block's category.
        category: u8,
        /// Start of the block.
        at: usize,
        /// Value of its length field.
        length: usize,
        /// Octets from the start of the block to the end of the datagram.
        left: usize,
    },
    /// Fewer than three octets are left: no block header.
    #[error("octet {at}: {left} octets are too few for a block header")]
    BlockHeader {
        /// Start of the missing header.
        at: usize,
        /// Number of octets present.
        left: usize,
    },
    /// The field specification is longer than the category or compound item has fields.
    #[error("octet {at}: field specification of {item} is longer than {octets_max} octets")]
    FieldSpecification {
        /// `I048`, or the compound item as `I048/130`.
        item: &'static str,
        /// Start of the field specification.
        at: usize,
        /// Octets that its fields need at most.
        octets_max: usize,
    },
    /// The field specification names a field that the edition leaves free, whose length is unknown.
    #[error("octet {at}: {item} has no field with reference number {field_reference}")]
    UnknownField {
        /// `I048`, or the compound item as `I034/050`.
        item: &'static str,
        /// Start of the field.
        at: usize,
        /// The field reference number, from 1.
        field_reference: usize,
    },
    /// A random field sequence within another one.
    #[error("octet {at}: {item} within a random field sequence")]
    RandomField {
        /// The field, as `I001/RFS`.
        item: &'static str,
        /// Position of its count octet.
        at: usize,
    },
    /// An explicit-length field (RE, SP) of length 0, which does not count its own length octet.
    #[error("octet {at}: {item} states length 0, but the length octet itself counts")]
    ZeroLength {
        /// The field, as `I048/SP`.
        item: &'static str,
        /// Position of the length octet.
        at: usize,
    },
    /// A record without an item that every record of the category has.
    #[error("octet {at}: the record that starts here has no {item}")]
    Missing {
        /// Name of the item.
        item: &'static str,
        /// Start of the record.
        at: usize,
    },
    /// A value that the item cannot carry (encoding only).
    #[error("{item} can hold values from {min} to {max}, not {value}")]
    OutOfRange {
        /// Name of the item.
        item: &'static str,
        /// The value, in the item's unit.
        value: f64,
        /// Least value, in the item's unit.
        min: f64,
        /// Greatest value, in the item's unit.
        max: f64,
    },
    /// Text that the item cannot carry (encoding only).
    #[error("{item} can hold {octets_max} characters, not {text:?}")]
    Text {
        /// Name of the item.
        item: &'static str,
        /// Text that does not fit.
        text: String,
        /// Characters that the item holds.
        octets_max: usize,
    },
    /// More content or repetitions than the item's length octet can count (encoding only).
    #[error("{item} holds at most {max} entries, not {count}")]
    TooMany {
        /// Name of the item.
        item: &'static str,
        /// Number of repetitions present.
        count: usize,
        /// Largest number of repetitions.
        max: usize,
    },
    /// More records than a block's 16-bit length can count (encoding only).
    #[error("a block of {octets} octets: at most 65535, send fewer records at once")]
    BlockTooLong {
        /// Octets that the block would take.
        octets: usize,
    },
}
