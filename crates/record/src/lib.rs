//! Under construction: the interface is complete, the ring behind it is not yet.

mod class;
mod draft;
mod future;
mod guard;
pub mod read;
mod started;

pub use chronoscope_model::{Correlator, CorrelatorError, Status};
pub use chronoscope_record_macros::transaction;
pub use class::Class;
pub use draft::{current, init};
pub use future::Measured;
pub use guard::{Guard, status_of};
pub use started::Started;
