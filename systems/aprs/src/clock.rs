//! The present instant, as the engine takes it.

use crate::engine::Now;

/// The present instant on both clocks.
pub(crate) fn now() -> Now {
    Now { monotonic_ns: chronoscope_clock::monotonic_ns(), utc_ns: chronoscope_clock::utc_now_ns() }
}
