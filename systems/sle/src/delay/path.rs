//! Two network namespaces with a delayed link between them.

use super::line::{Line, Wire};
use super::priority;
use chronoscope_clock::monotonic_ns;
use chronoscope_lab::{Namespace, tun};
use nix::poll::{PollFd, PollFlags, ppoll};
use nix::sys::time::TimeSpec;
use std::fs::{self, File};
use std::io::{self, Read, Write};
use std::net::Ipv4Addr;
use std::os::fd::AsFd;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread::{self, JoinHandle};
use std::time::Duration;

const MASK: Ipv4Addr = Ipv4Addr::new(255, 255, 255, 0);
const MTU: i32 = 1500; // octets, Ethernet's
const STOP_EVERY: Duration = Duration::from_millis(20); // how long a drop waits at most
const AT_ONCE: usize = 64; // packets of one direction before the other's turn

/// An end of a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// Where the user is.
    Near,
    /// Where the provider is.
    Far,
}

impl End {
    /// Its address, the same in every path: paths do not know of each other.
    #[must_use]
    pub const fn address(self) -> Ipv4Addr {
        match self {
            Self::Near => Ipv4Addr::new(10, 97, 0, 1),
            Self::Far => Ipv4Addr::new(10, 97, 0, 2),
        }
    }
}

/// The most that TCP may take for a connection's buffers, at both ends; it starts with less and
/// grows, unless both are the same.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Buffers {
    /// Octets at the beginning.
    pub first: u32,
    /// Octets at most.
    pub most: u32,
}

/// What a path has carried.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Carried {
    /// Packets, both directions.
    pub packets: u64,
    /// Packets for which there was no room, on the way or at its end.
    pub dropped: u64,
}

/// Why there is no path.
#[derive(Debug, thiserror::Error)]
pub enum DelayError {
    /// Namespaces or TUN devices may not be made here.
    #[error("no delayed path ({step}: {source}); it needs root, or CAP_NET_ADMIN and namespaces")]
    Forbidden {
        /// What was refused.
        step: &'static str,
        /// How.
        source: io::Error,
    },
    /// A setting of TCP was refused.
    #[error("{name} = {value}: {source}")]
    Setting {
        /// Below `/proc/sys/net/ipv4`.
        name: &'static str,
        /// What was to be written.
        value: String,
        /// What the kernel says.
        source: io::Error,
    },
}

/// Two namespaces, each with one interface, and a thread that carries packets between them.
#[derive(Debug)]
pub struct Path {
    near: Namespace,
    far: Namespace,
    shared: Arc<Shared>,
    carrier: Option<JoinHandle<()>>,
}

#[derive(Debug, Default)]
struct Shared {
    stop: AtomicBool,
    packets: AtomicU64,
    dropped: AtomicU64, // by the lines
    refused: AtomicU64, // by the devices
    late_ns: AtomicU64, // since somebody asked
}

impl Path {
    /// Makes the path; packets need `wire.one_way` in each direction.
    ///
    /// # Errors
    /// [`DelayError::Forbidden`] with the step that was refused.
    pub fn new(wire: Wire) -> Result<Self, DelayError> {
        let forbidden = |step| move |source| DelayError::Forbidden { step, source };
        let end = |end: End| -> Result<(Namespace, File), DelayError> {
            let namespace = Namespace::new().map_err(forbidden("network namespace"))?;
            let device = namespace
                .run(|| tun::open("delay0", end.address(), MASK, MTU))
                .and_then(|device| device)
                .map_err(forbidden("TUN device"))?;
            Ok((namespace, device))
        };
        let (near, near_device) = end(End::Near)?;
        let (far, far_device) = end(End::Far)?;
        for namespace in [&near, &far] {
            // What a connection learnt of the path is not to help, or hinder, the next one.
            set(namespace, "tcp_no_metrics_save", "1")?;
        }
        let shared = Arc::new(Shared::default());
        let carrier = thread::Builder::new().name("delay".into()).spawn({
            let shared = Arc::clone(&shared);
            move || carry([near_device, far_device], wire, &shared)
        });
        let carrier = Some(carrier.map_err(forbidden("thread"))?);
        Ok(Self { near, far, shared, carrier })
    }

    /// The namespace of an end: start programs and open sockets there.
    #[must_use]
    pub fn end(&self, end: End) -> &Namespace {
        match end {
            End::Near => &self.near,
            End::Far => &self.far,
        }
    }

    /// Sets TCP's buffers at both ends, for connections that are made from then on.
    ///
    /// # Errors
    /// [`DelayError::Setting`].
    pub fn set_buffers(&self, buffers: Buffers) -> Result<(), DelayError> {
        for end in [End::Near, End::Far] {
            for name in ["tcp_rmem", "tcp_wmem"] {
                let least = buffers.first.min(4096);
                let value = format!("{least} {} {}", buffers.first, buffers.most);
                set(self.end(end), name, &value)?;
            }
        }
        Ok(())
    }

    /// How late a packet left at the most since this was last asked: more than a few milliseconds say
    /// that the machine had no time for the path, and that what was measured on it is too low.
    pub fn latest(&self) -> Duration {
        Duration::from_nanos(self.shared.late_ns.swap(0, Ordering::Relaxed))
    }

    /// What it has carried so far.
    #[must_use]
    pub fn carried(&self) -> Carried {
        Carried {
            packets: self.shared.packets.load(Ordering::Relaxed),
            dropped: self.shared.dropped.load(Ordering::Relaxed)
                + self.shared.refused.load(Ordering::Relaxed),
        }
    }
}

impl Drop for Path {
    fn drop(&mut self) {
        self.shared.stop.store(true, Ordering::Relaxed);
        if let Some(carrier) = self.carrier.take() {
            // A panic in it was reported by its thread.
            let _ = carrier.join();
        }
    }
}

/// Writes a setting of TCP.
fn set(namespace: &Namespace, name: &'static str, value: &str) -> Result<(), DelayError> {
    let write = || fs::write(format!("/proc/sys/net/ipv4/{name}"), value);
    let written = namespace.run(write).and_then(|written| written);
    written.map_err(|source| DelayError::Setting { name, value: value.to_owned(), source })
}

/// Carries packets until it is to stop.
fn carry(devices: [File; 2], wire: Wire, shared: &Shared) {
    priority::raise();
    let mut lines = [Line::new(wire), Line::new(wire)];
    while !shared.stop.load(Ordering::Relaxed) {
        let mut more = false;
        for from in [0, 1] {
            more |= fetch(&devices[from], &mut lines[from]);
            let carried = deliver(&mut lines[from], &devices[1 - from], shared);
            more |= carried == AT_ONCE;
        }
        let dropped = lines.iter().map(Line::dropped).sum::<u64>();
        shared.dropped.store(dropped, Ordering::Relaxed);
        if !more {
            wait(&devices, &lines);
        }
    }
}

/// Takes what came out of a device; whether there may be more.
fn fetch(mut device: &File, line: &mut Line) -> bool {
    let mut packet = [0; 2048];
    for _ in 0..AT_ONCE {
        match device.read(&mut packet) {
            Ok(size) => line.push(monotonic_ns(), packet[..size].to_vec()),
            Err(error) => return error.kind() == io::ErrorKind::Interrupted,
        }
    }
    true
}

/// Puts into a device whatever is due; how many packets.
fn deliver(line: &mut Line, mut device: &File, shared: &Shared) -> usize {
    let now_ns = monotonic_ns();
    let mut carried = 0;
    while carried < AT_ONCE {
        let due_ns = line.due_ns().unwrap_or(now_ns);
        let Some(packet) = line.pop(now_ns) else { break };
        carried += 1;
        shared.late_ns.fetch_max(now_ns.saturating_sub(due_ns), Ordering::Relaxed);
        // A device takes a whole packet or none; one that it refuses is lost, as on any link.
        if device.write(&packet).is_err() {
            shared.refused.fetch_add(1, Ordering::Relaxed);
        }
    }
    shared.packets.fetch_add(carried as u64, Ordering::Relaxed);
    carried
}

fn wait(devices: &[File; 2], lines: &[Line; 2]) {
    let due_ns = lines.iter().filter_map(Line::due_ns).min();
    let now_ns = monotonic_ns();
    let until = due_ns.map_or(STOP_EVERY, |due| Duration::from_nanos(due.saturating_sub(now_ns)));
    let until = TimeSpec::from_duration(until.min(STOP_EVERY));
    let mut ready = [
        PollFd::new(devices[0].as_fd(), PollFlags::POLLIN),
        PollFd::new(devices[1].as_fd(), PollFlags::POLLIN),
    ];
    // Interrupted or not: the next round looks at everything.
    let _ = ppoll(&mut ready, Some(until), None);
}
