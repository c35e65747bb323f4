//! Protocols of lines: those of the login, and where a line begins.

/// An input whose connections carry lines.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Lines {
    /// First lines of a connection without which the others are not accepted; 0 for none.
    pub login: u32,
}

/// Place within a connection's lines.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct LinesState {
    /// Lines that have ended.
    pub(super) ended: u64,
    /// A line has begun and not ended.
    pub(super) is_within: bool,
}

impl LinesState {
    /// Goes on by a part of a line, with its end or without.
    pub(super) fn take(&mut self, part: &[u8]) {
        let ends = part.ends_with(b"\n");
        self.ended += u64::from(ends);
        self.is_within = !ends && (self.is_within || !part.is_empty());
    }
}
