//! Limits for rows from outside: time, and number of open minutes.

use std::time::Duration;

/// Time within which rows have to be durable; after it the sender is told to come again.
pub(super) const DURABLE_WITHIN: Duration = Duration::from_secs(10);
/// Minutes that wait for being sealed while rows of the network may open another one that is not
/// near now. Each waits for some two minutes, so that not more than some hundred a minute become
/// files.
pub(super) const OPEN_SLOTS_MAX: usize = 256;
