//! A transaction that may be stopped on another thread.
#![allow(unsafe_code)] // the state that a handle alone has
#![allow(clippy::cast_possible_truncation)] // words are split into halves; usize has 64 bits

use crate::class::{Class, switch_of};
use crate::commit::{self, Ended};
use crate::control::{Control, PATH_CACHE, show_links};
use crate::issued;
use crate::layout::{SWITCH_ENABLED, SWITCH_PROCESS_CPU, word};
use crate::lineage::{lineage, lineage_under};
use crate::links;
use crate::process::Process;
use crate::stamp::{cpu_ticks_between, elapsed_in_replay, stamp_begin};
use crate::started_slots::{Issuer, StartedSlot, StartedSlots, StartedState};
use crate::thread::{self, taken_control, uncounted_control};
use chronoscope_clock as clock;
use chronoscope_model::context::ContextEntry;
use chronoscope_model::{
    Ancestor, ChainId, ClassId, Correlator, Flags, NO_PROCESS_CPU, PathId, ProcessId, Status,
    TransactionId,
};
use std::mem::ManuallyDrop;
use std::sync::atomic::Ordering::{Relaxed, Release};

/// A started transaction. Dropped without being stopped, it ends ABORTED.
///
/// Its CPU time is that of the thread between start and stop, if the same thread does both, and 0
/// otherwise. Its record names the thread that started it, and lies in the ring of the thread that
/// stopped it.
#[derive(Debug)]
#[must_use = "a transaction that is not stopped ends ABORTED"]
pub struct Started {
    slot: Option<&'static StartedSlot>,
    /// Correlator of its parent, where nothing is recorded.
    instead: Option<Box<Correlator>>,
}

/// Parent of a transaction.
#[derive(Clone, Copy, Debug)]
pub enum Parent<'a> {
    /// The thread's open transaction, if there is one.
    Current,
    /// No parent: it is the root of a chain.
    Nobody,
    /// The transaction that issued this.
    Issuer(&'a Correlator),
}

impl Started {
    pub(crate) fn new(class: &Class, parent: Parent<'_>) -> Self {
        let parent = match parent {
            // A correlator without a transaction, as an unrecorded transaction issues it.
            Parent::Issuer(issuer) if issuer.parent().is_none() => Parent::Current,
            other => other,
        };
        let slot = start(class, parent);
        let instead = match slot {
            Some(_) => None,
            None => instead_of(parent),
        };
        Self { slot, instead }
    }

    /// Says a word about the transaction; see [`Guard::property`](crate::Guard::property).
    pub fn property(&mut self, key: &str, value: &str) {
        self.append(ContextEntry::Property(key, value));
    }

    /// Says a number about the transaction, within the same bound.
    pub fn metric(&mut self, key: &str, value: f64) {
        self.append(ContextEntry::Metric(key, value));
    }

    /// Adds an input besides the parent; see [`Guard::link`](crate::Guard::link).
    pub fn link(&mut self, issuer: &Correlator) {
        let (Some(slot), Some(control)) = (self.own_slot(), taken_control()) else { return };
        if !links::is_link(issuer) {
            return;
        }
        issued::publish_link(control, issuer);
        // SAFETY: the handle holds the slot, and is borrowed mutably.
        let (links, state) = unsafe { (slot.links(), slot.state()) };
        let Some(state) = state else { return };
        if state.flags & links::FLAG == 0 {
            state.flags |= links::FLAG;
            show_links(slot.frame());
            links.reset(); // of the slot's transaction before
        }
        links.push(issuer);
    }

    /// The token that travels with a message; see
    /// [`Guard::correlator`](crate::Guard::correlator).
    pub fn correlator(&self) -> Correlator {
        match (self.slot, self.state()) {
            (Some(slot), Some(state)) => correlator_of(slot, state),
            _ => self.instead.as_deref().cloned().unwrap_or_else(issued::nobody),
        }
    }

    /// Stops the transaction.
    pub fn stop(self, status: Status) {
        ManuallyDrop::new(self).end(status, clock::ticks());
    }

    pub(crate) fn append(&mut self, entry: ContextEntry<'_>) {
        let Some(slot) = self.slot else { return };
        // SAFETY: the handle holds the slot.
        let Some(state) = (unsafe { slot.state() }) else { return };
        let len = usize::from(state.context_len);
        let (len, cut) = crate::context::append_to(slot.frame(), len, entry);
        state.context_len = len;
        if cut {
            state.flags |= Flags::CONTEXT_CUT.0;
        }
    }

    /// The slot of the transaction, if this process records it.
    pub(crate) fn own_slot(&self) -> Option<&'static StartedSlot> {
        self.slot.filter(|slot| is_of(slot.process))
    }

    pub(crate) fn slot(&self) -> Option<&'static StartedSlot> {
        self.slot
    }

    pub(crate) fn state(&self) -> Option<&StartedState> {
        // SAFETY: the handle holds the slot, and is borrowed.
        self.slot.and_then(|slot| unsafe { slot.state() }.as_ref())
    }

    pub(crate) fn state_mut(&mut self) -> Option<&mut StartedState> {
        // SAFETY: the handle holds the slot, and is borrowed mutably.
        self.slot.and_then(|slot| unsafe { slot.state() }.as_mut())
    }

    /// Ends it at a stamp that was taken already; at most once.
    pub(crate) fn end(&mut self, status: Status, now: u64) {
        self.close(|control, slot, state| finish(control, slot, state, status, now));
    }

    /// Gives its slot back, after `last` has been done with it; at most once.
    pub(crate) fn close(&mut self, last: impl FnOnce(&Control, &StartedSlot, &StartedState)) {
        drop(self.instead.take());
        let Some(slot) = self.slot.take() else { return };
        if !is_of(slot.process) {
            return; // started before a fork: the parent's to stop
        }
        let control = taken_control();
        // SAFETY: the handle holds the slot, and gives it back below.
        let state = unsafe { slot.state() };
        if let (Some(control), Some(state)) = (control, &*state) {
            last(control, slot, state);
        }
        *state = None;
        slot.frame().ready.store(0, Release);
        StartedSlots::of(slot.process).give(slot, control);
    }
}

impl Drop for Started {
    fn drop(&mut self) {
        self.end(Status::Aborted, clock::ticks());
    }
}

/// Whether a process is the running one.
fn is_of(process: &'static Process) -> bool {
    let own = uncounted_control().map(Control::process).or_else(Process::current);
    own.is_some_and(|own| std::ptr::eq(own, process))
}

#[cold]
fn instead_of(parent: Parent<'_>) -> Option<Box<Correlator>> {
    match parent {
        Parent::Issuer(issuer) => Some(Box::new(issuer.clone())),
        Parent::Current => issued::current().map(Box::new),
        Parent::Nobody => None,
    }
}

/// Takes a slot and fills it in; `None` where nothing is recorded.
fn start(class: &Class, parent: Parent<'_>) -> Option<&'static StartedSlot> {
    let control = taken_control()?;
    let process = control.process();
    let switch = switch_of(class, process)?;
    if switch & SWITCH_ENABLED == 0 {
        return None;
    }
    let slot = StartedSlots::of(process).take(process, control)?;
    let lineage = match parent {
        Parent::Issuer(issuer) => {
            // SAFETY: the slot was just taken.
            unsafe { slot.keep(issuer) };
            lineage_under(issuer, class.id())
        }
        Parent::Current => lineage(control, control.depth.get(), class.id()),
        Parent::Nobody => lineage(control, 0, class.id()),
    };
    let mut issuer = if lineage.parent == 0 { Issuer::Root } else { Issuer::Parent };
    if let (Parent::Current, Issuer::Parent) = (parent, issuer) {
        match issued::current() {
            // SAFETY: as above.
            Some(around) => unsafe { slot.keep(&around) },
            None => issuer = Issuer::Root,
        }
    }
    let id = control.next_id.get();
    control.next_id.set(id + 1);
    let frame = slot.frame();
    let set = |index: usize, value: u64| frame.words[index].store(value, Relaxed);
    set(word::CHAIN_HIGH, lineage.chain_high);
    set(word::CHAIN_LOW, lineage.chain_low);
    set(word::PARENT, lineage.parent);
    set(word::CLASS, class.id().0);
    set(word::PATH, lineage.path.0);
    set(word::ROOT_PROCESS, lineage.root_process);
    set(word::CONTEXT, lineage.level << 48);
    set(word::THREAD, control.thread.get() | u64::from(lineage.flags) << 40);
    let process_cpu = (switch & SWITCH_PROCESS_CPU != 0).then(clock::process_cpu_ns);
    let now = stamp_begin(control);
    let start_ns = control.utc_ns_of(now);
    set(word::START, start_ns.cast_unsigned());
    set(word::ROOT_START, lineage.root_start_ns.unwrap_or(start_ns).cast_unsigned());
    let state = StartedState {
        id,
        class_index: class.index(),
        start_ticks: now,
        cpu_ticks: now,
        cpu_offset: control.cpu_offset.get(),
        starter: (control, control.thread.get()),
        process_cpu_ns: process_cpu,
        context_len: 0,
        flags: lineage.flags,
        issuer,
        counted_cpu_ns: None,
    };
    // SAFETY: as above.
    *unsafe { slot.state() } = Some(state);
    frame.ready.store(id, Release);
    Some(slot)
}

/// The correlator that the transaction in `slot` issues.
fn correlator_of(slot: &StartedSlot, state: &StartedState) -> Correlator {
    let words = &slot.frame().words;
    let get = |index: usize| words[index].load(Relaxed);
    let own =
        Ancestor { class: ClassId(get(word::CLASS)), start_ns: get(word::START).cast_signed() };
    // SAFETY: asked by the holder only.
    match (unsafe { slot.issued() }, state.issuer) {
        (Some(issued), Issuer::Own) => issued.clone(),
        (Some(parent), _) => parent.child(TransactionId(state.id), own),
        (None, _) => {
            let chain = ChainId::from_halves(get(word::CHAIN_HIGH), get(word::CHAIN_LOW));
            let process = ProcessId(slot.process.id.0);
            Correlator::root(chain, TransactionId(state.id), process, own)
        }
    }
}

fn finish(control: &Control, slot: &StartedSlot, state: &StartedState, status: Status, now: u64) {
    let elapsed_ticks = now.saturating_sub(state.start_ticks);
    let elapsed_ns = if clock::is_virtual() {
        elapsed_in_replay(slot.frame().words[word::START].load(Relaxed), now)
    } else {
        control.scale().to_ns(elapsed_ticks)
    };
    let cpu_ns = match state.counted_cpu_ns {
        Some(counted) => counted,
        None => thread_cpu_ns(control, state, now),
    };
    let begun = state.process_cpu_ns;
    let ended = Ended {
        id: state.id,
        elapsed_ns,
        cpu_ns: cpu_ns.min(elapsed_ns) & control.cpu_mask.get(),
        process_cpu_ns: begun
            .map_or(NO_PROCESS_CPU, |begun| clock::process_cpu_ns().saturating_sub(begun)),
        status,
        context_len: state.context_len,
        flags: state.flags,
        links: links_of(slot, state),
    };
    record(control, slot, state, &ended);
}

/// Links of the transaction in `slot`, as entries of a context.
pub(crate) fn links_of<'a>(slot: &'a StartedSlot, state: &StartedState) -> &'a [u8] {
    // SAFETY: asked by the holder only, at the end of the transaction.
    if state.flags & links::FLAG == 0 { &[] } else { unsafe { slot.links() }.entries() }
}

/// CPU time of the thread since the start, if it is the one that started.
fn thread_cpu_ns(control: &Control, state: &StartedState, now: u64) -> u64 {
    if state.starter != (std::ptr::from_ref(control), control.thread.get()) {
        return 0;
    }
    control.scale().to_ns(cpu_ticks_between(control, state.cpu_ticks, state.cpu_offset, now))
}

/// Writes the record of the transaction in `slot`.
pub(crate) fn record(
    control: &Control,
    slot: &StartedSlot,
    state: &StartedState,
    ended: &Ended<'_>,
) {
    let statistics = thread::statistics(control, state.class_index);
    // SAFETY: never freed.
    let Some(statistics) = (unsafe { statistics.as_ref() }) else { return };
    let frame = slot.frame();
    commit::write(control, frame, ended, statistics);
    if commit::is_new_path(control, frame) {
        let path = PathId(frame.words[word::PATH].load(Relaxed));
        if !path.is_none() {
            issued::publish_classes(slot.process, path, &correlator_of(slot, state));
        }
        control.path_cache[path.0 as usize % PATH_CACHE].set(path.0);
    }
}
