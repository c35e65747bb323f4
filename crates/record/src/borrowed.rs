//! Frames that stand for transactions recorded elsewhere.
#![allow(unsafe_code)] // the correlator beside a frame

use crate::control::{Control, Ending, FLAGS_SHIFT, FrameKind, LEVEL_SHIFT, control};
use crate::layout::{BORROWED, DEPTH_MAX, word};
use crate::open::Opened;
use crate::process::Counter;
use chronoscope_model::{Correlator, Flags, NO_PROCESS_CPU};
use std::sync::atomic::Ordering::{Relaxed, Release};
use std::sync::atomic::fence;

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
    private.kind.set(FrameKind::Borrowed);
    private.ending.set(Ending::Slow);
    let thread = control.thread.get() | u64::from(foreign | dropped) << FLAGS_SHIFT;
    private.tail.set(u64::from(correlator.level()) << LEVEL_SHIFT, thread);
    private.context_len.set(0);
    frame.ready.store(id, Release);
    control.set_depth(depth + 1);
    Opened { index: depth, id }
}

/// Leaves a borrowed frame, in whatever order: under others it goes when they have gone.
pub(crate) fn leave(opened: Opened) {
    let control = control();
    let is_open = opened != Opened::NONE
        && opened.index < control.depth.get()
        && control.private(opened.index).id.get() == opened.id;
    if !is_open || control.private(opened.index).kind.get() != FrameKind::Borrowed {
        return; // of before a fork, or something around it has ended it
    }
    control.private(opened.index).kind.set(FrameKind::Left);
    if opened.index + 1 < control.depth.get() {
        let above = &control.private(opened.index + 1).ending;
        if above.get() == Ending::Hot {
            above.set(Ending::Slow); // which takes this one with it
        }
    }
    pop_left(control);
}

/// Ends the frames at the top that were left under others.
pub(crate) fn pop_left(control: &Control) {
    while let Some(top) = control.depth.get().checked_sub(1)
        && control.private(top).kind.get() == FrameKind::Left
    {
        control.set_depth(top);
    }
}
