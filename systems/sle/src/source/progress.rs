//! Result of a read from a frame source, and the maximum length of a frame.

/// Longest frame in octets: what a TRANSFER-DATA can carry.
pub const FRAME_OCTETS_MAX: usize = 65_536;

/// Result of a read from a frame source.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReadProgress {
    /// More frames may be available at once.
    More,
    /// The next frame comes at that instant of the monotonic clock.
    At(u64),
    /// There are no more frames.
    End,
}
