//! Reasons why costs beyond instructions cannot be counted.

use super::program::RunError;
use chronoscope_replay::heap::HeapError;

/// Reason why a cost beyond instructions could not be counted.
#[derive(Debug, thiserror::Error)]
pub enum BeyondError {
    /// The program did not run to its end under observation.
    #[error(transparent)]
    Run(#[from] RunError),
    /// The heap's figures cannot be had or read.
    #[error(transparent)]
    Heap(#[from] HeapError),
}
