//! Slow paths: first uses, switched-off classes, process CPU, mistakes in nesting.

use crate::borrowed::{borrow, pop_left};
use crate::class::{Class, switch_of};
use crate::close::end_top;
use crate::commit;
use crate::control::{Control, Ending, control};
use crate::issued::publish_path;
use crate::layout::{DEPTH_MAX, SWITCH_ENABLED, SWITCH_PROCESS_CPU};
use crate::lineage::lineage;
use crate::open::{self, Opened};
use crate::process::Counter;
use crate::stamp::stamp_begin_anew;
use crate::thread::{self, taken_control};
use chronoscope_clock as clock;
use chronoscope_model::{Correlator, Status};

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
        Some(parent) => open::open_with(control, depth, class.id(), statistics, parent),
        None => {
            let lineage = lineage(control, depth, class.id());
            open::open(control, depth, class.id(), statistics, lineage)
        }
    };
    if switch & SWITCH_PROCESS_CPU != 0 {
        let private = control.private(depth);
        private.ending.set(Ending::ProcessCpu);
        control.process_cpu_ns[depth as usize].set(clock::process_cpu_ns());
    }
    opened
}

/// The end of a hot begin whose stamp, `now`, is not good. Where it is called nothing else has to
/// outlive a call: hence the hot path saves no registers.
#[cold]
#[inline(never)]
pub(crate) fn restamp(control: &Control, depth: u32, now: u64, is_root: bool) -> Opened {
    let now = stamp_begin_anew(control, now);
    open::publish(control, depth, control.private(depth).id.get(), now, is_root)
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
