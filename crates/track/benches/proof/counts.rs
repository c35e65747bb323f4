//! Counts of a run.

use std::collections::BTreeMap;

/// Counts of a run by process and figure: all values that `chronoscope track compare` judges.
pub(crate) type Counts = BTreeMap<String, u64>;
