//! Limits of the cost of one request.

/// Limits on the cost of one request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Largest number of spans, and of their groups (resources and scopes). Further ones are not
    /// read, because an empty one costs as much as many octets.
    pub spans_max: usize,
    /// Largest size of the rows in bytes, including their contexts.
    pub rows_bytes_max: usize,
    /// Longest name of a span, a service or a host, in bytes.
    pub name_bytes_max: usize,
    /// Largest number of different minutes in which spans start: the store holds every minute
    /// separately.
    pub minutes_max: usize,
    /// Spans that start at this instant or later are refused: UTC, nanoseconds since 1970.
    pub until_ns: i64,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            spans_max: 65_536,
            rows_bytes_max: 64 << 20,
            name_bytes_max: 1_024,
            minutes_max: 240,
            until_ns: i64::MAX,
        }
    }
}
