//! Numbers of a transaction that not every source measures, by their numbers in a context.

/// A number of a transaction that not every source knows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Field {
    /// Arrival time of its input: UTC, nanoseconds since 1970, as the bits of an `i64`.
    Arrival = 1,
    /// Run-queue delay: time that its thread was runnable without a processor, in nanoseconds.
    RunQueue = 2,
    /// Time that its thread was blocked in the kernel, in nanoseconds.
    Blocked = 3,
    /// Its sampling threshold T in [0, 2^56): the row stands for 2^56 / (2^56 − T) rows
    /// (OpenTelemetry, "TraceState: Probability Sampling").
    SamplingThreshold = 4,
}

impl Field {
    /// The field with a number; `None` for one that is not known.
    pub const fn of_number(number: u8) -> Option<Self> {
        match number {
            1 => Some(Self::Arrival),
            2 => Some(Self::RunQueue),
            3 => Some(Self::Blocked),
            4 => Some(Self::SamplingThreshold),
            _ => None,
        }
    }
}
