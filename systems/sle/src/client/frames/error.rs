//! Reasons why a call failed.

use crate::csts::association::SendError;
use crate::csts::pdu::{DataUnitId, Diagnostic};
use crate::csts::procedure::UseError;

/// Why a call failed.
#[derive(Debug, thiserror::Error)]
pub enum FrameError {
    /// The connection could not be established.
    #[error("cannot connect to {address}: {error}")]
    Connect {
        /// Address of the provider.
        address: String,
        /// Error of the operating system.
        error: std::io::Error,
    },
    /// BIND was refused.
    #[error("BIND was refused: {0:?}")]
    BindRefused(Diagnostic),
    /// The operation was refused.
    #[error("{operation} was refused: {diagnostic:?}")]
    Refused {
        /// Name of the operation.
        operation: &'static str,
        /// Diagnostic of the return.
        diagnostic: Diagnostic,
    },
    /// A frame was refused, and with it those that were sent after it.
    #[error("frame {unit} was refused: {diagnostic:?}; the provider expects {expected}")]
    FrameRefused {
        /// Number of the frame.
        unit: DataUnitId,
        /// Diagnostic of the return.
        diagnostic: Diagnostic,
        /// Data unit identification that the provider expects next.
        expected: DataUnitId,
    },
    /// BIND or UNBIND was not sent.
    #[error(transparent)]
    NotSent(#[from] SendError),
    /// The state of the procedure does not allow the operation.
    #[error(transparent)]
    Use(#[from] UseError),
    /// The procedure is locked: the provider accepts no frames before a reset or STOP.
    #[error("the procedure is locked: reset it, or stop and start it")]
    Locked,
    /// The provider did not report the completion of all frames in time.
    #[error("the completion of some frames was not reported in time")]
    TimedOut,
    /// The association is over.
    #[error("the association ended: {0}")]
    Ended(String),
    /// The caller interrupted the call.
    #[error("interrupted")]
    Interrupted,
}
