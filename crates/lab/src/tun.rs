//! TUN devices and interfaces' addresses, by `ioctl`.
#![allow(unsafe_code)]
// The kernel's flags and families are int in its headers and short in its structures.
#![allow(clippy::cast_possible_truncation)]

use std::fs::{File, OpenOptions};
use std::io;
use std::net::{Ipv4Addr, UdpSocket};
use std::os::fd::AsRawFd;
use std::os::unix::fs::OpenOptionsExt;

/// Makes a TUN device in the calling thread's network namespace, with its address in the network of
/// `mask`, and brings it up. Reads and writes of the file are IP packets and do not block.
///
/// # Errors
/// Error of the system, with the step that it refused.
pub fn open(name: &str, address: Ipv4Addr, mask: Ipv4Addr, mtu: i32) -> io::Result<File> {
    let file = OpenOptions::new()
        .read(true)
        .write(true)
        .custom_flags(libc::O_NONBLOCK)
        .open("/dev/net/tun")
        .map_err(|e| at("open /dev/net/tun", &e))?;
    let mut request = named(name)?;
    request.ifr_ifru.ifru_flags = (libc::IFF_TUN | libc::IFF_NO_PI) as libc::c_short;
    ioctl(&file, libc::TUNSETIFF, &mut request).map_err(|e| at("TUNSETIFF", &e))?;

    let socket = UdpSocket::bind((Ipv4Addr::UNSPECIFIED, 0))?;
    let mut request = named(name)?;
    request.ifr_ifru.ifru_addr = sockaddr(address);
    ioctl(&socket, libc::SIOCSIFADDR, &mut request).map_err(|e| at("SIOCSIFADDR", &e))?;
    request.ifr_ifru.ifru_netmask = sockaddr(mask);
    ioctl(&socket, libc::SIOCSIFNETMASK, &mut request).map_err(|e| at("SIOCSIFNETMASK", &e))?;
    set_mtu(name, mtu)?;
    // A whole window may stand before the device: packets are dropped by elements only.
    request.ifr_ifru.ifru_metric = QUEUE_PACKETS;
    ioctl(&socket, libc::SIOCSIFTXQLEN, &mut request).map_err(|e| at("SIOCSIFTXQLEN", &e))?;
    up(name)?;
    Ok(file)
}

const QUEUE_PACKETS: i32 = 20_000;

/// Sets the longest packet of an interface of the calling thread's namespace, in octets.
///
/// # Errors
/// Error of the system.
pub(crate) fn set_mtu(name: &str, mtu: i32) -> io::Result<()> {
    let socket = UdpSocket::bind((Ipv4Addr::UNSPECIFIED, 0))?;
    let mut request = named(name)?;
    request.ifr_ifru.ifru_mtu = mtu;
    ioctl(&socket, libc::SIOCSIFMTU, &mut request).map_err(|e| at("SIOCSIFMTU", &e))
}

/// Brings an interface up.
///
/// # Errors
/// Error of the system.
pub(crate) fn up(name: &str) -> io::Result<()> {
    let socket = UdpSocket::bind((Ipv4Addr::UNSPECIFIED, 0))?;
    let mut request = named(name)?;
    ioctl(&socket, libc::SIOCGIFFLAGS, &mut request).map_err(|e| at("SIOCGIFFLAGS", &e))?;
    // SAFETY: SIOCGIFFLAGS has filled this member.
    let flags = unsafe { request.ifr_ifru.ifru_flags };
    request.ifr_ifru.ifru_flags = flags | libc::IFF_UP as libc::c_short;
    ioctl(&socket, libc::SIOCSIFFLAGS, &mut request).map_err(|e| at("SIOCSIFFLAGS", &e))
}

fn at(step: &str, error: &io::Error) -> io::Error {
    io::Error::new(error.kind(), format!("{step}: {error}"))
}

fn named(name: &str) -> io::Result<libc::ifreq> {
    // SAFETY: an ifreq is integers and addresses; all zero is a value of it.
    let mut request: libc::ifreq = unsafe { std::mem::zeroed() };
    if name.len() >= request.ifr_name.len() {
        return Err(io::Error::new(io::ErrorKind::InvalidInput, format!("{name} is too long")));
    }
    for (to, from) in request.ifr_name.iter_mut().zip(name.bytes()) {
        *to = from.cast_signed();
    }
    Ok(request)
}

fn sockaddr(address: Ipv4Addr) -> libc::sockaddr {
    let mut data = [0; 14]; // port, address, nothing
    for (to, from) in data[2..].iter_mut().zip(address.octets()) {
        *to = from.cast_signed();
    }
    libc::sockaddr { sa_family: libc::AF_INET as libc::sa_family_t, sa_data: data }
}

fn ioctl(file: &impl AsRawFd, what: libc::Ioctl, request: &mut libc::ifreq) -> io::Result<()> {
    // SAFETY: every request used here reads or writes one ifreq, which lives until the call is
    // over; the descriptor is open as long as its owner is borrowed.
    match unsafe { libc::ioctl(file.as_raw_fd(), what, std::ptr::from_mut(request)) } {
        -1 => Err(io::Error::last_os_error()),
        _ => Ok(()),
    }
}
