//! Namespaces with the elements between them.

use crate::element::Element;
use crate::fabric::{Fabric, Plan, PlanError};
use crate::namespace::Namespace;
use crate::tun;
use chronoscope_clock::monotonic_ns;
use nix::poll::{PollFd, PollFlags, ppoll};
use nix::sys::epoll::{Epoll, EpollCreateFlags, EpollEvent, EpollFlags, EpollTimeout};
use nix::sys::time::TimeSpec;
use std::fs::File;
use std::io::{self, Read, Write};
use std::net::Ipv4Addr;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::Duration;

const MASK: Ipv4Addr = Ipv4Addr::new(255, 0, 0, 0);
const MTU: i32 = 1500; // octets, Ethernet's
const STOP_EVERY: Duration = Duration::from_millis(20); // how long a drop waits at most
const AT_ONCE: usize = 64; // packets of one host before the others' turn

/// A network that is up. All hosts are in one /8, which makes them neighbours of each other.
#[derive(Debug)]
pub struct Lab {
    hosts: Vec<Namespace>,
    shared: Arc<Shared>,
    carrier: Option<JoinHandle<()>>,
}

/// Counts of packets that a network has carried.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Carried {
    /// Packets that arrived.
    pub packets: u64,
    /// Packets that found no room or no way, or that their host's device refused.
    pub lost: u64,
}

/// Reasons why there is no network.
#[derive(Debug, thiserror::Error)]
pub enum LabError {
    /// Namespaces or TUN devices may not be made here.
    #[error(
        "the network of namespaces cannot be made ({step}: {source}): run as root, or with \
         CAP_NET_ADMIN and user namespaces"
    )]
    Forbidden {
        /// The step that was refused.
        step: &'static str,
        /// Error of the system.
        source: io::Error,
    },
    /// The plan is wrong.
    #[error(transparent)]
    Plan(#[from] PlanError),
}

#[derive(Debug, Default)]
struct Shared {
    stop: AtomicBool,
    packets: AtomicU64,
    refused: AtomicU64, // by the devices
    lost: AtomicU64,    // by the fabric
    late_ns: AtomicU64, // since somebody asked
    changes: Mutex<Vec<(usize, Element)>>,
}

impl Lab {
    /// Makes the network.
    ///
    /// # Errors
    /// [`LabError`] with the step that was refused.
    pub fn new(plan: Plan) -> Result<Self, LabError> {
        let forbidden = |step| move |source| LabError::Forbidden { step, source };
        let addresses: Vec<Ipv4Addr> = plan.hosts.iter().map(|(address, _)| *address).collect();
        let fabric = Fabric::new(plan)?;
        let (mut hosts, mut devices) = (Vec::new(), Vec::new());
        for address in addresses {
            let host = Namespace::new().map_err(forbidden("network namespace"))?;
            let device = host.run(|| tun::open("lab0", address, MASK, MTU)).and_then(|made| made);
            devices.push(device.map_err(forbidden("TUN device"))?);
            hosts.push(host);
        }
        let shared = Arc::new(Shared::default());
        let carrier = Carrier::new(devices, fabric, Arc::clone(&shared));
        let carrier = carrier.map_err(forbidden("epoll"))?;
        let thread = thread::Builder::new().name("lab".into()).spawn(move || carrier.run());
        let carrier = Some(thread.map_err(forbidden("thread"))?);
        Ok(Self { hosts, shared, carrier })
    }

    /// The namespace of a host, by its index in the plan: start programs and open sockets there.
    #[must_use]
    pub fn hosts(&self) -> &[Namespace] {
        &self.hosts
    }

    /// A joint, by its index in the plan, does something else from now on, within some 20 ms. One
    /// that is not there changes nothing.
    pub fn change_joint(&self, joint: usize, element: Element) {
        let mut changes = self.shared.changes.lock().unwrap_or_else(PoisonError::into_inner);
        changes.push((joint, element));
    }

    /// The greatest delay by which a packet was delivered after its time since this was last asked:
    /// more than a few milliseconds say that the machine had no time for the network, and that what
    /// was measured on it is too slow.
    pub fn latest(&self) -> Duration {
        Duration::from_nanos(self.shared.late_ns.swap(0, Ordering::Relaxed))
    }

    /// Counts so far.
    #[must_use]
    pub fn carried(&self) -> Carried {
        let read = |count: &AtomicU64| count.load(Ordering::Relaxed);
        Carried {
            packets: read(&self.shared.packets),
            lost: read(&self.shared.lost) + read(&self.shared.refused),
        }
    }
}

impl Drop for Lab {
    fn drop(&mut self) {
        self.shared.stop.store(true, Ordering::Relaxed);
        if let Some(carrier) = self.carrier.take() {
            // A panic in it was reported by its thread.
            let _ = carrier.join();
        }
    }
}

/// Carries packets between devices.
struct Carrier {
    devices: Vec<File>,
    ready: Epoll,
    fabric: Fabric,
    shared: Arc<Shared>,
}

impl Carrier {
    fn new(devices: Vec<File>, fabric: Fabric, shared: Arc<Shared>) -> io::Result<Self> {
        let ready = Epoll::new(EpollCreateFlags::EPOLL_CLOEXEC)?;
        for (host, device) in devices.iter().enumerate() {
            ready.add(device, EpollEvent::new(EpollFlags::EPOLLIN, host as u64))?;
        }
        Ok(Self { devices, ready, fabric, shared })
    }

    fn run(mut self) {
        // Where it may not, packets are as late as the machine is busy.
        let _ = crate::priority::run_first();
        // Where the kernel refuses, timers keep its default delay of 50 µs.
        let _ = nix::sys::prctl::set_timerslack(1);
        let mut events = vec![EpollEvent::empty(); 256];
        while !self.shared.stop.load(Ordering::Relaxed) {
            self.change();
            let count = self.ready.wait(&mut events, EpollTimeout::ZERO).unwrap_or(0);
            for event in &events[..count] {
                self.fetch(usize::try_from(event.data()).unwrap_or(usize::MAX));
            }
            self.deliver();
            if count == 0 {
                self.wait();
            }
        }
    }

    /// Applies requested changes to joints.
    fn change(&mut self) {
        // The lock is held for a moment only; a change missed now is applied in the next round.
        let Ok(mut changes) = self.shared.changes.try_lock() else { return };
        for (joint, element) in changes.drain(..) {
            self.fabric.change_joint(monotonic_ns(), joint, element);
        }
    }

    /// Takes what a host has sent.
    fn fetch(&mut self, host: usize) {
        let Some(mut device) = self.devices.get(host) else { return };
        let mut packet = [0; 2048];
        for _ in 0..AT_ONCE {
            match device.read(&mut packet) {
                Ok(len) => self.fabric.send(monotonic_ns(), host, packet[..len].to_vec()),
                Err(_) => return,
            }
        }
    }

    /// Gives hosts what has arrived.
    fn deliver(&mut self) {
        loop {
            let now_ns = monotonic_ns();
            let due_ns = self.fabric.due_ns();
            let Some((host, packet)) = self.fabric.arrived(now_ns) else { break };
            let late_ns = due_ns.map_or(0, |due_ns| now_ns.saturating_sub(due_ns));
            self.shared.late_ns.fetch_max(late_ns, Ordering::Relaxed);
            // Before the delivery: the receiver must find it counted.
            self.shared.packets.fetch_add(1, Ordering::Relaxed);
            // A device takes a whole packet or none; one that it refuses is lost, as on any link.
            let taken = self.devices.get(host).map(|mut device| device.write(&packet));
            if !matches!(taken, Some(Ok(_))) {
                self.shared.refused.fetch_add(1, Ordering::Relaxed);
            }
        }
        self.shared.lost.store(self.fabric.lost(), Ordering::Relaxed);
    }

    /// Waits until a packet arrives, or one is due.
    fn wait(&self) {
        let now_ns = monotonic_ns();
        let left = |due_ns: u64| Duration::from_nanos(due_ns.saturating_sub(now_ns));
        let until = self.fabric.due_ns().map_or(STOP_EVERY, left).min(STOP_EVERY);
        let mut ready = [PollFd::new(std::os::fd::AsFd::as_fd(&self.ready.0), PollFlags::POLLIN)];
        // Interrupted or not: the next round looks at everything.
        let _ = ppoll(&mut ready, Some(TimeSpec::from_duration(until)), None);
    }
}
