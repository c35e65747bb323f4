//! Begin and end.
//!
//! The hot path: `begin` fills the thread's next frame and stamps, `end` stamps, writes the record
//! and counts it. It takes no lock, calls no system, allocates nothing. What happens seldom is out
//! of line, in `slow`.
#![allow(unsafe_code)] // pointers into the ring

use crate::class::Class;
use crate::commit::{self, Ended};
use crate::layout::{CLASS_MAX, SWITCH_ENABLED, SWITCH_KNOWN, Statistics, word};
use crate::pair::Pair;
use crate::slow;
use crate::thread::{Control, Ending, Kind, OfClass, Private, control};
use chronoscope_clock as clock;
use chronoscope_model::{ClassId, Correlator, Flags, NO_PROCESS_CPU, PathId, Status};
use std::sync::atomic::Ordering::{Relaxed, Release};
use std::sync::atomic::{Ordering, compiler_fence, fence};

/// A switch byte that the hot path takes.
pub(crate) const PLAIN: u8 = SWITCH_KNOWN | SWITCH_ENABLED;
pub(crate) const LEVEL_SHIFT: u32 = 48;
pub(crate) const FLAGS_SHIFT: u32 = 40;

/// Flags that a transaction gets from the one around it.
const INHERITED_FLAGS: u8 = Flags::FOREIGN.0 | Flags::ANCESTORS_DROPPED.0;
/// Bits of a thread word that children inherit.
const INHERITED_MASK: u64 = 0xffff_ffff | (INHERITED_FLAGS as u64) << FLAGS_SHIFT;
const FOREIGN_BIT: u64 = (Flags::FOREIGN.0 as u64) << FLAGS_SHIFT;

/// Open transaction of a guard: 16 bytes that travel in registers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Opened {
    pub(crate) index: u32,
    /// 0 where nothing was opened.
    pub(crate) id: u64,
}

impl Opened {
    /// Nothing was opened. No frame has this index.
    pub(crate) const NONE: Self = Self { index: u32::MAX - 1, id: 0 };
}

/// Position of a transaction in its chain.
pub(crate) struct Lineage {
    pub(crate) chain_high: u64,
    pub(crate) chain_low: u64,
    pub(crate) parent: u64,
    pub(crate) path: PathId,
    pub(crate) level: u64,
    /// `None`: its own start.
    pub(crate) root_start_ns: Option<i64>,
    pub(crate) root_process: u64,
    pub(crate) flags: u8,
}

/// Begins a transaction under the thread's open one, or as a root.
#[inline(never)]
pub(crate) fn begin(class: &Class) -> Opened {
    let control = control();
    let depth = control.depth.get();
    let index = class.index();
    if depth >= control.hot_depth_max.get() {
        return slow::begin(class, None);
    }
    // SAFETY: class numbers are below CLASS_MAX, and there are so many switches and statistics.
    let (switch, own) = unsafe {
        debug_assert!((index as usize) < CLASS_MAX);
        (
            (*control.switches.get().add(index as usize)).load(Relaxed),
            control.classes.get_unchecked(index as usize),
        )
    };
    if switch != PLAIN || own.statistics.get().is_null() {
        return slow::begin(class, None);
    }
    if depth == 0 {
        return open_root(control, class, own);
    }
    let parent = control.private(depth - 1);
    if parent.tail.0[1].get() & FOREIGN_BIT != 0 {
        return slow::begin(class, None);
    }
    open_child(control, depth, class, own, parent)
}

/// The hot path of [`open`] for a root.
#[inline(always)]
fn open_root(control: &Control, class: &Class, own: &OfClass) -> Opened {
    let id = control.next_id.get();
    let (frame, private) = (control.frame(0), control.private(0));
    frame.ready.store(0, Relaxed);
    fence(Release);
    let set = |index: usize, value: u64| frame.words[index].store(value, Relaxed);
    frame.put(word::PROCESS_CPU, Pair::of_cells(&control.root_chain));
    set(word::CHAIN_LOW, id);
    set(word::PARENT, 0);
    set(word::CLASS, class.id().0);
    set(word::PATH, class.root_path().0);
    frame.put(word::ROOT_PROCESS, Pair::of_cells(&control.root_process));
    let tail = Pair::of_cells(&control.root_tail);
    frame.put(word::CONTEXT, tail);
    tail.put(&private.tail);
    fill_private(control, private, id, own.statistics.get());
    stamp_and_publish(control, 0, id, true)
}

/// The hot path of [`open`] for a transaction under `parent`, the topmost frame, which is not of
/// a foreign chain. Out of line, so that a root saves no registers.
#[inline(never)]
fn open_child(
    control: &Control,
    depth: u32,
    class: &Class,
    own: &OfClass,
    parent: &Private,
) -> Opened {
    let id = control.next_id.get();
    let (below, frame, private) =
        (control.frame(depth - 1), control.frame(depth), control.private(depth));
    frame.ready.store(0, Relaxed);
    fence(Release);
    let get = |index: usize| below.words[index].load(Relaxed);
    let set = |index: usize, value: u64| frame.words[index].store(value, Relaxed);
    frame.put(word::PROCESS_CPU, below.pair(word::PROCESS_CPU));
    set(word::CHAIN_LOW, get(word::CHAIN_LOW));
    set(word::PARENT, parent.id.get());
    let class_id = class.id();
    set(word::CLASS, class_id.0);
    set(word::PATH, own.path_under(PathId(get(word::PATH)), class_id).0);
    frame.put(word::ROOT_PROCESS, below.pair(word::ROOT_PROCESS));
    let tail = Pair::of_cells(&parent.tail).below(INHERITED_MASK);
    frame.put(word::CONTEXT, tail);
    tail.put(&private.tail);
    set(word::ROOT_START, get(word::ROOT_START));
    fill_private(control, private, id, own.statistics.get());
    stamp_and_publish(control, depth, id, false)
}

/// Begins a transaction under the one that issued `parent`.
#[inline(never)]
pub(crate) fn begin_with(class: &Class, parent: &Correlator) -> Opened {
    let control = control();
    let depth = control.depth.get();
    let index = class.index();
    if depth >= control.depth_max.get() || parent.parent().is_none() {
        return slow::begin(class, Some(parent));
    }
    // SAFETY: as in `begin`.
    let (switch, statistics) = unsafe {
        (
            (*control.switches.get().add(index as usize)).load(Relaxed),
            control.classes.get_unchecked(index as usize).statistics.get(),
        )
    };
    if switch != PLAIN || statistics.is_null() {
        return slow::begin(class, Some(parent));
    }
    open_with(control, depth, class.id(), statistics, parent)
}

/// Opens as [`open`] does, under a correlator, which is stored beside the frame.
#[inline(always)]
pub(crate) fn open_with(
    control: &Control,
    depth: u32,
    class: ClassId,
    statistics: *const Statistics,
    parent: &Correlator,
) -> Opened {
    // SAFETY: the frame at `depth` is free, and so is the correlator beside it.
    unsafe { (*control.inherited[depth as usize].get()).write(parent.clone()) };
    let opened = open(control, depth, class, statistics, lineage_under(parent, class));
    control.private(depth).kind.set(Kind::Explicit);
    opened
}

/// The lineage of a transaction under the frame below `depth`, or of a root.
#[inline(always)]
pub(crate) fn lineage(control: &Control, depth: u32, class: ClassId) -> Lineage {
    if depth == 0 {
        return Lineage {
            chain_high: control.chain_high.get(),
            chain_low: control.next_id.get(), // the root's own id
            parent: 0,
            path: PathId::root(class),
            level: 0,
            root_start_ns: None,
            root_process: control.process_id.get(),
            flags: 0,
        };
    }
    let below = control.frame(depth - 1);
    let get = |index: usize| below.words[index].load(Relaxed);
    let level = (get(word::CONTEXT) >> LEVEL_SHIFT) + 1;
    let flags = control.private(depth - 1).flags() & INHERITED_FLAGS;
    let mut lineage = Lineage {
        chain_high: get(word::CHAIN_HIGH),
        chain_low: get(word::CHAIN_LOW),
        parent: control.private(depth - 1).id.get(),
        path: PathId(get(word::PATH)).child(class),
        level: level.min(u64::from(u16::MAX)),
        root_start_ns: Some(get(word::ROOT_START).cast_signed()),
        root_process: get(word::ROOT_PROCESS),
        flags,
    };
    if flags & Flags::FOREIGN.0 != 0 {
        lineage.make_foreign();
    }
    lineage
}

/// The lineage of a transaction under the one that issued `parent`.
pub(crate) fn lineage_under(parent: &Correlator, class: ClassId) -> Lineage {
    let flag = |set: bool, flag: Flags| if set { flag.0 } else { 0 };
    let mut lineage = Lineage {
        chain_high: parent.chain().high(),
        chain_low: parent.chain().low(),
        parent: parent.parent().0,
        path: parent.path().child(class),
        level: u64::from(parent.level().saturating_add(1)),
        root_start_ns: parent.root_start_ns(),
        root_process: parent.root_process().0,
        flags: flag(parent.is_asynchronous(), Flags::ASYNCHRONOUS)
            | flag(parent.is_independent(), Flags::INDEPENDENT)
            | flag(parent.dropped() > 0, Flags::ANCESTORS_DROPPED),
    };
    if parent.is_foreign() {
        lineage.flags |= Flags::FOREIGN.0;
        lineage.make_foreign();
    }
    lineage
}

impl Lineage {
    /// Level, path and root of a foreign chain are not known.
    #[cold]
    fn make_foreign(&mut self) {
        self.path = PathId::NONE;
        self.level = 0;
        self.root_start_ns = None;
        self.root_process = 0;
    }
}

/// Fills the frame at `depth`, which must be free, and stamps.
#[inline(always)]
pub(crate) fn open(
    control: &Control,
    depth: u32,
    class: ClassId,
    statistics: *const Statistics,
    lineage: Lineage,
) -> Opened {
    let id = control.next_id.get();
    let private = control.private(depth);
    let frame = control.frame(depth);
    frame.ready.store(0, Relaxed);
    fence(Release);
    let set = |index: usize, value: u64| frame.words[index].store(value, Relaxed);
    set(word::PROCESS_CPU, NO_PROCESS_CPU); // this and PROCESS: for what is begun on it
    set(word::CHAIN_HIGH, lineage.chain_high);
    set(word::CHAIN_LOW, lineage.chain_low);
    set(word::PARENT, lineage.parent);
    set(word::CLASS, class.0);
    set(word::PATH, lineage.path.0);
    set(word::ROOT_PROCESS, lineage.root_process);
    set(word::PROCESS, control.process_id.get());
    let level = lineage.level << LEVEL_SHIFT;
    let thread = control.thread.get() | u64::from(lineage.flags) << FLAGS_SHIFT;
    set(word::CONTEXT, level);
    set(word::THREAD, thread);
    private.tail.set(level, thread);
    if let Some(root_start_ns) = lineage.root_start_ns {
        set(word::ROOT_START, root_start_ns.cast_unsigned());
    }
    fill_private(control, private, id, statistics);
    if control.hot_depth_max.get() == 0 {
        private.ending.set(Ending::Slow);
    }
    let now = stamp_begin(control);
    publish(control, depth, id, now, lineage.root_start_ns.is_none())
}

#[inline(always)]
fn fill_private(control: &Control, private: &Private, id: u64, statistics: *const Statistics) {
    control.next_id.set(id + 1);
    private.id.set(id);
    private.statistics.set(statistics);
    private.context_len.set(0);
    private.kind.set(Kind::Nested);
    private.ending.set(Ending::Hot);
}

/// Combines [`stamp_begin`] and [`publish`], where ticks are the counter.
#[inline(always)]
fn stamp_and_publish(control: &Control, depth: u32, id: u64, is_root: bool) -> Opened {
    let now = clock::counter();
    compiler_fence(Ordering::SeqCst); // the detector after the ticks
    if now >= control.refresh_at.get() || !control.cpu_is_reckonable() {
        return slow::restamp(control, depth, now, is_root);
    }
    publish(control, depth, id, now, is_root)
}

/// The rest of [`open`], once all is there but what comes from the stamp.
#[inline(always)]
pub(crate) fn publish(control: &Control, depth: u32, id: u64, now: u64, is_root: bool) -> Opened {
    let (frame, private) = (control.frame(depth), control.private(depth));
    private.start_ticks.set(now);
    private.cpu_offset.set(control.cpu_offset.get());
    let start_ns = control.utc_ns_of(now).cast_unsigned();
    frame.words[word::START].store(start_ns, Relaxed);
    if is_root {
        frame.words[word::ROOT_START].store(start_ns, Relaxed);
    }
    frame.ready.store(id, Release);
    control.set_depth(depth + 1);
    Opened { index: depth, id }
}

/// A stamp with a good CPU offset and a fresh anchor beside it.
#[inline(always)]
pub(crate) fn stamp_begin(control: &Control) -> u64 {
    let now = clock::ticks();
    compiler_fence(Ordering::SeqCst); // the detector after the ticks
    if now < control.refresh_at.get() && control.cpu_is_reckonable() {
        return now;
    }
    slow::stamp_begin(control, now)
}

/// Ends a transaction.
///
/// The stamp is not its first instruction, but nothing before it waits for memory. The frame may be
/// ended here only if ticks are the counter.
#[inline(never)]
pub(crate) fn end(opened: Opened, status: Status) {
    let control = control();
    let depth = control.depth.get().wrapping_sub(1);
    if opened.index != depth {
        return slow::end(opened, status);
    }
    let private = control.private(depth);
    if private.id.get() != opened.id || private.ending.get() != Ending::Hot {
        return slow::end(opened, status);
    }
    let now = clock::counter();
    compiler_fence(Ordering::SeqCst); // the detector after the ticks
    // A stamp before the begin's wraps round, and goes the slow way with the long ones.
    let elapsed_ticks = now.wrapping_sub(private.start_ticks.get());
    if elapsed_ticks > control.exact_ticks.get()
        || !control.cpu_is_reckonable()
        || control.cpu_offset.get() != private.cpu_offset.get()
    {
        return slow::end_at(opened, status, now);
    }
    let elapsed_ns = control.scale().to_ns(elapsed_ticks);
    if commit::write_plain(control, depth, opened.id, status, elapsed_ns) {
        return slow::note(control, depth, elapsed_ns, elapsed_ns & control.cpu_mask.get());
    }
    control.set_depth(depth);
}

/// Ends the transaction in the topmost frame, which must be one.
#[inline(always)]
pub(crate) fn close(control: &Control, depth: u32, now: u64, status: Status, process_cpu: u64) {
    let private = control.private(depth);
    let elapsed_ticks = now.saturating_sub(private.start_ticks.get());
    if elapsed_ticks > control.exact_ticks.get() || !control.cpu_is_reckonable() {
        slow::reckon_cpu(control);
    }
    let cpu_ticks = cpu_ticks(elapsed_ticks, control, private);
    let scale = control.scale();
    let frame = control.frame(depth);
    let elapsed_ns = if clock::is_virtual() {
        slow::elapsed_in_replay(frame.words[word::START].load(Relaxed), now)
    } else {
        scale.to_ns(elapsed_ticks)
    };
    let ended = Ended {
        id: private.id.get(),
        elapsed_ns,
        cpu_ns: scale.to_ns(cpu_ticks).min(elapsed_ns) & control.cpu_mask.get(),
        process_cpu_ns: process_cpu,
        status,
        context_len: private.context_len.get(),
        flags: private.flags(),
    };
    // SAFETY: statistics of the class, set when the frame was opened; never null, never freed.
    let statistics = unsafe { &*private.statistics.get() };
    commit::write(control, frame, &ended, statistics);
    if commit::is_new_path(control, frame) {
        slow::publish_path(control, depth);
    }
    control.set_depth(depth);
}

/// CPU time between the frame's begin and a stamp that long after, within `[0, elapsed]`.
#[inline(always)]
fn cpu_ticks(elapsed_ticks: u64, control: &Control, private: &Private) -> u64 {
    // With an unchanged offset the thread ran all the time: CPU is elapsed.
    let shift = control.cpu_offset.get().wrapping_sub(private.cpu_offset.get());
    let ticks = elapsed_ticks.cast_signed().wrapping_add(shift);
    ticks.clamp(0, elapsed_ticks.cast_signed()).cast_unsigned()
}

/// Ends all that is open above `depth` frames, ABORTED, innermost first.
pub(crate) fn abort_above(control: &Control, depth: u32) {
    while control.depth.get() > depth {
        slow::end_top(control, clock::ticks(), Status::Aborted);
    }
}
