//! A recorded day, replayed through the real processes in minutes.
//!
//! A *coordinator* owns the clock. Processes take part by the protocol of
//! `docs/formats/virtual-clock.md`: they run until every thread waits, then say until when and what
//! they sent; the coordinator wakes those that have something to read, and when nobody has
//! anything it moves the clock to the next timeout or input.
//!
//! * [`wire`]: the octets between coordinator and process.
//! * [`schedule`]: who runs next and when time moves, as pure code.

pub mod schedule;
pub mod wire;
