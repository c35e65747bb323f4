//! Ports for programs that need a given port, because they cannot report the one they got.

use nix::fcntl::{FcntlArg, fcntl};
use std::fs::{File, OpenOptions};
use std::io;
use std::net::{IpAddr, SocketAddr, TcpListener, UdpSocket};
use std::os::fd::AsFd;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU16, Ordering};

/// Below the ports that Linux gives to clients by default (32768 to 60999, `ip_local_port_range`):
/// no connection takes a reserved port before its server starts.
const PORTS: std::ops::Range<u16> = 20_000..32_000;

/// Reserves a port of `ip` for TCP and UDP until this process ends.
///
/// Other processes of this user that call this get other ports: each port is a byte of one file in
/// the temporary directory, and whoever reserves the port locks its byte.
///
/// # Errors
/// When the file cannot be opened or locked, or no port is free ([`io::ErrorKind::AddrInUse`]).
pub fn reserve_port(ip: IpAddr) -> io::Result<SocketAddr> {
    // Closing a descriptor of the file would end no lock but its own: they are open file description
    // locks. These are never closed.
    static HELD: Mutex<Vec<File>> = Mutex::new(Vec::new());
    static TRIED: AtomicU16 = AtomicU16::new(0);
    let name = format!("chronoscope-ports-{}", nix::unistd::getuid());
    let path = std::env::temp_dir().join(name);
    let count = PORTS.end - PORTS.start;
    // Processes begin at different ports, or each would try all those of the ones before.
    let begin = u16::try_from(std::process::id() * 101 % u32::from(count)).unwrap_or(0);
    for _ in 0..count {
        let step = TRIED.fetch_add(1, Ordering::Relaxed);
        let port = PORTS.start + begin.wrapping_add(step) % count;
        let file = OpenOptions::new().write(true).create(true).truncate(false).open(&path)?;
        if !lock(&file, port)? {
            continue;
        }
        let address = SocketAddr::new(ip, port);
        if TcpListener::bind(address).is_ok() && UdpSocket::bind(address).is_ok() {
            HELD.lock().unwrap_or_else(std::sync::PoisonError::into_inner).push(file);
            return Ok(address);
        }
    }
    Err(io::Error::new(io::ErrorKind::AddrInUse, format!("no port of {ip} in {PORTS:?} is free")))
}

/// Locks the byte of a port; `false` where somebody has it.
#[allow(clippy::cast_possible_truncation)] // the system's small constants
fn lock(file: &File, port: u16) -> io::Result<bool> {
    let range = libc::flock {
        l_type: libc::F_WRLCK as libc::c_short,
        l_whence: libc::SEEK_SET as libc::c_short,
        l_start: libc::off_t::from(port),
        l_len: 1,
        l_pid: 0,
    };
    match fcntl(file.as_fd(), FcntlArg::F_OFD_SETLK(&range)) {
        Ok(_) => Ok(true),
        Err(nix::errno::Errno::EAGAIN | nix::errno::Errno::EACCES) => Ok(false),
        Err(error) => Err(error.into()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;
    use std::net::Ipv4Addr;

    #[test]
    fn a_port_is_reserved_once_and_can_be_listened_at() {
        let ip = IpAddr::V4(Ipv4Addr::LOCALHOST);
        let ports: BTreeSet<_> = (0..50).map(|_| reserve_port(ip).unwrap()).collect();
        assert_eq!(ports.len(), 50);
        for address in ports {
            TcpListener::bind(address).unwrap();
            UdpSocket::bind(address).unwrap();
            // A second open file, as another process has it.
            let path = format!("chronoscope-ports-{}", nix::unistd::getuid());
            let file = File::options().write(true).open(std::env::temp_dir().join(path)).unwrap();
            assert!(!lock(&file, address.port()).unwrap(), "{address} is not held");
        }
    }
}
