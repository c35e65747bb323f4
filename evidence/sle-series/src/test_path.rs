//! Path between the measured programs: on loopback, or at the ends of a delayed path.

use anyhow::{Context, Result};
use chronoscope_clock::monotonic_ns;
use chronoscope_lab::{Element, Namespace};
use std::fs;
use std::net::{IpAddr, Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::process::Command;
use std::time::Duration;

use crate::child::Process;
use crate::delay::{Buffers, End, Path, Relay};

/// Octets of a packet on Ethernet.
const ETHERNET_MTU: u16 = 1500;

/// Two ends, and what is between.
pub(crate) enum TestPath {
    /// One machine, no delay.
    Loopback,
    /// One machine, no delay, in a namespace whose loopback has Ethernet's segments: no link that
    /// could be the limit, and no thread that carries packets.
    Segmented(Namespace),
    /// Packets are delayed, TCP runs end to end.
    Delayed(Path),
    /// Octets are delayed between two connections: no namespaces may be made here.
    Relayed { one_way: Duration, window: usize },
}

/// The buffers of an end, and of what delay there is.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Link {
    pub(crate) rtt: Duration,
    /// Octets; `None`: the machine's own.
    pub(crate) buffers: Option<Buffers>,
    pub(crate) bits_per_s: u64,
}

impl Default for Link {
    /// No delay, and the document's cable.
    fn default() -> Self {
        Self { rtt: Duration::ZERO, buffers: None, bits_per_s: 1_000_000_000 }
    }
}

impl TestPath {
    /// A path with this delay, or the relay with the reason why.
    pub(crate) fn delayed(link: Link) -> Result<(Self, Option<String>)> {
        let delay = link.rtt / 2;
        let bits_per_s = Some(link.bits_per_s);
        match Path::new(Element { delay, bits_per_s, ..Element::default() }) {
            Ok(path) => {
                if let Some(buffers) = link.buffers {
                    path.set_buffers(buffers)?;
                }
                Ok((Self::Delayed(path), None))
            }
            Err(error) => {
                let window = link.buffers.map_or(4 << 20, |buffers| buffers.most) as usize;
                Ok((Self::Relayed { one_way: delay, window }, Some(format!("{error:#}"))))
            }
        }
    }

    /// Loopback with Ethernet's segments; or plain loopback, with the reason why.
    pub(crate) fn segmented() -> (Self, Option<String>) {
        let made = Namespace::new().and_then(|made| {
            made.set_loopback_mtu(ETHERNET_MTU)?;
            Ok(made)
        });
        match made {
            Ok(namespace) => (Self::Segmented(namespace), None),
            Err(error) => (Self::Loopback, Some(format!("segments of loopback: {error}"))),
        }
    }

    /// In a word.
    pub(crate) fn name(&self) -> &'static str {
        match self {
            Self::Loopback => "loopback",
            Self::Segmented(_) => "loopback of a namespace, segments of Ethernet",
            Self::Delayed(_) => "TUN between two network namespaces",
            Self::Relayed { .. } => "relay between sockets (no end-to-end TCP)",
        }
    }

    /// Largest delay of a packet beyond its time since the last call, and number of dropped packets
    /// so far; `None` if no packets are carried.
    pub(crate) fn troubles(&self) -> Option<(f64, u64)> {
        match self {
            Self::Delayed(path) => Some((path.latest().as_secs_f64() * 1e3, path.lost())),
            _ => None,
        }
    }

    /// Starts a program at an end.
    pub(crate) fn start(&self, end: End, name: &str, command: &mut Command) -> Result<Process> {
        match self {
            Self::Delayed(path) => path.end(end).run(|| Process::start(name, command))?,
            Self::Segmented(namespace) => namespace.run(|| Process::start(name, command))?,
            _ => Process::start(name, command),
        }
    }

    /// The address that whoever listens at the far end takes.
    pub(crate) fn far_address(&self) -> Ipv4Addr {
        match self {
            Self::Delayed(_) => End::Far.address(),
            _ => Ipv4Addr::LOCALHOST,
        }
    }

    /// A port that is free at the far end, for programs that do not say which they got.
    pub(crate) fn free_port(&self) -> Result<u16> {
        let free = || -> std::io::Result<u16> {
            Ok(TcpListener::bind((self.far_address(), 0))?.local_addr()?.port())
        };
        Ok(match self {
            Self::Delayed(path) => path.end(End::Far).run(free)??,
            Self::Segmented(namespace) => namespace.run(free)??,
            _ => free()?,
        })
    }

    /// Address at which the near end reaches a port of the far end. The second value must live as
    /// long as the connection.
    pub(crate) fn reach(&self, port: u16) -> Result<(SocketAddr, Option<Relay>)> {
        let to = SocketAddr::new(IpAddr::V4(self.far_address()), port);
        match self {
            Self::Relayed { one_way, window } => {
                let relay = Relay::new(to, *one_way, *window)?;
                Ok((relay.address(), Some(relay)))
            }
            _ => Ok((to, None)),
        }
    }

    /// Acknowledgements that TCP sent by its timer so far, at both ends; `None` where the kernel's
    /// counters are not of this path alone.
    pub(crate) fn delayed_acks(&self) -> Option<u64> {
        let count = || fs::read_to_string("/proc/thread-self/net/netstat");
        let read = |end: &Namespace| -> Option<u64> {
            delayed_acks(&end.run(count).and_then(|text| text).ok()?)
        };
        match self {
            Self::Delayed(path) => Some(read(path.end(End::Near))? + read(path.end(End::Far))?),
            Self::Segmented(namespace) => read(namespace),
            _ => None,
        }
    }

    /// Round trip as connections see it: the least and the median of 9, in ms.
    pub(crate) fn round_trip_ms(&self) -> Result<(f64, f64)> {
        let listen = || TcpListener::bind((self.far_address(), 0));
        let listener = match self {
            Self::Delayed(path) => path.end(End::Far).run(listen)??,
            Self::Segmented(namespace) => namespace.run(listen)??,
            _ => listen()?,
        };
        let to = listener.local_addr()?;
        let connect = || -> std::io::Result<Vec<u64>> {
            (0..9)
                .map(|_| {
                    let before_ns = monotonic_ns();
                    TcpStream::connect(to).map(|_| monotonic_ns() - before_ns)
                })
                .collect()
        };
        let mut took_ns = match self {
            Self::Delayed(path) => path.end(End::Near).run(connect)??,
            Self::Segmented(namespace) => namespace.run(connect)??,
            Self::Loopback => connect()?,
            // The relay accepts at once: its delay is its setting.
            Self::Relayed { one_way, .. } => {
                vec![u64::try_from(2 * one_way.as_nanos()).unwrap_or(u64::MAX); 9]
            }
        };
        took_ns.sort_unstable();
        let ms = |i: usize| took_ns.get(i).map(|ns| *ns as f64 / 1e6).context("no connection");
        Ok((ms(0)?, ms(4)?))
    }
}

/// `DelayedACKs` of the kernel's `/proc/net/netstat`: each table is a line of names and one of numbers.
fn delayed_acks(netstat: &str) -> Option<u64> {
    let mut lines = netstat.lines();
    while let (Some(names), Some(numbers)) = (lines.next(), lines.next()) {
        let at = names.split(' ').position(|name| name == "DelayedACKs");
        if let Some(at) = at {
            return numbers.split(' ').nth(at)?.parse().ok();
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::delayed_acks;

    #[test]
    fn a_counter_of_the_kernel_is_found_by_its_name() {
        let netstat =
            "TcpExt: SyncookiesSent DelayedACKs X\nTcpExt: 1 22 333\nIpExt: A\nIpExt: 4\n";
        assert_eq!(delayed_acks(netstat), Some(22));
        assert_eq!(delayed_acks("TcpExt: X\nTcpExt: 1\n"), None);
        let own = std::fs::read_to_string("/proc/thread-self/net/netstat").unwrap();
        assert!(delayed_acks(&own).is_some(), "{own}");
    }
}
