//! Slow paths: first uses, switched-off classes, process CPU, mistakes in nesting.
#![allow(unsafe_code)] // what is kept beside a frame
#![allow(clippy::cast_possible_truncation)] // words are split into halves; usize has 64 bits

use crate::class::Class;
use crate::commit;
use crate::layout::{BORROWED, DEPTH_MAX, SWITCH_ENABLED, SWITCH_PROCESS_CPU, word};
use crate::process::{self, Counter, Process};
use crate::thread::{self, Control, Ending, Kind, PATH_CACHE, control};
use crate::transaction::{self, Opened};
use chronoscope_clock as clock;
use chronoscope_model::{
    Ancestor, ChainId, ClassId, Correlator, Flags, NO_PROCESS_CPU, PathId, ProcessId, Status,
    TransactionId,
};
use std::sync::atomic::Ordering::{Relaxed, Release};
use std::sync::atomic::fence;

/// The calling thread's control block, taken now if need be.
pub(crate) fn taken_control() -> Option<&'static Control> {
    let own = control();
    if own.is_taken() {
        return Some(own);
    }
    if process::is_off() {
        return None;
    }
    thread::take(Process::current()?)
}

/// Whether a class is recorded, and how; gives it a number first if need be.
pub(crate) fn switch_of(class: &Class, process: &'static Process) -> Option<u8> {
    let index = class.number(process)?;
    Some(process.switch(index).load(Relaxed))
}

#[cold]
#[inline(never)]
pub(crate) fn begin(class: &Class, parent: Option<&Correlator>) -> Opened {
    let Some(control) = taken_control() else { return Opened::NONE };
    let process = control.process();
    let Some(switch) = switch_of(class, process) else { return Opened::NONE };
    let depth = control.depth.get();
    if depth as usize >= DEPTH_MAX {
        process.count(Counter::TooDeep);
        return Opened::NONE;
    }
    // A correlator without a transaction, which an unrecorded one issues, starts a chain.
    let parent = parent.filter(|parent| !parent.parent().is_none());
    if switch & SWITCH_ENABLED == 0 {
        // Transactions begun inside become children of this one's parent.
        return parent.map_or(Opened::NONE, |parent| borrow(control, parent));
    }
    let statistics = thread::statistics(control, class.index());
    if statistics.is_null() {
        return Opened::NONE;
    }
    let opened = match parent {
        Some(parent) => transaction::open_with(control, depth, class.id(), statistics, parent),
        None => {
            let lineage = transaction::lineage(control, depth, class.id());
            transaction::open(control, depth, class.id(), statistics, lineage)
        }
    };
    if switch & SWITCH_PROCESS_CPU != 0 {
        let private = control.private(depth);
        private.ending.set(Ending::ProcessCpu);
        control.process_cpu_ns[depth as usize].set(clock::process_cpu_ns());
    }
    opened
}

/// Pushes a frame that stands for a transaction recorded elsewhere: the one that issues
/// `correlator`. What is begun on it becomes that one's child.
pub(crate) fn borrow(control: &Control, correlator: &Correlator) -> Opened {
    let depth = control.depth.get();
    if depth as usize >= DEPTH_MAX {
        control.process().count(Counter::TooDeep);
        return Opened::NONE;
    }
    let id = correlator.parent().0;
    let private = control.private(depth);
    let frame = control.frame(depth);
    frame.ready.store(0, Relaxed);
    fence(Release);
    let set = |index: usize, value: u64| frame.words[index].store(value, Relaxed);
    set(word::PROCESS_CPU, NO_PROCESS_CPU); // this and PROCESS: for what is begun on it
    set(word::CHAIN_HIGH, correlator.chain().high());
    set(word::CHAIN_LOW, correlator.chain().low());
    set(word::PATH, correlator.path().0);
    set(word::ROOT_PROCESS, correlator.root_process().0);
    set(word::PROCESS, control.process_id.get());
    set(word::ROOT_START, correlator.root_start_ns().unwrap_or(0).cast_unsigned());
    set(word::CONTEXT, u64::from(correlator.level()) << 48);
    set(word::THREAD, control.thread.get() | BORROWED);
    // SAFETY: the frame is free, and so is the correlator beside it.
    unsafe { (*control.inherited[depth as usize].get()).write(correlator.clone()) };
    let foreign = if correlator.is_foreign() { Flags::FOREIGN.0 } else { 0 };
    let dropped = if correlator.dropped() > 0 { Flags::ANCESTORS_DROPPED.0 } else { 0 };
    private.id.set(id);
    private.kind.set(Kind::Borrowed);
    private.ending.set(Ending::Slow);
    let thread = control.thread.get() | u64::from(foreign | dropped) << transaction::FLAGS_SHIFT;
    private.tail.set(u64::from(correlator.level()) << transaction::LEVEL_SHIFT, thread);
    private.context_len.set(0);
    frame.ready.store(id, Release);
    control.set_depth(depth + 1);
    Opened { index: depth, id }
}

/// New anchor, new CPU offset, as they are due; then a stamp that all this does not count in.
#[cold]
#[inline(never)]
pub(crate) fn stamp_begin(control: &Control, now: u64) -> u64 {
    if now >= control.refresh_at.get() {
        control.refresh();
    } else {
        control.reckon_cpu();
    }
    clock::ticks()
}

/// Elapsed time of what began at `start_ns` and ended at a stamp, in a replay: its clock may have
/// been moved in between, which ticks do not tell.
pub(crate) fn elapsed_in_replay(start_ns: u64, now: u64) -> u64 {
    let end_ns = clock::Anchor::now().utc_ns_of(now, clock::Scale::current());
    u64::try_from(end_ns.saturating_sub(start_ns.cast_signed())).unwrap_or(0)
}

/// The end of a hot begin whose stamp, `now`, is not good. Where it is called nothing else has to
/// outlive a call: hence the hot path saves no registers.
#[cold]
#[inline(never)]
pub(crate) fn restamp(control: &Control, depth: u32, now: u64, is_root: bool) -> Opened {
    let now = stamp_begin(control, now);
    transaction::publish(control, depth, control.private(depth).id.get(), now, is_root)
}

/// The end of a hot end: what its record has to tell beyond the ring and the counts.
#[cold]
#[inline(never)]
pub(crate) fn note(control: &Control, depth: u32, elapsed_ns: u64, cpu_ns: u64) {
    commit::note_last(control, depth, elapsed_ns, cpu_ns);
    if commit::is_new_path(control, control.frame(depth)) {
        publish_path(control, depth);
    }
    control.set_depth(depth);
}

#[cold]
#[inline(never)]
pub(crate) fn reckon_cpu(control: &Control) {
    control.reckon_cpu();
}

/// Ends what the hot path would not: borrowed frames, process CPU, guards out of order.
#[cold]
#[inline(never)]
pub(crate) fn end(opened: Opened, status: Status) {
    end_at(opened, status, clock::ticks());
}

/// Ends as [`end`] does, at a stamp that was taken already.
#[cold]
#[inline(never)]
pub(crate) fn end_at(opened: Opened, status: Status, now: u64) {
    if opened == Opened::NONE {
        return;
    }
    let control = control();
    if !control.is_taken() {
        return; // begun before a fork, or by a thread that has ended
    }
    if opened.index >= control.depth.get() || control.private(opened.index).id.get() != opened.id {
        control.process().count(Counter::OutOfOrder);
        return; // something around it has ended it already
    }
    while control.depth.get() > opened.index + 1 {
        control.process().count(Counter::OutOfOrder);
        end_top(control, now, Status::Aborted);
    }
    end_top(control, now, status);
    pop_left(control);
}

/// Leaves a borrowed frame, in whatever order: under others it goes when they have gone.
pub(crate) fn leave(opened: Opened) {
    let control = control();
    let is_open = opened != Opened::NONE
        && opened.index < control.depth.get()
        && control.private(opened.index).id.get() == opened.id;
    if !is_open || control.private(opened.index).kind.get() != Kind::Borrowed {
        return; // of before a fork, or something around it has ended it
    }
    control.private(opened.index).kind.set(Kind::Left);
    if opened.index + 1 < control.depth.get() {
        let above = &control.private(opened.index + 1).ending;
        if above.get() == Ending::Hot {
            above.set(Ending::Slow); // which takes this one with it
        }
    }
    pop_left(control);
}

fn pop_left(control: &Control) {
    while let Some(top) = control.depth.get().checked_sub(1)
        && control.private(top).kind.get() == Kind::Left
    {
        control.set_depth(top);
    }
}

/// Ends the topmost frame, whatever it is.
pub(crate) fn end_top(control: &Control, now: u64, status: Status) {
    let depth = control.depth.get() - 1;
    let private = control.private(depth);
    if matches!(private.kind.get(), Kind::Borrowed | Kind::Left) {
        return control.set_depth(depth);
    }
    let process_cpu = if private.ending.get() == Ending::ProcessCpu {
        clock::process_cpu_ns().saturating_sub(control.process_cpu_ns[depth as usize].get())
    } else {
        NO_PROCESS_CPU
    };
    transaction::close(control, depth, now, status, process_cpu);
}

/// Tells readers the classes on the path of the frame at `depth`.
#[cold]
#[inline(never)]
pub(crate) fn publish_path(control: &Control, depth: u32) {
    let path = control.frame(depth).words[word::PATH].load(Relaxed);
    if path != 0 {
        let own = correlator_at(control, depth);
        publish_classes(control.process(), PathId(path), &own);
    }
    control.path_cache[path as usize % PATH_CACHE].set(path);
}

/// Tells readers the classes on the path of the transaction that issues `own`.
pub(crate) fn publish_classes(process: &Process, path: PathId, own: &Correlator) {
    let mut classes: Vec<ClassId> = own.ancestors().iter().map(|a| a.class).collect();
    if own.dropped() > 0 {
        classes.insert(1.min(classes.len()), ClassId::NONE);
    }
    process.publish_path(path, &classes);
}

/// The correlator that the transaction in the frame at `depth` issues.
pub(crate) fn correlator_at(control: &Control, depth: u32) -> Correlator {
    let base = (0..=depth).rev().find(|at| control.private(*at).kind.get() != Kind::Nested);
    let (mut correlator, first) = match base {
        Some(at) => {
            // SAFETY: kept beside every frame that is not nested, until the frame is reused.
            let kept = unsafe { (*control.inherited[at as usize].get()).assume_init_ref() };
            let is_own = control.private(at).kind.get() != Kind::Explicit;
            (kept.clone(), if is_own { at + 1 } else { at })
        }
        None => {
            let get = |index: usize| control.frame(0).words[index].load(Relaxed);
            let chain = ChainId::from_halves(get(word::CHAIN_HIGH), get(word::CHAIN_LOW));
            let id = TransactionId(control.private(0).id.get());
            let process = ProcessId(control.process_id.get());
            (Correlator::root(chain, id, process, ancestor(control, 0)), 1)
        }
    };
    for at in first..=depth {
        let id = TransactionId(control.private(at).id.get());
        correlator.descend(id, ancestor(control, at));
    }
    correlator.with_flags(false, false)
}

fn ancestor(control: &Control, depth: u32) -> Ancestor {
    let words = &control.frame(depth).words;
    Ancestor {
        class: ClassId(words[word::CLASS].load(Relaxed)),
        start_ns: words[word::START].load(Relaxed).cast_signed(),
    }
}

/// The correlator of the thread's open transaction.
pub(crate) fn current() -> Option<Correlator> {
    let control = control();
    let depth = control.depth.get().checked_sub(1)?;
    Some(correlator_at(control, depth))
}

/// A correlator without a transaction: its holder starts a chain of its own.
pub(crate) fn nobody() -> Correlator {
    Correlator::foreign(ChainId::NONE, TransactionId::NONE)
}
