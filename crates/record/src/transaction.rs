//! Begin and end.
//!
//! The hot path: `begin` fills the thread's next frame and stamps, `end` stamps, writes the record
//! and counts it. It takes no lock, calls no system, allocates nothing. What happens seldom is out
//! of line, in `slow`.
#![allow(unsafe_code)] // pointers into the ring

use crate::class::Class;
use crate::commit;
use crate::control::{Control, Ending, FLAGS_SHIFT, OfClass, Private, control};
use crate::layout::{CLASS_MAX, SWITCH_ENABLED, SWITCH_KNOWN, word};
use crate::lineage::INHERITED_FLAGS;
use crate::open::{Opened, fill_private, open_with, publish};
use crate::pair::Pair;
use crate::slow;
use chronoscope_clock as clock;
use chronoscope_model::{Correlator, Flags, PathId, Status};
use std::sync::atomic::Ordering::{Relaxed, Release};
use std::sync::atomic::{Ordering, compiler_fence, fence};

/// A switch byte that the hot path takes.
pub(crate) const PLAIN: u8 = SWITCH_KNOWN | SWITCH_ENABLED;

/// Bits of a thread word that children inherit.
const INHERITED_MASK: u64 = 0xffff_ffff | (INHERITED_FLAGS as u64) << FLAGS_SHIFT;
const FOREIGN_BIT: u64 = (Flags::FOREIGN.0 as u64) << FLAGS_SHIFT;

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

/// The hot path of [`crate::open::open`] for a root.
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

/// The hot path of [`crate::open::open`] for a transaction under `parent`, the topmost frame, which is not of
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

/// Combines [`crate::stamp::stamp_begin`] and [`publish`], where ticks are the counter.
#[inline(always)]
fn stamp_and_publish(control: &Control, depth: u32, id: u64, is_root: bool) -> Opened {
    let now = clock::counter();
    compiler_fence(Ordering::SeqCst); // the detector after the ticks
    if now >= control.refresh_at.get() || !control.cpu_is_reckonable() {
        return slow::restamp(control, depth, now, is_root);
    }
    publish(control, depth, id, now, is_root)
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
