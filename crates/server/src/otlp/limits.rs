//! Limits of a request: its size, and the time for its body.

use std::time::Duration;

/// Largest request in bytes, both compressed and decompressed.
pub(super) const REQUEST_BYTES_MAX: usize = 16 << 20;
/// Time within which a request's body must have arrived.
pub(super) const BODY_WITHIN: Duration = Duration::from_secs(10);
