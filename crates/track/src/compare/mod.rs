//! Verdicts: did it move, by how much, and how often would this say so when nothing did?
//!
//! * [`pair`]: one run before, one after. For counts, whose noise is known in parts per million.
//! * [`pairs`]: many interleaved pairs. For times and cycles, whose noise is in percent.
//! * [`threshold`]: how large a change is one, from the changes that a history had.

mod pair;

pub use pair::{
    Exactness, MARGIN, Method, PairsVerdict, Threshold, Verdict, VerdictError, pair, pairs,
    threshold,
};
