//! What a source of frames has, and how long a frame may be.

/// Longest frame in octets: what a TRANSFER-DATA can carry.
pub const FRAME_OCTETS_MAX: usize = 65_536;

/// How it goes on after a read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReadProgress {
    /// There may be more at once.
    More,
    /// The next frame comes at that instant of the monotonic clock.
    At(u64),
    /// There is no more.
    End,
}
