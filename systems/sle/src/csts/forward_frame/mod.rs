//! The Forward Frame service (CCSDS 922.3): frames and channel access data units to be radiated, by
//! one of two procedures, over the framework of CCSDS 921.1.
//!
//! A service instance has one prime procedure: Buffered Data Processing, where several frames go in
//! one forward buffer and none is returned, or Sequence-Controlled Data Processing, where each is
//! returned. Beside it is an instance of Information Query, by which a user GETs the configuration
//! parameters of the prime procedure.
//!
//! **What could not be verified.** The text of 922.3 was not to be had. That there are the two
//! procedures and frames of fixed and of variable length is public; its object identifiers, its own
//! refinements of the framework's procedures, and which secondary procedures it has, are not. Here
//! the prime procedures are the framework's own, under their own identifiers, and the service type
//! is a setting ([`service_type`] where nothing is said).

mod config;
mod names;
mod parameter;
mod provider;

pub use config::{ForwardFrameConfig, ProcedureConfig};
pub use names::{VERSION, buffered, information_query, sequence_controlled, service_type};
pub use provider::ForwardFrameProvider;
