//! Peers that are wrong, silent, slow, many or gone, against a running provider and a running user,
//! over real sockets: the book's answer, nothing that hangs, bounded memory, and others that notice
//! nothing.
#![allow(clippy::unwrap_used)]

mod contradiction;
mod credentials;
mod crowd;
mod operations;
mod peer;
mod providers;
mod station;
mod stuck;
mod transport;
