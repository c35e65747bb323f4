//! Verdicts: did a value change, by how much, and how often would the verdict be wrong?
//!
//! * [`pair`]: one run before, one after. For counts, whose noise is known in parts per million.
//! * [`pairs`]: many interleaved pairs. For times and cycles, whose noise is in percent.
//! * [`threshold`]: the smallest significant change, from the changes of a history.

mod pair;

pub use pair::{
    Exactness, MARGIN, Method, PairsVerdict, Threshold, Verdict, VerdictError, pair, pairs,
    threshold,
};
