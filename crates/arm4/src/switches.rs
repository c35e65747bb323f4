//! Switches of the measurements of a transaction, as bits, and their names.

// `CHRONOSCOPE_CONTROL_...` has the positions of these bits.

/// Binding of threads (`arm_bind_thread`).
pub(crate) const BIND_THREAD: u32 = 1 << 0;
pub(crate) const BLOCK: u32 = 1 << 1;
pub(crate) const DIAGNOSTIC: u32 = 1 << 2;
pub(crate) const MESSAGE_EVENT: u32 = 1 << 3;
pub(crate) const METRIC: u32 = 1 << 4;
pub(crate) const USER: u32 = 1 << 5;
/// The transactions themselves.
pub(crate) const TRANSACTION: u32 = 1 << 6;

/// Names in the environment, in the order of their bits.
pub(crate) const NAMES: [&str; 7] =
    ["bind_thread", "block", "diagnostic", "message_event", "metric", "user", "transaction"];
