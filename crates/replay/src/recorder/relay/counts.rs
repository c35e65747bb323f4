//! Counts of what a relay has passed on.

/// Counts of relayed inputs, so far.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RelayCounts {
    /// Datagrams received from outside.
    pub datagram_count: u64,
    /// Datagrams that could not be passed on.
    pub undelivered_count: u64,
    /// Datagrams that the kernel dropped, because they arrived faster than they were read.
    pub kernel_dropped_count: u64,
    /// Datagrams passed back.
    pub answer_count: u64,
    /// Connections from outside.
    pub connection_count: u64,
    /// Connections that the receiver did not accept.
    pub refused_count: u64,
    /// Connections that are open now.
    pub open_count: u64,
    /// Octets of streams received from outside.
    pub inward_bytes: u64,
    /// Octets of streams passed back.
    pub outward_bytes: u64,
    /// Last error, at the system's side or with the relay's own descriptors.
    pub last_error: Option<String>,
}
