//! Another root folder, another user, and the one capability that may stay.
#![allow(unsafe_code)] // capset and prctl, which nix does not have

use crate::args::Args;
use nix::sys::prctl;
use nix::unistd::{
    Gid, Uid, User, chroot, geteuid, getuid, initgroups, setegid, seteuid, setgid, setuid,
};
use std::ffi::CString;
use std::io;
use std::path::PathBuf;

/// Reasons why a process cannot get, or cannot drop, its privileges.
#[derive(Debug, thiserror::Error)]
pub enum PrivilegeError {
    /// No user has that name.
    #[error("no user {user} exists: -u needs a user of /etc/passwd")]
    NoUser {
        /// Name of the user.
        user: String,
    },
    /// A server is reached from outside; root it must not be.
    #[error(
        "refusing to run as root: start with -u USER, or as that user (in a container whose root \
         has no rights outside: --allow-root)"
    )]
    Root,
    /// A root process gets out of a chroot.
    #[error("-t needs -u with a user that is not root, and to be started as root")]
    RootInChroot,
    /// Only root may change the user.
    #[error("-u {user} needs to be started as root")]
    NotRoot {
        /// Name of the wanted user.
        user: String,
    },
    /// The system refused.
    #[error("{what}: {source}")]
    System {
        /// The operation that failed.
        what: String,
        /// Error of the system.
        source: io::Error,
    },
}

fn system(what: impl Into<String>) -> impl FnOnce(nix::errno::Errno) -> PrivilegeError {
    move |errno| PrivilegeError::System { what: what.into(), source: errno.into() }
}

/// User, root folder and capabilities that the process is to have.
pub(super) struct Privileges {
    /// User to become; `None` to keep the present one.
    user: Option<User>,
    root: Option<PathBuf>,
}

impl Privileges {
    /// Reads the wanted privileges from the command line. Names are looked up before the chroot,
    /// which may have no user table. After a live upgrade everything is done already.
    pub(super) fn find(args: &Args) -> Result<Self, PrivilegeError> {
        if args.live_upgrade {
            return Ok(Self { user: None, root: None });
        }
        let user = match &args.user {
            None => None,
            Some(name) => {
                let found = User::from_name(name).map_err(system(format!("user {name}")))?;
                Some(found.ok_or_else(|| PrivilegeError::NoUser { user: name.clone() })?)
            }
        };
        if let Some(user) = &user
            && !getuid().is_root()
        {
            // The process has the wanted user already.
            if user.uid == getuid() && args.chroot.is_none() {
                return Ok(Self { user: None, root: None });
            }
            return Err(PrivilegeError::NotRoot { user: user.name.clone() });
        }
        let unprivileged = user.as_ref().is_some_and(|user| !user.uid.is_root());
        if args.chroot.is_some() && !unprivileged {
            return Err(PrivilegeError::RootInChroot);
        }
        Ok(Self { user, root: args.chroot.clone() })
    }

    pub(super) fn changes_root(&self) -> bool {
        self.root.is_some()
    }

    pub(super) fn change_root(&self) -> Result<(), PrivilegeError> {
        let Some(root) = &self.root else { return Ok(()) };
        let shown = root.display();
        chroot(root).map_err(system(format!("chroot to {shown}")))?;
        nix::unistd::chdir("/").map_err(system(format!("chdir into {shown}")))
    }

    /// Opens files as the wanted user from now on.
    pub(super) fn act_as_user(&self) -> Result<(), PrivilegeError> {
        let Some(user) = &self.user else { return Ok(()) };
        let name = CString::new(user.name.clone()).map_err(|error| PrivilegeError::System {
            what: "name of the user".to_owned(),
            source: error.into(),
        })?;
        initgroups(&name, user.gid).map_err(system("setting groups"))?;
        setegid(user.gid).map_err(system("setting the effective group"))?;
        seteuid(user.uid).map_err(system("setting the effective user"))
    }

    /// For limits, which only root raises.
    pub(super) fn act_as_root(&self) -> Result<(), PrivilegeError> {
        match &self.user {
            Some(_) => seteuid(Uid::from_raw(0)).map_err(system("going back to root")),
            None => Ok(()),
        }
    }

    /// Becomes the user for good. With `low_ports`, the capability to bind ports below 1024 stays,
    /// also across the `exec` of a live upgrade. Whether there is that capability.
    pub(super) fn become_user(&self, low_ports: bool) -> Result<bool, PrivilegeError> {
        let Some(user) = &self.user else { return Ok(may_bind_low_ports()) };
        if low_ports {
            prctl::set_keepcaps(true).map_err(system("keeping capabilities"))?;
        }
        change_for_good(user.uid, user.gid)?;
        if low_ports && !user.uid.is_root() {
            keep_low_ports()?;
        }
        Ok(may_bind_low_ports())
    }
}

fn change_for_good(uid: Uid, gid: Gid) -> Result<(), PrivilegeError> {
    setgid(gid).map_err(system("setting the group"))?;
    setuid(uid).map_err(system("setting the user"))?;
    // There must be no way back.
    if !uid.is_root() && seteuid(Uid::from_raw(0)).is_ok() {
        let source = io::Error::other("the process was able to become root again");
        return Err(PrivilegeError::System { what: "setting the user".to_owned(), source });
    }
    Ok(())
}

/// Refuses to go on as root, unless that was allowed.
pub(super) fn refuse_root(args: &Args) -> Result<(), PrivilegeError> {
    let root = getuid().is_root() || geteuid().is_root();
    if root && !args.allow_root && !args.check { Err(PrivilegeError::Root) } else { Ok(()) }
}

/// `CAP_NET_BIND_SERVICE` of capabilities(7).
const BIND: libc::c_ulong = 10;
/// `_LINUX_CAPABILITY_VERSION_3`: two words of each set.
const VERSION: u32 = 0x2008_0522;

#[repr(C)]
struct Header {
    version: u32,
    pid: libc::c_int,
}

#[repr(C)]
#[derive(Clone, Copy, Default)]
struct Word {
    effective: u32,
    permitted: u32,
    inheritable: u32,
}

/// Drops every capability except the one for low ports, which is made ambient: an `exec` keeps it.
fn keep_low_ports() -> Result<(), PrivilegeError> {
    let set = 1 << BIND;
    let words = [Word { effective: set, permitted: set, inheritable: set }, Word::default()];
    let header = Header { version: VERSION, pid: 0 };
    // SAFETY: both structures are as capset(2) lays them out for this version, and live until it
    // returns; it only reads them.
    let done = unsafe { libc::syscall(libc::SYS_capset, &raw const header, words.as_ptr()) };
    check(done, "keeping the capability to bind low ports")?;
    let zero: libc::c_ulong = 0;
    // SAFETY: takes numbers only.
    let done =
        unsafe { libc::prctl(libc::PR_CAP_AMBIENT, libc::PR_CAP_AMBIENT_RAISE, BIND, zero, zero) };
    check(done.into(), "keeping the capability to bind low ports across an upgrade")
}

fn check(done: libc::c_long, what: &str) -> Result<(), PrivilegeError> {
    if done == 0 {
        return Ok(());
    }
    Err(PrivilegeError::System { what: what.to_owned(), source: io::Error::last_os_error() })
}

fn may_bind_low_ports() -> bool {
    let mut words = [Word::default(); 2];
    let header = Header { version: VERSION, pid: 0 };
    // SAFETY: as in `keep_low_ports`; the kernel writes two words, for which there is room.
    let done = unsafe { libc::syscall(libc::SYS_capget, &raw const header, words.as_mut_ptr()) };
    done == 0 && words[0].effective & (1 << BIND) != 0
}
