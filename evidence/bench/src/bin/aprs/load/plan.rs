//! What a run is to do.

use super::trouble::Trouble;
use crate::recording::Recording;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

/// Logins that send: what one sends stays in its order.
pub(crate) const SENDERS: usize = 4;

/// Plan of one run.
#[derive(Clone, Debug)]
pub(crate) struct Plan {
    /// Filter of every receiver; empty for one that gets the full feed.
    pub(crate) filters: Vec<String>,
    /// Clients that get the full feed besides, and only count its octets.
    pub(crate) sinks: usize,
    /// Lines a second, those that are sent twice included.
    pub(crate) rate: f64,
    /// The share of lines that were sent before, in [0, 1).
    pub(crate) duplicates: f64,
    /// Seconds before the figures count.
    pub(crate) warm_s: f64,
    /// Seconds that count.
    pub(crate) window_s: f64,
    /// Packets to send instead of made ones.
    pub(crate) recording: Option<Arc<Recording>>,
    /// A client that must not harm the others.
    pub(crate) trouble: Trouble,
    /// Other connections than the generator's come and go: the server's counters cannot be compared
    /// with the generator's, and are not read.
    pub(crate) others: bool,
    /// Whether a burst of such clients goes on.
    pub(crate) bursting: Arc<AtomicBool>,
}
