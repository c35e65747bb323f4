//! Output of a protocol for its connection.

/// Octets and actions for the connection, in this order: octets, then the urgent octet, then the
/// end.
///
/// A protocol fills it; whoever has the socket takes from it. Octets may be taken in parts.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TransportOutput {
    /// Octets of the stream.
    pub octets: Vec<u8>,
    /// PEER-ABORT: this octet as urgent data, and the end of the connection behind it.
    pub urgent: Option<u8>,
    /// Close the connection when all of the above is sent.
    pub close: bool,
    /// Reset the connection at once, even if octets are unsent (TCP's abort).
    pub reset: bool,
}

impl TransportOutput {
    /// Whether this is the end of the connection, once it is done.
    #[must_use]
    pub fn ends(&self) -> bool {
        self.urgent.is_some() || self.close || self.reset
    }

    /// Whether nothing is to be done.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.octets.is_empty() && !self.ends()
    }
}
