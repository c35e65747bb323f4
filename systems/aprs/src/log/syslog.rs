//! The system's log: one datagram a line to the socket `/dev/log`, as the C library sends them
//! (RFC 3164 §4.1 without the host).

use super::stamp::{Stamp, civil};
use crate::engine::LogLevel;
use std::io;
use std::os::unix::net::UnixDatagram;
use std::path::{Path, PathBuf};

/// Facility `daemon`.
const FACILITY: u8 = 3 << 3;
const MONTHS: [&str; 12] =
    ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];

/// A connection to the system's log.
#[derive(Debug)]
pub(super) struct Syslog {
    path: PathBuf,
    socket: UnixDatagram,
}

impl Syslog {
    pub(super) fn connect(path: &Path) -> io::Result<Self> {
        Ok(Self { path: path.to_owned(), socket: connect(path)? })
    }

    /// Sends a line without waiting. Where the system's log was started anew meanwhile, it is looked
    /// for once more.
    pub(super) fn send(&mut self, name: &str, level: LogLevel, text: &str) -> io::Result<()> {
        let priority = FACILITY | severity(level);
        let stamp = stamp(chronoscope_clock::utc_now_ns());
        let line = format!("<{priority}>{stamp} {name}[{}]: {text}", std::process::id());
        match self.socket.send(line.as_bytes()) {
            Ok(_) => Ok(()),
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => Err(error),
            Err(_) => {
                self.socket = connect(&self.path)?;
                self.socket.send(line.as_bytes()).map(drop)
            }
        }
    }
}

fn connect(path: &Path) -> io::Result<UnixDatagram> {
    let socket = UnixDatagram::unbound()?;
    socket.connect(path)?;
    socket.set_nonblocking(true)?;
    Ok(socket)
}

fn severity(level: LogLevel) -> u8 {
    match level {
        LogLevel::Critical => 2,
        LogLevel::Error => 3,
        LogLevel::Warning => 4,
        LogLevel::Info => 6,
        LogLevel::Debug => 7,
    }
}

/// `Nov  2 04:31:02`. UTC: the rules of local time may be outside a chroot, and both journald and
/// rsyslog stamp lines themselves.
fn stamp(utc_ns: i64) -> String {
    let (_, month, day) = civil(utc_ns.div_euclid(86_400_000_000_000));
    let month = MONTHS[usize::try_from(month - 1).unwrap_or(0) % 12];
    let time = Stamp(utc_ns).to_string();
    let time = time.get(11..19).unwrap_or_default();
    format!("{month} {day:2} {time}")
}

#[cfg(test)]
mod tests {
    use super::stamp;

    #[test]
    fn stamps_have_the_form_of_rfc_3164() {
        assert_eq!(stamp(1_793_594_000_000_000_000), "Nov  2 04:33:20");
        assert_eq!(stamp(0), "Jan  1 00:00:00");
    }
}
