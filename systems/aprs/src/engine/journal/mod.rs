//! Journal: a file of all input of a worker, for an exact replay.
//!
//! With one worker the output depends on configuration, seed, the order of input, the instants
//! given with it, and the kernel's answers to writes. The journal has all of these: a frame for
//! each call of [`Worker::input`](super::Worker::input), [`Worker::tick`](super::Worker::tick) and
//! [`Worker::mail`](super::Worker::mail),
//! followed by frames for the answers that [`Output`](super::seam::Output) gave meanwhile. Each event also has the digest
//! of all output before it: [`replay`] finds the first event after which a program behaves
//! differently from the recorded one.
//!
//! Layout, all numbers little-endian: the eight octets `APRSJRN` and the version, 1; a frame with
//! the [`Header`]; frames until the end. A frame is the length of its body (4 octets, in
//! [1, 1,048,576]), the CRC-32 of the body (4 octets), and the body, which begins with its kind. A
//! journal that ends within a frame is of a program that was killed; what is before it counts.
//!
//! Not in it: a change of the configuration during the recording, and what an earlier program left
//! (a live upgrade); a recording begins with an empty server. Recording with more than one worker
//! is refused, because no file has the order in which they took the router's lock.

mod digest;
mod frame;
mod hook;
mod print;
mod replay;
mod writer;

pub use digest::Sent;
pub use frame::{Header, JournalError};
pub use print::print;
pub use replay::{Action, Difference, Replayed, replay};
pub use writer::Journal;

#[cfg(test)]
mod tests;
