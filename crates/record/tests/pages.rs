//! The recorder on a kernel with pages of 64 KiB, as aarch64 has them beside 4 and 16 KiB.
//!
//! In this program `mmap` and `sysconf` are those of such a kernel: a mapping at an address, or from
//! a position in a file, that is no whole number of pages is refused.
#![cfg(not(feature = "off"))]
#![allow(unsafe_code, clippy::unwrap_used)]
#![allow(clippy::cast_possible_truncation)] // addresses have 64 bits

mod support;

use chronoscope_record::{self as record, Class, Storage, class};
use libc::{c_int, c_long, c_void, off_t, size_t};
use support::{drain, of_class, run};

const PAGE: usize = 64 << 10;

static OUTER: Class = class!("outer");
static INNER: Class = class!("inner");
static HANDLE: Class = class!("handle");

/// `mmap` with pages of 64 KiB, for everything in this program but the C library itself.
///
/// # Safety
/// As `mmap`.
#[unsafe(no_mangle)]
unsafe extern "C" fn mmap(
    address: *mut c_void,
    bytes: size_t,
    access: c_int,
    flags: c_int,
    fd: c_int,
    offset: off_t,
) -> *mut c_void {
    let is_fixed = flags & libc::MAP_FIXED != 0;
    let is_whole = (offset as usize).is_multiple_of(PAGE)
        && (!is_fixed || address.addr().is_multiple_of(PAGE));
    // SAFETY: the caller's promise. Anonymous memory is asked for with a page more, so that an
    // address in it is one that such a kernel would have given.
    unsafe {
        if !is_whole {
            *libc::__errno_location() = libc::EINVAL;
            return libc::MAP_FAILED;
        }
        let more = if is_fixed || fd >= 0 { 0 } else { PAGE };
        let call = libc::SYS_mmap;
        let at = libc::syscall(call, address, bytes + more, access, flags, fd, offset) as usize;
        if at == libc::MAP_FAILED as usize || more == 0 {
            return at as *mut c_void;
        }
        at.next_multiple_of(PAGE) as *mut c_void
    }
}

/// `sysconf` of such a kernel.
///
/// # Safety
/// As `sysconf`.
#[unsafe(no_mangle)]
unsafe extern "C" fn sysconf(name: c_int) -> c_long {
    if name == libc::_SC_PAGESIZE {
        return PAGE as c_long;
    }
    // SAFETY: the next definition is the C library's, which has this signature.
    unsafe {
        let next = libc::dlsym(libc::RTLD_NEXT, c"sysconf".as_ptr());
        let next: unsafe extern "C" fn(c_int) -> c_long = std::mem::transmute(next);
        next(name)
    }
}

#[test]
fn child_entry() {
    let Some(scenario) = support::asked_for() else { return };
    record::init("TEST");
    match scenario.as_str() {
        "threads" => threads(4),
        "no_room" => no_room(),
        other => panic!("no scenario {other}"),
    }
}

/// Threads that record one after the other, in blocks of their own.
fn threads(count: usize) {
    let work = |barrier: &std::sync::Barrier| {
        let outer = OUTER.begin();
        HANDLE.start().stop(record::Status::Good);
        drop(INNER.begin());
        drop(outer);
        barrier.wait(); // until all have a block
    };
    let barrier = std::sync::Barrier::new(count);
    std::thread::scope(|scope| {
        for _ in 0..count {
            scope.spawn(|| work(&barrier));
        }
    });
}

/// The file has room for the blocks of one or two threads.
fn no_room() {
    let limit = libc::rlimit { rlim_cur: 800_000, rlim_max: 800_000 };
    // SAFETY: plain calls; the signal would end the program, as it would end any.
    unsafe {
        libc::signal(libc::SIGXFSZ, libc::SIG_IGN);
        libc::setrlimit(libc::RLIMIT_FSIZE, &raw const limit);
    }
    threads(4);
}

#[test]
fn a_ring_grows_by_whole_pages_of_the_kernel() {
    let ran = run("threads");
    let mut ring = ran.ring();
    let counters = ring.counters().unwrap();
    assert_eq!((counters.private_chunks, counters.dropped()), (0, 0), "{}", ran.complained);
    assert_eq!(ring.storage(), Storage::Folder);
    let batch = drain(&mut ring);
    for class in ["outer", "inner", "handle"] {
        assert_eq!(of_class(&ring, &batch, class).len(), 4, "{class}: {}", ran.complained);
    }
    let bytes = std::fs::metadata(&ran.rings()[0]).unwrap().len();
    assert_eq!(bytes % PAGE as u64, 0, "{bytes} bytes");
}

#[test]
fn a_ring_without_room_goes_on_at_a_page_of_the_kernel() {
    let ran = run("no_room");
    let mut ring = ran.ring();
    let counters = ring.counters().unwrap();
    assert!(counters.private_chunks > 0 && counters.dropped() == 0, "{counters:?}");
    assert!(ran.complained.contains("the ring cannot grow"), "{}", ran.complained);
    // What is in the file is whole.
    let batch = drain(&mut ring);
    assert!(batch.records().len() < 12);
}
