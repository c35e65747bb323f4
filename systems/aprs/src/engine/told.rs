//! Lines of the log about one connection: connected, logged in, closed.

use super::client::{Application, Client, Door};
use super::seam::Now;
use std::fmt;

const NS_PER_S: u64 = 1_000_000_000;

/// Who is at the other end, in front of every line about a connection: address, and login where it
/// is known.
pub(super) struct Who<'a>(pub(super) &'a Client);

impl fmt::Display for Who<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.0.remote)?;
        self.0.login.map_or(Ok(()), |login| write!(f, " {login}"))
    }
}

/// The port or uplink of a connection.
struct Port<'a>(&'a Door);

impl fmt::Display for Port<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            Door::Listener { listener, .. } => write!(f, "\"{}\"", listener.name),
            Door::Uplink { uplink } => write!(f, "uplink \"{}\"", uplink.name),
        }
    }
}

/// The program that a client named; nothing for none.
struct Program<'a>(Option<&'a Application>);

impl fmt::Display for Program<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.map_or(Ok(()), |program| write!(f, ", {} {}", program.name, program.version))
    }
}

/// `ADDRESS: connected to "PORT"`.
pub(super) struct Connected<'a>(pub(super) &'a Client);

impl fmt::Display for Connected<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: connected to {}", Who(self.0), Port(&self.0.door))
    }
}

/// `ADDRESS CALL: logged in to "PORT", verified, PROGRAM VERSION, filter …, packets by UDP to …`.
pub(super) struct LoggedIn<'a> {
    pub(super) client: &'a Client,
    /// The login line had a passcode, be it wrong.
    pub(super) has_passcode: bool,
}

impl fmt::Display for LoggedIn<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { client, has_passcode } = self;
        let how = match (client.verified.is_verified(), has_passcode) {
            (true, _) => "verified",
            (false, true) => "not verified: wrong passcode",
            (false, false) => "not verified: no passcode",
        };
        let program = Program(client.application.as_deref());
        write!(f, "{}: logged in to {}, {how}{program}", Who(client), Port(&client.door))?;
        if let Some(filter) = client.filters.user_text() {
            write!(f, ", filter {filter}")?;
        }
        client.udp.as_deref().map_or(Ok(()), |(_, to)| write!(f, ", packets by UDP to {to}"))
    }
}

/// `ADDRESS CALL: closed: REASON; after …, received …, sent …, PROGRAM VERSION`.
pub(super) struct Closed<'a> {
    pub(super) client: &'a Client,
    pub(super) now: Now,
    pub(super) reason: &'a str,
}

impl fmt::Display for Closed<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { client, now, reason } = self;
        let seconds = now.monotonic_ns.saturating_sub(client.connected.monotonic_ns) / NS_PER_S;
        let counted = &client.counted;
        write!(
            f,
            "{}: closed: {reason}; {} after {seconds} s, received {} packets ({} octets, {} \
             dropped, {} duplicates), sent {} packets ({} octets){}",
            Who(client),
            Port(&client.door),
            counted.packets_rx,
            counted.bytes_rx,
            counted.dropped,
            counted.duplicates,
            counted.packets_tx,
            counted.bytes_tx,
            Program(client.application.as_deref()),
        )
    }
}
