//! Prediction of the response time of any path from its elements.
//!
//! A request goes from one host to another over links, bridges and gateways, and its reply comes
//! back. The round trip is the sum of the parts of the two hosts
//! ([`Host`](topology::ElementKind::Host)) and of every element between them; delays of different
//! elements are taken as independent, so their distributions are convolved ([`Shape::plus`]). The
//! part of an element is entered, or measured by two probes around it, with and without it
//! ([`element`]). A message of several packets ([`message`]) is passed on packet by packet, while
//! further ones follow ([`transit`]). Where an element is busy with other traffic, the wait in its
//! queue is added, in each direction ([`queue`]).
//!
//! ```text
//! host A ─ segment ─[ gateway ]─ segment ─[ bridge ]─ segment ─ host B
//!   └ half of A's own round trip              half of B's ┘
//! ```

pub mod around;
pub mod characterise;
pub mod discover;
pub mod element;
mod further;
pub mod interval;
pub mod message;
pub mod parts;
pub mod predict;
pub mod queue;
pub mod sampling;
mod shape;
pub mod topology;
pub mod trace;
pub mod transit;
pub mod utilisation;
pub mod watch;

pub use shape::Shape;
