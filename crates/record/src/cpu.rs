//! Thread CPU time without a system call.
//!
//! Between two context switches a running thread's CPU clock advances with the ticks, so one exact
//! read stays good until the thread is switched away. A *detector* is a word in the thread's memory
//! that the kernel changes when that may have happened:
//!
//! * **rseq**: the thread's restartable-sequence pointer is set to a descriptor that covers no
//!   code; the kernel clears it on preemption, blocking, migration and signals (rseq(2)). No
//!   permission, no descriptor of a file.
//! * **perf page**: the lock word of a software event's page, which the kernel bumps at every
//!   switch to the thread (`perf_event_mmap_page`). One file descriptor a thread.
//! * **exact**: a word that never matches, so that every read is the system call.
//!
//! The detector must be read after the ticks: a switch between the two is then seen, because an
//! interrupt comes between instructions, never inside their order of retirement.
//!
//! A reading takes time, and the thread may be switched away beside it: [`crate::reckon`].
//!
//! Limits: time that a hypervisor steals, or that interrupts take, counts as CPU until the next
//! exact read, which is at most 10 ms away; a transaction above a millisecond gets its own.
#![allow(unsafe_code)] // the thread's rseq area, perf pages

use crate::CpuMethod;
use crate::reckon::{CpuCount, Reading};
use chronoscope_clock as clock;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering, compiler_fence};

impl CpuMethod {
    /// The requested method if it works here, else the cheapest one that does.
    pub(crate) fn choose(asked: Option<&str>) -> Self {
        match asked {
            Some("off") => Self::Off,
            Some("exact") => Self::Exact,
            // Whether a detector works shows in a sleep, which would move a replay's clock; and
            // every begin reads the CPU clock there anyway.
            _ if clock::is_virtual() => Self::Exact,
            Some("perf") if works(Self::PerfPage) => Self::PerfPage,
            Some("perf") => Self::Exact,
            _ => *[Self::Rseq, Self::PerfPage]
                .iter()
                .find(|method| works(**method))
                .unwrap_or(&Self::Exact),
        }
    }
}

/// A thread's detector: nothing has switched the thread away while `*word == expected`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Detector {
    pub(crate) word: *const AtomicU64,
    pub(crate) expected: u64,
    method: CpuMethod,
    count: CpuCount,
}

static NEVER: AtomicU64 = AtomicU64::new(0);

impl Detector {
    /// The detector of the calling thread; exact where the method cannot be had in this thread.
    pub(crate) fn of_this_thread(method: CpuMethod) -> Self {
        let of =
            |method, word, expected| Self { word, expected, method, count: CpuCount::default() };
        let exact = of(CpuMethod::Exact, &raw const NEVER, 1);
        match method {
            CpuMethod::Rseq => match (rseq_pointer(), descriptor()) {
                (Some(word), Some(expected)) => of(method, word, expected),
                _ => exact,
            },
            CpuMethod::PerfPage => perf_lock_word().map_or(exact, |word| of(method, word, 0)),
            CpuMethod::Exact => exact,
            CpuMethod::Off => of(method, &raw const NEVER, 0),
        }
    }

    /// Whether the thread may have been switched away since [`Self::arm`].
    #[inline(always)]
    pub(crate) fn is_unchanged(&self) -> bool {
        // SAFETY: the word lives as long as its thread, and only that thread asks.
        unsafe { (*self.word).load(Ordering::Relaxed) == self.expected }
    }

    /// Makes it tell the next switch.
    pub(crate) fn arm(&mut self) {
        // SAFETY: as above; the rseq area is the thread's own to write.
        unsafe {
            match self.method {
                CpuMethod::Rseq => (*self.word).store(self.expected, Ordering::Relaxed),
                CpuMethod::PerfPage => self.expected = (*self.word).load(Ordering::Relaxed),
                CpuMethod::Exact | CpuMethod::Off => {}
            }
        }
        compiler_fence(Ordering::SeqCst);
    }

    /// Leaves nothing behind when the thread ends.
    pub(crate) fn disarm(&self) {
        if self.method == CpuMethod::Rseq && self.is_unchanged() {
            // SAFETY: as in `arm`; a pointer that is not ours is left alone.
            unsafe { (*self.word).store(0, Ordering::Relaxed) };
        }
    }

    /// Arms, reads the thread's CPU clock and then takes a stamp: the stamp and its offset, which is
    /// good for later stamps too until the detector changes.
    pub(crate) fn stamp(&mut self, scale: clock::Scale) -> (u64, i64) {
        let reading = self.read(scale);
        let stamp = clock::ticks();
        (stamp, reading.map_or(0, |reading| reading.offset_of(stamp, scale)))
    }

    /// Arms and reads the thread's CPU clock, a short time after a stamp: the stamp's offset, and
    /// that of later stamps, good until the detector changes.
    pub(crate) fn offsets_after(&mut self, stamp: u64, scale: clock::Scale) -> (i64, i64) {
        let reading = self.read(scale);
        reading.map_or((0, 0), |reading| (reading.offset_of(stamp, scale), reading.offset()))
    }

    /// The CPU time that an offset gives to a stamp, in nanoseconds.
    pub(crate) fn cpu_ns_of(&self, stamp: u64, offset: i64, scale: clock::Scale) -> u64 {
        self.count.ns_of(stamp.wrapping_add_signed(offset), scale)
    }

    /// A reading, armed before; none where CPU time is not recorded.
    fn read(&mut self, scale: clock::Scale) -> Option<Reading> {
        if self.method == CpuMethod::Off {
            return None;
        }
        self.arm();
        Some(Reading::take(&mut self.count, scale))
    }
}

/// Whether the method's detector sees a switch: armed, it must survive some work now and then
/// (an interrupt may come between) and must see each of three sleeps.
fn works(method: CpuMethod) -> bool {
    let mut detector = Detector::of_this_thread(method);
    if detector.method != method {
        return false;
    }
    let survives_work = (0..20).any(|_| {
        detector.arm();
        std::hint::black_box(clock::ticks());
        detector.is_unchanged()
    });
    let mut seen = 0;
    // A sleep whose time is over before the kernel gets to switch returns at once: on a machine
    // whose hypervisor takes processors away that happens, and says nothing about the detector.
    for _ in 0..20 {
        let switches = voluntary_switches();
        detector.arm();
        clock::sleep(std::time::Duration::from_micros(50));
        let changed = !detector.is_unchanged();
        if changed {
            seen += 1;
        } else if voluntary_switches() != switches {
            seen = 0;
            break;
        }
        if seen == 3 {
            break;
        }
    }
    detector.disarm();
    survives_work && seen == 3
}

/// Number of times that the calling thread has blocked (getrusage(2), `ru_nvcsw`).
fn voluntary_switches() -> i64 {
    // SAFETY: the kernel fills the structure, for which all zeros is a valid value.
    unsafe {
        let mut usage: libc::rusage = std::mem::zeroed();
        libc::getrusage(libc::RUSAGE_THREAD, &raw mut usage);
        usage.ru_nvcsw
    }
}

/// `rseq_cs` in the area that the C library has registered for the calling thread (glibc ≥ 2.35
/// publishes where it is).
fn rseq_pointer() -> Option<*const AtomicU64> {
    static OFFSET: OnceLock<Option<isize>> = OnceLock::new();
    let offset = (*OFFSET.get_or_init(rseq_offset))?;
    // SAFETY: the C library places its area at this offset from the thread pointer, and `rseq_cs`
    // is 8 bytes into it (linux/rseq.h).
    Some(unsafe { thread_pointer().offset(offset).add(8) }.cast())
}

fn rseq_offset() -> Option<isize> {
    // SAFETY: the names are those of variables of type `unsigned int` and `ptrdiff_t`; looked up by
    // name, because the program must also start where the C library lacks them.
    unsafe {
        let size = libc::dlsym(libc::RTLD_DEFAULT, c"__rseq_size".as_ptr()).cast::<u32>();
        let offset = libc::dlsym(libc::RTLD_DEFAULT, c"__rseq_offset".as_ptr()).cast::<isize>();
        if size.is_null() || offset.is_null() || *size == 0 {
            return None;
        }
        (!thread_pointer().is_null()).then(|| *offset)
    }
}

#[cfg(target_arch = "x86_64")]
fn thread_pointer() -> *const u8 {
    let pointer: *const u8;
    // SAFETY: the x86-64 ABI keeps the thread pointer's own address at %fs:0.
    unsafe {
        core::arch::asm!("mov {}, fs:0", out(reg) pointer, options(nostack, readonly, pure));
    }
    pointer
}

#[cfg(target_arch = "aarch64")]
fn thread_pointer() -> *const u8 {
    let pointer: *const u8;
    // SAFETY: reads the register that the ABI gives to it.
    unsafe { core::arch::asm!("mrs {}, tpidr_el0", out(reg) pointer, options(nomem, nostack)) };
    pointer
}

#[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
fn thread_pointer() -> *const u8 {
    std::ptr::null()
}

/// The signature that the C library registers (its sys/rseq.h); the kernel looks for it before an
/// abort address.
#[cfg(target_arch = "aarch64")]
const SIGNATURE: u32 = 0xd428_bc00;
#[cfg(not(target_arch = "aarch64"))]
const SIGNATURE: u32 = 0x5305_3053;

/// Address of the `struct rseq_cs` that covers no code. It lives in a page of its own that is
/// never unmapped: a shared library that was closed must not leave threads pointing into nothing.
fn descriptor() -> Option<u64> {
    static ADDRESS: OnceLock<Option<u64>> = OnceLock::new();
    *ADDRESS.get_or_init(|| {
        // SAFETY: a fresh page, written inside its bounds before anybody knows it. Range and abort
        // address are inside the same page, which is never executed.
        unsafe {
            let page = libc::mmap(
                std::ptr::null_mut(),
                4096,
                libc::PROT_READ | libc::PROT_WRITE,
                libc::MAP_PRIVATE | libc::MAP_ANONYMOUS,
                -1,
                0,
            );
            if page == libc::MAP_FAILED {
                return None;
            }
            let address = page as u64;
            let words = page.cast::<u64>();
            words.write(0); // version, flags
            words.add(1).write(address + 64); // start_ip
            words.add(2).write(1); // post_commit_offset: one byte that nobody executes
            words.add(3).write(address + 132); // abort_ip
            page.cast::<u32>().add(32).write(SIGNATURE); // at 128, before abort_ip
            Some(address)
        }
    })
}

/// `lock` and `index` of the page of a software event of the calling thread. The event and its
/// page live as long as the process: threads are few, and blocks of ended ones are reused.
fn perf_lock_word() -> Option<*const AtomicU64> {
    // struct perf_event_attr (linux/perf_event.h), first published size, as words.
    let mut attributes = [0u64; 8];
    attributes[0] = 1 | (64 << 32); // type: PERF_TYPE_SOFTWARE; size: 64
    attributes[1] = 1; // config: PERF_COUNT_SW_TASK_CLOCK
    attributes[5] = (1 << 5) | (1 << 6); // exclude_kernel, exclude_hv
    const CLOSE_ON_EXEC: u64 = 8;
    // SAFETY: the structure has the size that it states; the page is mapped for good.
    unsafe {
        let fd =
            libc::syscall(libc::SYS_perf_event_open, attributes.as_ptr(), 0, -1, -1, CLOSE_ON_EXEC);
        let fd = i32::try_from(fd).ok().filter(|fd| *fd >= 0)?;
        let page = libc::mmap(std::ptr::null_mut(), 4096, libc::PROT_READ, libc::MAP_SHARED, fd, 0);
        libc::close(fd); // the mapping keeps the event
        (page != libc::MAP_FAILED).then(|| page.cast::<u8>().add(8).cast_const().cast())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Whichever method: CPU time reckoned from ticks lies between what the kernel's clock says
    /// inside the two stamps and around them, through sleeps and whatever else interrupts.
    #[test]
    fn reckoned_cpu_agrees_with_the_kernel() {
        // An offset may be a microsecond wrong, at begin and at end.
        const OFF_NS: u64 = 2_000;
        for method in [CpuMethod::Rseq, CpuMethod::PerfPage, CpuMethod::Exact] {
            if method != CpuMethod::Exact && !works(method) {
                eprintln!("SKIPPED: {method:?} does not work on this machine");
                continue;
            }
            let scale = clock::Scale::current();
            let mut detector = Detector::of_this_thread(method);
            let around_ns = clock::thread_cpu_ns();
            let (start, begun) = detector.stamp(scale);
            let inside_ns = clock::thread_cpu_ns();
            for _ in 0..5 {
                clock::sleep(std::time::Duration::from_millis(5));
                let until = clock::thread_cpu_ns() + 1_000_000;
                while clock::thread_cpu_ns() < until {}
            }
            let inside_ns = clock::thread_cpu_ns() - inside_ns;
            let stop = clock::ticks();
            assert!(!detector.is_unchanged(), "{method:?} has missed a sleep");
            let (ended, _) = detector.offsets_after(stop, scale);
            let around_ns = clock::thread_cpu_ns() - around_ns;
            detector.disarm();
            let at = |stamp: u64, offset| stamp.wrapping_add_signed(offset);
            let reckoned_ns = scale.to_ns(at(stop, ended).wrapping_sub(at(start, begun)));
            let range = inside_ns - OFF_NS..=around_ns + OFF_NS;
            assert!(range.contains(&reckoned_ns), "{method:?}: {reckoned_ns}, not in {range:?}");
        }
    }

    #[test]
    fn what_is_asked_for_is_taken_when_it_works() {
        assert_eq!(CpuMethod::choose(Some("exact")), CpuMethod::Exact);
        assert_eq!(CpuMethod::choose(Some("off")), CpuMethod::Off);
        assert_eq!(CpuMethod::choose(Some("nonsense")), CpuMethod::choose(None));
    }
}
