//! Calls of the operating system, made once or seldom.
#![allow(unsafe_code)] // libc

use std::fs::{self, File};
use std::io;
use std::os::fd::AsRawFd;
use std::path::Path;
use std::sync::OnceLock;

/// Bytes of a page of the kernel's: 4, 16 or 64 KiB.
pub(crate) fn page_bytes() -> usize {
    // SAFETY: a plain question.
    usize::try_from(unsafe { libc::sysconf(libc::_SC_PAGESIZE) }).unwrap_or(4096)
}

/// The effective user's number.
pub(crate) fn user() -> u32 {
    // SAFETY: no argument, cannot fail.
    unsafe { libc::geteuid() }
}

/// Whether the process belongs to a group.
pub(crate) fn is_in_group(group: u32) -> bool {
    // SAFETY: no argument, cannot fail.
    if unsafe { libc::getegid() } == group {
        return true;
    }
    // SAFETY: with a length of 0 nothing is written, and the number of groups returned.
    let count = unsafe { libc::getgroups(0, std::ptr::null_mut()) };
    let mut groups = vec![0; usize::try_from(count).unwrap_or(0)];
    // SAFETY: `groups` has room for `count` entries.
    let filled = unsafe { libc::getgroups(count.max(0), groups.as_mut_ptr()) };
    groups.truncate(usize::try_from(filled).unwrap_or(0));
    groups.contains(&group)
}

/// The first piece of a file at or after `from` that is no hole, as its ends; `None` when there is
/// none. A file system that keeps no holes has one piece. Moves the file's position.
pub(crate) fn data_from(file: &File, from: u64) -> io::Result<Option<(u64, u64)>> {
    let seek = |from: u64, whence| {
        let from = libc::off_t::try_from(from).map_err(|_| io::ErrorKind::InvalidInput)?;
        // SAFETY: a plain system call on an open file.
        let at = unsafe { libc::lseek(file.as_raw_fd(), from, whence) };
        u64::try_from(at).map_err(|_| io::Error::last_os_error())
    };
    match seek(from, libc::SEEK_DATA) {
        Ok(data) => seek(data, libc::SEEK_HOLE).map(|hole| Some((data, hole))),
        Err(error) if error.raw_os_error() == Some(libc::ENXIO) => Ok(None),
        Err(error) => Err(error),
    }
}

/// Whether a file is in this machine's memory: on a tmpfs or ramfs, which no other machine has.
#[allow(clippy::unnecessary_cast)] // the field's type is not the same on every processor
pub(crate) fn is_in_memory(file: &File) -> bool {
    const TMPFS: i64 = 0x0102_1994; // linux/magic.h
    const RAMFS: i64 = 0x8584_58f6;
    // SAFETY: all zeroes is a valid value, and the call fills it.
    let found = unsafe {
        let mut found: libc::statfs = std::mem::zeroed();
        (libc::fstatfs(file.as_raw_fd(), &raw mut found) == 0).then_some(found)
    };
    found.is_some_and(|found| [TMPFS, RAMFS].contains(&(found.f_type as i64)))
}

/// The number as which users appear that this process's user namespace does not know, such as the
/// root of the host in a container; `None` where all users are known (user_namespaces(7)).
pub(crate) fn unknown_user() -> Option<u32> {
    static UNKNOWN: OnceLock<Option<u32>> = OnceLock::new();
    *UNKNOWN.get_or_init(|| {
        let map = fs::read_to_string("/proc/self/uid_map").ok()?;
        let everybody = ["0", "0", "4294967295"];
        if map.split_ascii_whitespace().eq(everybody) {
            return None;
        }
        fs::read_to_string("/proc/sys/kernel/overflowuid").ok()?.trim().parse().ok()
    })
}

/// The kernel's number of the calling thread.
pub(crate) fn thread_id() -> u32 {
    // SAFETY: no argument, cannot fail.
    unsafe { libc::gettid() }.cast_unsigned()
}

/// The host's name, or `localhost`.
pub(crate) fn host() -> String {
    let name = fs::read_to_string("/proc/sys/kernel/hostname").unwrap_or_default();
    let name = name.trim();
    if name.is_empty() { "localhost".to_owned() } else { name.to_owned() }
}

/// The program's file name, or `program`.
pub(crate) fn program() -> String {
    let path = std::env::args_os().next().unwrap_or_default();
    Path::new(&path)
        .file_name()
        .map_or_else(|| "program".to_owned(), |name| name.to_string_lossy().into_owned())
}

/// The name that the calling thread goes by, in the kernel's 16 bytes.
pub(crate) fn thread_name() -> [u8; 16] {
    let mut name = [0u8; 16];
    // SAFETY: PR_GET_NAME writes at most 16 bytes.
    unsafe { libc::prctl(libc::PR_GET_NAME, name.as_mut_ptr()) };
    name
}

/// Random bits; falls back to clocks where the kernel gives none.
pub(crate) fn random() -> u64 {
    let mut bytes = [0u8; 8];
    // SAFETY: `bytes` has room for as many as asked for.
    let got = unsafe { libc::getrandom(bytes.as_mut_ptr().cast(), bytes.len(), 0) };
    if got == 8 {
        return u64::from_ne_bytes(bytes);
    }
    let clocks = chronoscope_clock::utc_now_ns().cast_unsigned() ^ (u64::from(thread_id()) << 40);
    clocks.wrapping_mul(0x9e37_79b9_7f4a_7c15)
}

/// Start of a process, in clock ticks since the boot, and whether it is still running rather than a
/// zombie (`/proc/PID/stat`, fields 22 and 3). `None` when there is no such process.
pub(crate) fn process_start(pid: u32) -> Option<(u64, bool)> {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    // The name in field 2 may contain any character: fields are counted from its end.
    let mut fields = stat.rsplit_once(')')?.1.split_ascii_whitespace();
    let state = fields.next()?;
    let start = fields.nth(18)?.parse().ok()?;
    Some((start, !matches!(state, "Z" | "X")))
}

/// The inode of this process's PID namespace; 0 when not known.
pub(crate) fn pid_namespace() -> u64 {
    use std::os::unix::fs::MetadataExt;
    fs::metadata("/proc/self/ns/pid").map_or(0, |namespace| namespace.ino())
}

/// Start of a process, in nanoseconds since the boot. `None` when there is no such process, or it
/// is a zombie.
pub(crate) fn running_since_boot_ns(pid: u32) -> Option<u64> {
    let (ticks, _) = process_start(pid).filter(|(_, is_running)| *is_running)?;
    // SAFETY: a plain question; an unknown name gives -1.
    let per_second = unsafe { libc::sysconf(libc::_SC_CLK_TCK) };
    let per_second = u64::try_from(per_second).ok().filter(|rate| *rate > 0)?;
    ticks.checked_mul(1_000_000_000 / per_second)
}

/// Uptime of the host, in nanoseconds; `None` without `/proc`.
pub(crate) fn uptime_ns() -> Option<u64> {
    let text = fs::read_to_string("/proc/uptime").ok()?;
    let (seconds, hundredths) = text.split_ascii_whitespace().next()?.split_once('.')?;
    let number = |text: &str| text.parse::<u64>().ok();
    number(seconds)?.checked_mul(100)?.checked_add(number(hundredths)?)?.checked_mul(10_000_000)
}

/// Makes the kernel write shared file mappings into core files too: the ring is one, and the
/// default leaves them out (core(5), bit 3).
pub(crate) fn include_ring_in_cores() -> io::Result<()> {
    let path = "/proc/self/coredump_filter";
    let text = fs::read_to_string(path)?;
    let filter = u64::from_str_radix(text.trim(), 16).unwrap_or(0x33);
    if filter & 8 == 0 {
        fs::write(path, format!("{:#x}", filter | 8))?;
    }
    Ok(())
}
