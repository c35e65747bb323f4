//! Reasons why a call failed.

use crate::csts::association::SendError;
use crate::csts::pdu::{DataUnitId, Diagnostic};
use crate::csts::procedure::UseError;

/// Why a call did not do what it was to do.
#[derive(Debug, thiserror::Error)]
pub enum FrameError {
    /// There is no connection.
    #[error("{address}: {error}")]
    Connect {
        /// To where.
        address: String,
        /// Why not.
        error: std::io::Error,
    },
    /// BIND was refused.
    #[error("BIND refused: {0:?}")]
    BindRefused(Diagnostic),
    /// The operation was refused.
    #[error("{operation} refused: {diagnostic:?}")]
    Refused {
        /// Which.
        operation: &'static str,
        /// Diagnostic of the return.
        diagnostic: Diagnostic,
    },
    /// A frame was refused, and with it those that were sent after it.
    #[error("frame {unit} refused: {diagnostic:?}; the provider expects {expected}")]
    FrameRefused {
        /// Which.
        unit: DataUnitId,
        /// Diagnostic of the return.
        diagnostic: Diagnostic,
        /// The number that comes next.
        expected: DataUnitId,
    },
    /// BIND or UNBIND was not sent.
    #[error(transparent)]
    NotSent(#[from] SendError),
    /// The state does not allow it.
    #[error(transparent)]
    Use(#[from] UseError),
    /// The provider takes no frames before a reset, or STOP.
    #[error("the provider is locked: reset, or stop and start")]
    Locked,
    /// Not all that was to be told was told in time.
    #[error("not all frames were told of in time")]
    TimedOut,
    /// The association is over.
    #[error("the association ended: {0}")]
    Ended(String),
    /// Whoever called wanted it no more.
    #[error("interrupted")]
    Interrupted,
}
