//! The clock of a replay's coordinator, for a program that takes part in one
//! (`docs/formats/virtual-clock.md`).
//!
//! Time is a load from the coordinator's page. Waiting goes through libc, where the preload
//! library sees it.
#![allow(unsafe_code)] // a mapped page

use std::fs::File;
use std::os::fd::AsRawFd;
use std::path::Path;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicI64, Ordering};

const PAGE_BYTES: usize = 4096;
const MAGIC: [u8; 8] = *b"CHRONTIM";
/// Version 1 and 1024 slots, as one number.
const VERSION_AND_SLOTS: i64 = 1 | 1024 << 32;

/// The page's first 4096 octets, as numbers.
type Page = [AtomicI64; PAGE_BYTES / 8];

static PAGE: OnceLock<Option<&'static Page>> = OnceLock::new();

/// UTC and the monotonic clock of the coordinator, in ns; `None` outside a replay.
#[inline]
pub(crate) fn now_ns() -> Option<(i64, i64)> {
    let page = (*PAGE.get_or_init(from_environment))?;
    Some((page[2].load(Ordering::Relaxed), page[3].load(Ordering::Relaxed)))
}

/// Origin of stamps in ticks: ticks and UTC at the clock's last move, as the coordinator took them.
/// `None` outside a replay, and where the coordinator gave none.
pub(crate) fn anchor() -> Option<(u64, i64)> {
    let page = (*PAGE.get_or_init(from_environment))?;
    let (ticks, utc_ns) = (page[4].load(Ordering::Relaxed), page[5].load(Ordering::Relaxed));
    (ticks != 0).then_some((ticks.cast_unsigned(), utc_ns))
}

/// The coordinator's [scale](crate::Scale), as its multiplier; `None` as in [`anchor`].
pub(crate) fn multiplier() -> Option<u64> {
    let page = (*PAGE.get_or_init(from_environment))?;
    Some(page[6].load(Ordering::Relaxed).cast_unsigned()).filter(|multiplier| *multiplier != 0)
}

/// Whether [`crate::utc_now_ns`] and [`crate::monotonic_ns`] are a replay's: they stand while any
/// process works, and jump when none does, and are then unrelated to ticks.
#[inline]
pub fn is_virtual() -> bool {
    PAGE.get_or_init(from_environment).is_some()
}

#[cold]
fn from_environment() -> Option<&'static Page> {
    let folder = std::env::var_os("CHRONOSCOPE_TIME")?;
    let path = Path::new(&folder).join("page");
    match map(&path) {
        Ok(page) => Some(page),
        Err(error) => {
            eprintln!("chronoscope: {}: {error}; this process uses the real time", path.display());
            None
        }
    }
}

fn map(path: &Path) -> std::io::Result<&'static Page> {
    let file = File::open(path)?;
    if file.metadata()?.len() < PAGE_BYTES as u64 {
        return Err(std::io::Error::other("the file is too short for a page of a virtual clock"));
    }
    // SAFETY: a fresh mapping of a file that has the page's length; nothing else is there.
    let at = unsafe {
        let (read, shared) = (libc::PROT_READ, libc::MAP_SHARED);
        libc::mmap(std::ptr::null_mut(), PAGE_BYTES, read, shared, file.as_raw_fd(), 0)
    };
    if at == libc::MAP_FAILED {
        return Err(std::io::Error::last_os_error());
    }
    // SAFETY: the mapping is page-aligned, as long as the array and stays until the end; others
    // write it, which atomics allow.
    let page: &'static Page = unsafe { &*at.cast::<Page>() };
    let magic = page[0].load(Ordering::Relaxed).to_ne_bytes();
    if magic != MAGIC || page[1].load(Ordering::Relaxed) != VERSION_AND_SLOTS {
        return Err(std::io::Error::other(
            "not a page of a virtual clock, or a page of another version",
        ));
    }
    Ok(page)
}
