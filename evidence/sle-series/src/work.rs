//! The work that is measured: service, sizes, switches of the transport, and for how long.

use std::path::PathBuf;
use std::time::Duration;

/// Service and direction of the data.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Service {
    /// CLTUs, each operation confirmed.
    Fcltu,
    /// Frames, complete online, unconfirmed.
    Raf,
    /// Forward frames (CSTS), Buffered Data Processing, complete, unconfirmed.
    Frames,
    /// Forward frames (CSTS), Sequence-Controlled Data Processing, each confirmed.
    Sequence,
}

/// CLTUs whose radiation is reported.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Reports {
    None,
    /// Of an invocation with several: the last.
    Last,
    Every,
}

/// How a communication server is connected to the provider's application.
#[derive(Clone, Debug)]
pub(crate) enum Through {
    /// TCP on loopback, as in the document's picture.
    Tcp,
    /// A Unix socket at this path.
    Unix(PathBuf),
}

/// The measured work. Both sides of a comparison get the same.
#[derive(Clone, Debug)]
pub(crate) struct Work {
    pub(crate) service: Service,
    /// Of a CLTU, or of a frame.
    pub(crate) octets: u32,
    /// Invocations without their return, at most; in [1, 65535].
    pub(crate) window: u32,
    /// CLTUs in an invocation, or frames in a transfer buffer.
    pub(crate) together: u32,
    /// RAF: frames of `octets` that the provider's application hands over as one, back to back.
    pub(crate) concatenated: u32,
    pub(crate) reports: Reports,
    /// Nagle's algorithm, at both ends.
    pub(crate) nagle: bool,
    /// `Some(true)`: acknowledgements delayed, `Some(false)`: at once, at both ends.
    pub(crate) delayed_ack: Option<bool>,
    /// Congestion control at both ends; empty: the machine's own.
    pub(crate) congestion: &'static str,
    /// Window, buffers and limits are those of a configuration that does not name them.
    pub(crate) shipped: bool,
    /// The application makes each CLTU when it sends it, instead of once before.
    pub(crate) fresh: bool,
    /// Operations are read and written by the ASN.1 declarations alone.
    pub(crate) declared: bool,
    /// Each PDU leaves in a write of its own.
    pub(crate) write_each: bool,
    /// The threads of a program share one CPU.
    pub(crate) one_cpu: bool,
    /// A communication server has the provider's connection to the network.
    pub(crate) through: Option<Through>,
    /// Both programs record their transactions, into this folder; otherwise not at all.
    pub(crate) record: Option<PathBuf>,
}

impl Work {
    /// CLTUs, one an operation, without reports, Nagle off, the kernel's acknowledgements.
    pub(crate) fn fcltu(octets: u32, window: u32) -> Self {
        Self {
            service: Service::Fcltu,
            octets,
            window,
            together: 1,
            concatenated: 1,
            reports: Reports::None,
            nagle: false,
            delayed_ack: None,
            congestion: "cubic",
            shipped: false,
            fresh: false,
            declared: false,
            write_each: false,
            one_cpu: false,
            through: None,
            record: None,
        }
    }

    /// CLTUs with the shipped defaults: window, buffers, congestion control.
    pub(crate) fn shipped(octets: u32) -> Self {
        Self { shipped: true, congestion: "", ..Self::fcltu(octets, 1) }
    }

    /// Forward frames, so many a forward buffer.
    pub(crate) fn frames(octets: u32, together: u32) -> Self {
        Self { service: Service::Frames, together, ..Self::fcltu(octets, 1) }
    }

    /// Forward frames, each returned.
    pub(crate) fn sequence(octets: u32, window: u32) -> Self {
        Self { service: Service::Sequence, ..Self::fcltu(octets, window) }
    }

    /// Frames, so many a buffer.
    pub(crate) fn raf(octets: u32, together: u32) -> Self {
        Self { service: Service::Raf, together, ..Self::fcltu(octets, 1) }
    }

    /// Frames, so many handed over as one data unit, of which a buffer has one.
    pub(crate) fn concatenated(octets: u32, concatenated: u32) -> Self {
        Self { concatenated, ..Self::raf(octets, 1) }
    }
}

/// How long: what does not count, then rounds.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Timing {
    pub(crate) warm: Duration,
    pub(crate) round: Duration,
    pub(crate) rounds: u32,
}
