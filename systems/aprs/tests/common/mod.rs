//! A server as a process of its own, and clients of it: tests say what goes in and what comes out,
//! as the specification's lines do.
//!
//! The server is the `aprs-server` of this build. With `APRS_SERVER` in the environment it is
//! another program that takes aprsc's configuration files and options, so that the same tests tell
//! how that one behaves.

#![allow(dead_code, unreachable_pub, unused_imports, clippy::unwrap_used)]

mod client;
mod fake;
mod server;

pub use client::{Client, passcode, text};
pub use fake::{UdpPeer, Upstream};
pub use server::{Server, free_port, loopback};

use std::sync::atomic::{AtomicU32, Ordering};

/// Longest line without CR LF, in octets, as APRS-IS is specified. aprsc takes one octet less.
pub const LINE_LEN_MAX: usize = 510;

/// A number that was not given before by this process.
pub fn unique() -> u32 {
    static NEXT: AtomicU32 = AtomicU32::new(1);
    NEXT.fetch_add(1, Ordering::Relaxed)
}

/// A client or peer that sends lines to the server.
pub trait Sends {
    /// One line; its end is added.
    fn send(&mut self, line: impl AsRef<[u8]>);
}

/// What `from` sends comes out at `to` as `expected`.
#[track_caller]
pub fn passes(
    from: &mut impl Sends,
    to: &mut Client,
    sent: impl AsRef<[u8]>,
    expected: impl AsRef<[u8]>,
) {
    from.send(&sent);
    let received = to.packet();
    assert_eq!(text(&received), text(expected.as_ref()), "sent: {}", text(sent.as_ref()));
}

/// What `from` sends comes out at `to` unchanged.
#[track_caller]
pub fn passes_as_is(from: &mut impl Sends, to: &mut Client, line: impl AsRef<[u8]>) {
    passes(from, to, &line, &line);
}

/// What `from` sends does not come out at `to`, while `after`, sent after it, does: its payload is
/// made unlike any other.
#[track_caller]
pub fn drops(
    from: &mut impl Sends,
    to: &mut Client,
    dropped: impl AsRef<[u8]>,
    after: impl AsRef<[u8]>,
) {
    let mark = format!(" after {}", unique());
    from.send(&dropped);
    from.send([after.as_ref(), mark.as_bytes()].concat());
    let received = to.packet();
    assert!(
        received.ends_with(mark.as_bytes()),
        "sent to be dropped: {}\nreceived: {}",
        text(dropped.as_ref()),
        text(&received)
    );
}
