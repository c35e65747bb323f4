//! Pure functions on chains: what a chain's rows say about how long things took.

mod hop;
pub mod links;

pub use hop::Hop;
pub use links::{Linker, Place};
