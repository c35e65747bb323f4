//! Pure functions on chains: what a chain's rows say about how long things took.

mod assemble;
mod bins;
mod distribution;
mod hop;
pub mod links;
mod paths;
mod runs;
mod select;
mod split;

pub use assemble::{Assembler, Chain, LastLeaves, Standing, Told};
pub use bins::{Bins, Grid};
pub use distribution::{Distribution, QUANTILES, Requirement, Verdict, sort};
pub use hop::Hop;
pub use links::{Linker, Place};
pub use paths::{PathIndex, Paths};
pub use runs::{ChainRows, Partition, ROW_BYTES, Run, merge};
pub use select::{ClassSelector, Level, steps_to_root};
pub use split::{Part, PartStatistics, Split, split};
