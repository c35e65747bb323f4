//! A transaction that may be stopped on another thread.
#![allow(unsafe_code)] // the state that a handle alone has
#![allow(clippy::cast_possible_truncation)] // words are split into halves; usize has 64 bits

use crate::class::Class;
use crate::commit::{self, Ended};
use crate::layout::{SWITCH_ENABLED, SWITCH_PROCESS_CPU, word};
use crate::process::Process;
use crate::slots::{Place, State};
use crate::thread::{self, Control};
use crate::{Correlator, Status, slow, transaction};
use chronoscope_clock as clock;
use chronoscope_model::context::Entry;
use chronoscope_model::{
    Ancestor, ChainId, Flags, NO_PROCESS_CPU, PathId, ProcessId, TransactionId,
};
use std::mem::ManuallyDrop;
use std::sync::atomic::Ordering::{Relaxed, Release};

/// A started transaction. Dropped without being stopped, it ends ABORTED.
///
/// Its CPU time is that of the thread between start and stop, if the same thread does both, and 0
/// otherwise: it is nobody's then. Its record names the thread that started it, and lies in the
/// ring of the thread that stopped it.
#[derive(Debug)]
#[must_use = "a transaction that is not stopped ends ABORTED"]
pub struct Started {
    place: Option<&'static Place>,
    /// Where nothing is recorded: the correlator of what it would hang in.
    instead: Option<Box<Correlator>>,
}

impl Started {
    pub(crate) fn new(class: &Class, parent: Option<&Correlator>) -> Self {
        let parent = parent.filter(|parent| !parent.parent().is_none());
        let place = start(class, parent);
        let instead = match place {
            Some(_) => None,
            None => parent.cloned().or_else(slow::current).map(Box::new),
        };
        Self { place, instead }
    }

    /// Says a word about the transaction; see [`Guard::property`](crate::Guard::property).
    pub fn property(&mut self, key: &str, value: &str) {
        self.append(Entry::Property(key, value));
    }

    /// Says a number about the transaction, within the same bound.
    pub fn metric(&mut self, key: &str, value: f64) {
        self.append(Entry::Metric(key, value));
    }

    /// The token that travels with a message; see
    /// [`Guard::correlator`](crate::Guard::correlator).
    pub fn correlator(&self) -> Correlator {
        match self.state() {
            Some(state) => state.correlator.clone(),
            None => self.instead.as_deref().cloned().unwrap_or_else(slow::nobody),
        }
    }

    /// Stops the transaction.
    pub fn stop(self, status: Status) {
        ManuallyDrop::new(self).end(status, clock::ticks());
    }

    fn append(&mut self, entry: Entry<'_>) {
        let Some(place) = self.place else { return };
        // SAFETY: the handle holds the place.
        let Some(state) = (unsafe { place.state() }) else { return };
        let len = usize::from(state.context_len);
        let (len, cut) = crate::context::append_to(place.frame(), len, entry);
        state.context_len = len;
        if cut {
            state.flags |= Flags::CONTEXT_CUT.0;
        }
    }

    pub(crate) fn state(&self) -> Option<&State> {
        // SAFETY: the handle holds the place, and is borrowed.
        self.place.and_then(|place| unsafe { place.state() }.as_ref())
    }

    pub(crate) fn state_mut(&mut self) -> Option<&mut State> {
        // SAFETY: the handle holds the place, and is borrowed mutably.
        self.place.and_then(|place| unsafe { place.state() }.as_mut())
    }

    /// Ends it at a stamp that was taken already; at most once.
    pub(crate) fn end(&mut self, status: Status, now: u64) {
        drop(self.instead.take());
        let Some(place) = self.place.take() else { return };
        let control = slow::taken_control();
        let process = control.map(Control::process).or_else(Process::current);
        if !process.is_some_and(|process| std::ptr::eq(process, place.process)) {
            return; // started before a fork: the parent's to stop
        }
        // SAFETY: the handle holds the place, and gives it back below.
        let state = unsafe { place.state() }.take();
        if let (Some(control), Some(state)) = (control, state) {
            finish(control, place, &state, status, now);
        }
        place.frame().ready.store(0, Release);
        place.process.started.give(place);
    }
}

impl Drop for Started {
    fn drop(&mut self) {
        self.end(Status::Aborted, clock::ticks());
    }
}

/// Takes a place and fills it in; `None` where nothing is recorded.
fn start(class: &Class, parent: Option<&Correlator>) -> Option<&'static Place> {
    let control = slow::taken_control()?;
    let process = control.process();
    let switch = slow::switch_of(class, process)?;
    if switch & SWITCH_ENABLED == 0 {
        return None;
    }
    let place = process.started.take(process)?;
    let id = control.next_id.get();
    let around = parent.cloned().or_else(slow::current);
    let lineage = match (&around, parent) {
        (Some(around), Some(_)) => transaction::lineage_under(around, class.id()),
        _ => transaction::lineage(control, control.depth.get(), class.id()),
    };
    control.next_id.set(id + 1);
    let frame = place.frame();
    let set = |index: usize, value: u64| frame.words[index].store(value, Relaxed);
    set(word::CHAIN_HIGH, lineage.chain_high);
    set(word::CHAIN_LOW, lineage.chain_low);
    set(word::PARENT, lineage.parent);
    set(word::CLASS, class.id().0);
    set(word::PATH, lineage.path.0);
    set(word::ROOT_PROCESS, lineage.root_process);
    set(word::CONTEXT, lineage.level << 48);
    set(word::THREAD, control.thread.get() | u64::from(lineage.flags) << 40);
    let now = transaction::stamp_begin(control);
    let start_ns = control.utc_ns_of(now);
    set(word::START, start_ns.cast_unsigned());
    set(word::ROOT_START, lineage.root_start_ns.unwrap_or(start_ns).cast_unsigned());
    let own = Ancestor { class: class.id(), start_ns };
    let correlator = match around {
        Some(mut around) => {
            around.descend(TransactionId(id), own);
            around
        }
        None => {
            let chain = ChainId::from_halves(lineage.chain_high, lineage.chain_low);
            Correlator::root(chain, TransactionId(id), ProcessId(process.id.0), own)
        }
    };
    let process_cpu = (switch & SWITCH_PROCESS_CPU != 0).then(clock::process_cpu_ns);
    let state = State {
        id,
        class_index: class.index(),
        start_ticks: now,
        cpu_offset: control.cpu_offset.get(),
        starter: (control, control.thread.get()),
        process_cpu_ns: process_cpu,
        context_len: 0,
        flags: lineage.flags,
        polled_cpu_ns: 0,
        correlator,
    };
    // SAFETY: the place was just taken.
    *unsafe { place.state() } = Some(state);
    frame.ready.store(id, Release);
    Some(place)
}

fn finish(control: &Control, place: &Place, state: &State, status: Status, now: u64) {
    let statistics = thread::statistics(control, state.class_index);
    // SAFETY: never freed.
    let Some(statistics) = (unsafe { statistics.as_ref() }) else { return };
    let elapsed_ticks = now.saturating_sub(state.start_ticks);
    let scale = control.scale();
    let elapsed_ns = scale.to_ns(elapsed_ticks);
    let same_thread = state.starter == (std::ptr::from_ref(control), control.thread.get());
    let cpu_ns = if state.polled_cpu_ns > 0 || !same_thread {
        state.polled_cpu_ns
    } else {
        if elapsed_ticks > control.exact_ticks.get() || !control.cpu_is_reckonable() {
            control.reckon_cpu();
        }
        let shift = control.cpu_offset.get().wrapping_sub(state.cpu_offset);
        scale.to_ns(elapsed_ticks.cast_signed().wrapping_add(shift).max(0).cast_unsigned())
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
    };
    let frame = place.frame();
    commit::write(control, frame, &ended, statistics);
    if commit::is_new_path(control, frame) {
        let path = PathId(frame.words[word::PATH].load(Relaxed));
        if !path.is_none() {
            slow::publish_classes(place.process, path, &state.correlator);
        }
        control.path_cache[path.0 as usize % thread::PATH_CACHE].set(path.0);
    }
}
