//! A network namespace that lives as long as somebody holds it.

use crate::tun;
use nix::sched::{CloneFlags, setns, unshare};
use std::fs::File;
use std::io;
use std::thread;

/// A network of its own: interfaces, addresses, TCP settings. Gone when this is dropped and no
/// process is in it.
#[derive(Debug)]
pub struct Namespace {
    file: File,
}

impl Namespace {
    /// Makes a namespace, with its loopback interface up.
    ///
    /// # Errors
    /// Error of the system; `PermissionDenied` without the right to make one.
    pub fn new() -> io::Result<Self> {
        // A thread can leave its namespace alone; this one ends in the new one, and the open file
        // keeps it.
        let make = || {
            unshare(CloneFlags::CLONE_NEWNET)?;
            tun::up("lo")?;
            File::open("/proc/thread-self/ns/net")
        };
        Ok(Self { file: in_thread(make)?? })
    }

    /// Sets the longest packet of the loopback interface, in octets (the kernel's: 65,536). With
    /// Ethernet's 1500, TCP has Ethernet's segments without a link between.
    ///
    /// # Errors
    /// Error of the system.
    pub fn set_loopback_mtu(&self, mtu: u16) -> io::Result<()> {
        self.run(|| tun::set_mtu("lo", mtu.into()))?
    }

    /// Does something in a thread that is in the namespace. Sockets and processes that it makes
    /// stay there.
    ///
    /// # Errors
    /// When no thread can be had or it cannot enter. A panic of `what` becomes an error.
    pub fn run<T: Send>(&self, what: impl FnOnce() -> T + Send) -> io::Result<T> {
        in_thread(|| {
            setns(&self.file, CloneFlags::CLONE_NEWNET)?;
            Ok(what())
        })?
    }

    /// Runs `what` as [`Namespace::run`] does, with this host name: only processes that `what`
    /// starts see it.
    ///
    /// # Errors
    /// As [`Namespace::run`], and when the name is refused.
    pub fn run_as<T: Send>(&self, name: &str, what: impl FnOnce() -> T + Send) -> io::Result<T> {
        self.run(|| {
            unshare(CloneFlags::CLONE_NEWUTS)?;
            std::fs::write("/proc/sys/kernel/hostname", name)?;
            Ok(what())
        })?
    }
}

fn in_thread<T: Send>(what: impl FnOnce() -> T + Send) -> io::Result<T> {
    thread::scope(|scope| {
        let thread = thread::Builder::new().name("namespace".into()).spawn_scoped(scope, what)?;
        thread.join().map_err(|_| io::Error::other("the thread in the namespace panicked"))
    })
}
