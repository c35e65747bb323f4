//! Data that a thread needs to record on its own: its control block.
//!
//! Control blocks are private memory that a forked child finds zeroed (`MADV_WIPEONFORK`): a depth
//! bound of 0 sends the child's first begin to the slow path, which gives it a ring of its own.
//! This protects the parent's ring without a check on the hot path.
#![allow(unsafe_code)] // the control block's memory, pointers into the ring
#![allow(clippy::cast_possible_truncation)] // offsets within a block are below 4 GiB

use crate::cpu::Detector;
use crate::layout::{CLASS_MAX, DEPTH_MAX, Frame, Slot, Statistics, word};
use crate::links::{self, LinkBuffer};
use crate::pair::CellPair;
use crate::process::Process;
use chronoscope_clock as clock;
use chronoscope_model::{ClassId, Correlator, PathId};
use std::cell::{Cell, UnsafeCell};
use std::mem::MaybeUninit;
use std::sync::atomic::{AtomicU8, AtomicU32, AtomicU64, Ordering};

/// A transaction longer than this gets its CPU time from the kernel, at 0.1 % of its time.
const EXACT_NS: u64 = 1_000_000;
/// Number of paths that a thread remembers as known to readers. A power of two.
pub(crate) const PATH_CACHE: usize = 256;
/// Place of the level in the second-last word of a record.
pub(crate) const LEVEL_SHIFT: u32 = 48;
/// Place of the flags in the last word of a record.
pub(crate) const FLAGS_SHIFT: u32 = 40;

/// The words of a block's head that change with every transaction.
#[derive(Debug)]
#[repr(C)]
pub(crate) struct HotHead {
    pub(crate) state: AtomicU32,
    pub(crate) thread: AtomicU32,
    pub(crate) next_sequence: AtomicU64,
    pub(crate) context_head: AtomicU64,
    pub(crate) depth: AtomicU32,
}

/// Private part of a frame. It cannot be changed from outside the process, so values that guard
/// memory (indices, lengths, pointers) are here and not in the ring. One cache line each, found by
/// a shift.
#[derive(Debug)]
#[repr(C, align(64))]
pub(crate) struct Private {
    /// Level, thread and flags, in the form of the last two words of its record.
    pub(crate) tail: CellPair,
    pub(crate) id: Cell<u64>,
    pub(crate) statistics: Cell<*const Statistics>,
    pub(crate) start_ticks: Cell<u64>,
    pub(crate) cpu_offset: Cell<i64>,
    /// The frame itself; the same while the thread has the block.
    pub(crate) frame: Cell<*const Frame>,
    pub(crate) context_len: Cell<u16>,
    pub(crate) kind: Cell<FrameKind>,
    pub(crate) ending: Cell<Ending>,
}

const _: () = assert!(size_of::<Private>() == 64);

impl Private {
    /// The frame in the ring.
    #[inline(always)]
    pub(crate) fn frame(&self) -> &Frame {
        // SAFETY: set when the block was made, before anybody asks; never unmapped.
        unsafe { &*self.frame.get() }
    }

    #[inline(always)]
    pub(crate) fn flags(&self) -> u8 {
        (self.tail.0[1].get() >> FLAGS_SHIFT) as u8
    }

    pub(crate) fn add_flags(&self, flags: u8) {
        let thread = &self.tail.0[1];
        thread.set(thread.get() | u64::from(flags) << FLAGS_SHIFT);
    }
}

/// Path by which it may be ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub(crate) enum Ending {
    /// The hot path.
    Hot = 0,
    /// The slow path: it has a context, is not its own, or ticks are not the counter.
    Slow = 1,
    /// The slow path, which reads process CPU.
    ProcessCpu = 2,
}

/// Cache of a thread for a class: its statistics and its last path, which is mostly the next one
/// too. Hashing a path is 17 instructions in one chain, and the clock waits for its end.
#[derive(Debug)]
#[repr(C, align(32))]
pub(crate) struct OfClass {
    /// Null until the thread has them.
    pub(crate) statistics: Cell<*const Statistics>,
    parent_path: Cell<u64>,
    path: Cell<u64>,
}

impl OfClass {
    /// The path of the class, whose id is `class`, under `parent`.
    #[inline(always)]
    pub(crate) fn path_under(&self, parent: PathId, class: ClassId) -> PathId {
        if self.parent_path.get() != parent.0 {
            self.keep_path(parent, parent.child(class));
        }
        PathId(self.path.get())
    }

    #[inline(always)]
    pub(crate) fn keep_path(&self, parent: PathId, path: PathId) {
        self.parent_path.set(parent.0);
        self.path.set(path.0);
    }
}

/// Kind of a frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub(crate) enum FrameKind {
    /// A transaction under the frame below, or a root.
    Nested = 0,
    /// A transaction under the correlator kept beside it.
    Explicit = 1,
    /// Not a transaction of its own: the correlator stored beside it is used as its own.
    Borrowed = 2,
    /// As borrowed, and left: it ends with the transactions begun on it.
    Left = 3,
}

/// A thread's control block. Zero bytes are a valid one that records nothing.
#[repr(C, align(64))]
pub(crate) struct Control {
    pub(crate) depth: Cell<u32>,
    /// [`DEPTH_MAX`], or 0 while the thread has no block.
    pub(crate) depth_max: Cell<u32>,
    /// The depth bound for the hot path, which reads the processor's counter: 0 also where that is
    /// not the source of ticks.
    pub(crate) hot_depth_max: Cell<u32>,
    pub(crate) switches: Cell<*const AtomicU8>,
    pub(crate) next_id: Cell<u64>,
    /// End of the thread's line of UTC, in ticks.
    pub(crate) refresh_at: Cell<u64>,
    pub(crate) cpu_offset: Cell<i64>,
    /// Start of the line.
    pub(crate) line_ticks: Cell<u64>,
    pub(crate) line_utc_ns: Cell<i64>,
    pub(crate) multiplier: Cell<u64>,
    pub(crate) head: Cell<*const HotHead>,
    pub(crate) slots: Cell<*const Slot>,
    pub(crate) slot_mask: Cell<u64>,
    pub(crate) sequence: Cell<u64>,
    pub(crate) exact_ticks: Cell<u64>,
    /// Words of every root's record: no process CPU time yet, and the chain's high half.
    pub(crate) root_chain: CellPair,
    /// The process as the root's and as the record's own.
    pub(crate) root_process: CellPair,
    /// Level 0, and the thread.
    pub(crate) root_tail: CellPair,
    pub(crate) chain_high: Cell<u64>,
    pub(crate) process_id: Cell<u64>,
    /// All ones, or 0 when CPU time is not recorded.
    pub(crate) cpu_mask: Cell<u64>,
    pub(crate) thread: Cell<u64>,
    pub(crate) detector: Cell<MaybeUninit<Detector>>,
    /// The line's slope, as a scale's multiplier: beside the detector, which a begin reads too.
    pub(crate) line_slope: Cell<u64>,
    pub(crate) context_base: Cell<*mut u8>,
    pub(crate) context_mask: Cell<u64>,
    pub(crate) context_head: Cell<u64>,
    pub(crate) process: Cell<*const Process>,
    /// Offset of its block in the ring.
    pub(crate) block: Cell<usize>,
    /// Free slots that the thread keeps: the first one's number plus one, and how many.
    pub(crate) kept_slot: Cell<u32>,
    pub(crate) kept_slots: Cell<u32>,
    pub(crate) path_cache: [Cell<u64>; PATH_CACHE],
    pub(crate) private: [Private; DEPTH_MAX],
    /// Process CPU time at a frame's begin, where it is recorded.
    pub(crate) process_cpu_ns: [Cell<u64>; DEPTH_MAX],
    pub(crate) classes: [OfClass; CLASS_MAX],
    pub(crate) inherited: [UnsafeCell<MaybeUninit<Correlator>>; DEPTH_MAX],
    /// Links of each frame's transaction; null until the frame has had some. Kept for the next.
    links: [Cell<*mut LinkBuffer>; DEPTH_MAX],
}

impl Control {
    /// UTC of a stamp that was taken on the thread's line, as those of [`crate::stamp`] are.
    #[inline(always)]
    pub(crate) fn utc_ns_of(&self, ticks: u64) -> i64 {
        let since = ticks.wrapping_sub(self.line_ticks.get()).cast_signed();
        let slope = clock::Scale::from_multiplier(self.line_slope.get());
        self.line_utc_ns.get().wrapping_add(slope.to_ns_signed(since))
    }

    /// UTC of a stamp that was taken at any time until now, by any thread. Before the present line
    /// the scale counts: the line's correction is for its own length only. In a replay the line of
    /// the thread's last begin counts, because its clock may have been moved since.
    pub(crate) fn utc_ns_of_past(&self, ticks: u64) -> i64 {
        if ticks >= self.refresh_at.get() && !clock::is_virtual() {
            self.refresh();
        }
        match self.line_ticks.get().checked_sub(ticks) {
            None => self.utc_ns_of(ticks),
            Some(before) => {
                self.line_utc_ns.get().saturating_sub_unsigned(self.scale().to_ns(before))
            }
        }
    }

    #[inline(always)]
    pub(crate) fn scale(&self) -> clock::Scale {
        clock::Scale::from_multiplier(self.multiplier.get())
    }

    /// Whether CPU time reckoned with the present offset is good. Ask after reading the ticks.
    #[inline(always)]
    pub(crate) fn cpu_is_reckonable(&self) -> bool {
        // SAFETY: asked only for a control block that has been taken, which has a detector; it is
        // the thread's own.
        unsafe { (*self.detector.as_ptr()).assume_init_ref() }.is_unchanged()
    }

    /// A stamp, with the thread's CPU clock read beside it.
    pub(crate) fn stamp(&self) -> u64 {
        let (stamp, offset) = self.detector_mut().stamp(self.scale());
        self.cpu_offset.set(offset);
        stamp
    }

    /// Reads the thread's CPU clock anew, after a stamp. Returns the stamp's own offset.
    pub(crate) fn reckon_cpu_after(&self, stamp: u64) -> i64 {
        let (of_stamp, of_later) = self.detector_mut().offsets_after(stamp, self.scale());
        self.cpu_offset.set(of_later);
        of_stamp
    }

    /// The thread's CPU time at a stamp for which the present offset is good, in nanoseconds.
    pub(crate) fn cpu_ns_of(&self, stamp: u64) -> u64 {
        self.detector_mut().cpu_ns_of(stamp, self.cpu_offset.get(), self.scale())
    }

    #[allow(clippy::mut_from_ref)] // the control block is the thread's own
    fn detector_mut(&self) -> &mut Detector {
        // SAFETY: as in `cpu_is_reckonable`; callers use it for one call, in which nobody else
        // asks for it.
        unsafe { (*self.detector.as_ptr()).assume_init_mut() }
    }

    /// Takes the process's present line and scale.
    pub(crate) fn refresh(&self) {
        let line = clock::UtcLine::current();
        let scale = clock::Scale::current();
        self.multiplier.set(scale.multiplier());
        self.line_ticks.set(line.start_ticks());
        self.line_utc_ns.set(line.start_utc_ns());
        self.line_slope.set(line.slope().multiplier());
        self.refresh_at.set(line.end_ticks());
        self.exact_ticks.set(scale.to_ticks(EXACT_NS));
        // 2^40 ids are a block; a new one long before they are used up.
        if self.next_id.get() & 0xff_ffff_ffff > 1 << 39 {
            self.next_id.set(self.process().id_block());
        }
    }

    /// The process whose ring it records into.
    pub(crate) fn process(&self) -> &'static Process {
        // SAFETY: set when the block is taken, before anybody asks; processes are never freed.
        unsafe { &*self.process.get() }
    }

    #[inline(always)]
    pub(crate) fn head(&self) -> &HotHead {
        // SAFETY: points to the head of the block while the thread has it.
        unsafe { &*self.head.get() }
    }

    /// A frame of the ring. `depth` must be below [`DEPTH_MAX`].
    #[inline(always)]
    pub(crate) fn frame(&self, depth: u32) -> &Frame {
        self.private(depth).frame()
    }

    /// Private part of a frame. `depth` must be below [`DEPTH_MAX`].
    #[inline(always)]
    pub(crate) fn private(&self, depth: u32) -> &Private {
        debug_assert!((depth as usize) < DEPTH_MAX);
        // SAFETY: the array has DEPTH_MAX elements.
        unsafe { self.private.get_unchecked(depth as usize) }
    }

    /// Links of the transaction in the frame at `depth`, as entries of a context.
    pub(crate) fn links(&self, depth: u32) -> &[u8] {
        if self.private(depth).flags() & links::FLAG == 0 {
            return &[];
        }
        // SAFETY: null, or a buffer that is never freed; it is changed by `link` only, which the
        // caller cannot call while it has these bytes.
        unsafe { self.links[depth as usize].get().as_ref() }.map_or(&[], LinkBuffer::entries)
    }

    /// Adds a link to the transaction in the frame at `depth`.
    pub(crate) fn link(&self, depth: u32, issuer: &Correlator) {
        let private = self.private(depth);
        let buffer = &self.links[depth as usize];
        if buffer.get().is_null() {
            buffer.set(Box::into_raw(Box::default()));
        }
        // SAFETY: as in `links`; only the thread itself uses it.
        let Some(buffer) = (unsafe { buffer.get().as_mut() }) else { return };
        if private.flags() & links::FLAG == 0 {
            private.add_flags(links::FLAG);
            show_links(private.frame());
            buffer.reset(); // of the frame's transaction before
        }
        buffer.push(issuer);
    }

    /// Sets the depth, for the thread and for readers.
    #[inline(always)]
    pub(crate) fn set_depth(&self, depth: u32) {
        self.depth.set(depth);
        self.head().depth.store(depth, Ordering::Release);
    }

    /// Whether the thread has a block.
    pub(crate) fn is_taken(&self) -> bool {
        self.depth_max.get() != 0
    }
}

/// Shows readers of an open transaction that it has links.
pub(crate) fn show_links(frame: &Frame) {
    let thread = &frame.words[word::THREAD];
    // Only the frame's owner writes it.
    thread.store(
        thread.load(Ordering::Relaxed) | u64::from(links::FLAG) << FLAGS_SHIFT,
        Ordering::Relaxed,
    );
}

/// An unowned control block: a thread starts with it, and gets it back when it ends.
struct Nobody(MaybeUninit<Control>);

// SAFETY: never written: every write comes after a check that zeroed fields fail.
unsafe impl Sync for Nobody {}

static EMPTY: Nobody = Nobody(MaybeUninit::zeroed());
static ENDED: Nobody = Nobody(MaybeUninit::zeroed());

thread_local! {
    static CONTROL: Cell<*const Control> = const { Cell::new((&raw const EMPTY.0).cast()) };
}

/// The calling thread's control block, or the empty one.
#[inline(always)]
pub(crate) fn control() -> &'static Control {
    // SAFETY: points to a static or to a control block that is never unmapped; zero bytes are a
    // valid control block. Only the thread itself uses it.
    unsafe { &*CONTROL.get() }
}

/// Gives the calling thread a control block.
pub(crate) fn set_control(control: *const Control) {
    CONTROL.set(control);
}

/// The calling thread records nothing from now on: it is ending.
pub(crate) fn set_ended() {
    CONTROL.set((&raw const ENDED.0).cast());
}

/// Whether the calling thread is ending, and has given its control block back.
pub(crate) fn has_ended() -> bool {
    std::ptr::eq(control(), (&raw const ENDED.0).cast())
}

/// A control block that waits for a thread; its block in the ring comes with it.
#[derive(Debug)]
pub(crate) struct Block(pub(crate) *const Control);

// SAFETY: whoever takes it from the list of free ones has it alone.
unsafe impl Send for Block {}
