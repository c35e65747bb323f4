//! Numbers of invocations and data units.

/// Number of an invocation by which its return is known: one sequence for all procedures of an
/// association.
pub type InvokeId = u32;

/// Number of a data unit, chosen by the user.
pub type DataUnitId = u32;
