//! Two network namespaces with a delayed link between them.

use anyhow::{Context, Result};
use chronoscope_lab::{Element, Joint, Lab, Namespace, Plan};
use std::fs;
use std::net::Ipv4Addr;
use std::time::Duration;

/// An end of a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum End {
    /// The user's end.
    Near,
    /// The provider's end.
    Far,
}

impl End {
    /// Its address, the same in every path: paths do not know of each other.
    pub(crate) const fn address(self) -> Ipv4Addr {
        match self {
            Self::Near => Ipv4Addr::new(10, 97, 0, 1),
            Self::Far => Ipv4Addr::new(10, 97, 0, 2),
        }
    }
}

/// The most that TCP may take for a connection's buffers, at both ends; it starts with less and
/// grows, unless both are the same.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Buffers {
    /// Octets at the beginning.
    pub(crate) first: u32,
    /// Octets at most.
    pub(crate) most: u32,
}

/// Two namespaces, and packets that take their time from one to the other.
#[derive(Debug)]
pub(crate) struct Path {
    lab: Lab,
}

impl Path {
    /// Makes the path; each direction is a queue with the element's delay and rate of its own.
    ///
    /// # Errors
    /// [`LabError`](chronoscope_lab::LabError) with the step that was refused.
    pub(crate) fn new(each_way: Element) -> Result<Self> {
        let wire = Element { octets_max: usize::MAX / 2, ..Element::default() };
        let lab = Lab::new(Plan {
            segments: vec![wire; 2],
            // A segment is one queue for all its hosts; a bridge has one in each direction.
            joints: vec![Joint { element: each_way, joins: vec![0, 1], address: None }],
            hosts: vec![(End::Near.address(), 0), (End::Far.address(), 1)],
        })?;
        let path = Self { lab };
        for end in [End::Near, End::Far] {
            // What a connection learnt of the path is not to help, or hinder, the next one.
            path.set(end, "tcp_no_metrics_save", "1")?;
        }
        Ok(path)
    }

    /// The namespace of an end: start programs and open sockets there.
    pub(crate) fn end(&self, end: End) -> &Namespace {
        &self.lab.hosts()[end as usize]
    }

    /// Sets TCP's buffers at both ends, for connections that are made from then on.
    ///
    /// # Errors
    /// When the kernel refuses a setting.
    pub(crate) fn set_buffers(&self, buffers: Buffers) -> Result<()> {
        for end in [End::Near, End::Far] {
            for name in ["tcp_rmem", "tcp_wmem"] {
                let least = buffers.first.min(4096);
                self.set(end, name, &format!("{least} {} {}", buffers.first, buffers.most))?;
            }
        }
        Ok(())
    }

    /// Writes a setting of TCP, below `/proc/sys/net/ipv4`.
    fn set(&self, end: End, name: &str, value: &str) -> Result<()> {
        let write = || fs::write(format!("/proc/sys/net/ipv4/{name}"), value);
        let written = self.end(end).run(write).and_then(|written| written);
        written.with_context(|| format!("{name} = {value}"))
    }

    /// The greatest delay by which a packet left after its time since this was last asked: more
    /// than a few milliseconds say that the machine had no time for the path, and that what was
    /// measured on it is too low.
    pub(crate) fn latest(&self) -> Duration {
        self.lab.latest()
    }

    /// Packets for which there was no room so far, on the way or at its end.
    pub(crate) fn lost(&self) -> u64 {
        self.lab.carried().lost
    }
}
