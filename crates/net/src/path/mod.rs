//! Response time of any path, put together from its elements.
//!
//! A request goes from one host to another over links, bridges and gateways, and its reply comes
//! back. The round trip is the sum of what the two hosts take ([`Host`](topology::Kind::Host)) and what every
//! element adds; delays of different elements are taken as independent, so that their distributions
//! are convolved ([`Shape::plus`]). What an element adds is entered, or measured by two probes
//! around it, with and without it ([`element`]). Where an element is busy with other traffic, the
//! wait for its queue comes on top, in each direction ([`queue`]).
//!
//! ```text
//! host A ─ segment ─[ gateway ]─ segment ─[ bridge ]─ segment ─ host B
//!   └ half of A's own round trip              half of B's ┘
//! ```

pub mod around;
pub mod characterise;
pub mod discover;
pub mod element;
pub mod interval;
pub mod predict;
pub mod queue;
pub mod sampling;
mod shape;
pub mod topology;
pub mod trace;
pub mod utilisation;
pub mod watch;

pub use shape::Shape;
