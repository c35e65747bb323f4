//! Bounds of the station's buffer and its reports.

/// Bounds of the buffer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BufferLimits {
    /// Octets of CLTUs that it holds.
    pub octets: u32,
    /// CLTUs that it holds: short ones cost more than their octets.
    pub cltus: usize,
}

impl Default for BufferLimits {
    fn default() -> Self {
        Self { octets: 16 << 20, cltus: 65_536 }
    }
}
