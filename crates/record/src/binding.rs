//! Functions for a binding to another language, beyond guards and handles: named parents, starts in
//! the past, transactions reported afterwards, threads that work for a transaction.

use crate::borrowed;
use crate::class::{Class, switch_of};
use crate::commit::Ended;
use crate::control::{Control, LEVEL_SHIFT};
use crate::issued;
use crate::layout::word;
use crate::open::Opened;
use crate::process::{self, Counter, Process};
use crate::stamp::stamp_begin;
use crate::started;
use crate::started::{Parent, Started};
use crate::started_slots::Issuer;
use crate::thread::{taken_control, uncounted_control};
use chronoscope_clock as clock;
use chronoscope_model::context::{self, ContextEntry};
use chronoscope_model::{
    Ancestor, ChainId, ClassId, Correlator, Flags, NO_PROCESS_CPU, Status, TransactionId,
};
use std::marker::PhantomData;
use std::mem::ManuallyDrop;
use std::sync::atomic::Ordering::{Relaxed, Release};

/// As [`init`](crate::init), for a library: the first name wins, and later ones are ignored
/// silently.
pub fn init_unless_named(application: &str) {
    process::name(application);
    let _ = Process::current();
}

/// Counts a correlator of another kind: its chain begins anew here.
pub fn count_foreign_correlator() {
    // A thread that records knows its process; to ask for it is a system call.
    let known = uncounted_control().map(Control::process);
    if let Some(process) = known.or_else(Process::current) {
        process.count(Counter::ForeignCorrelators);
    }
}

/// CPU time of the calling thread so far, in nanoseconds: reckoned where that is possible, else a
/// system call.
pub fn thread_cpu_ns() -> u64 {
    let Some(control) = uncounted_control() else { return clock::thread_cpu_ns() };
    let now = stamp_begin(control);
    control.cpu_ns_of(now)
}

impl Class {
    /// Starts a transaction under `parent`; otherwise as [`Self::start`].
    pub fn start_under(&self, parent: Parent<'_>) -> Started {
        Started::new(self, parent)
    }

    /// Issues the correlator of a transaction that will be reported later ([`Started::take_over`]),
    /// with its start taken as now; the correlator of `parent` where nothing is recorded.
    pub fn issue(&self, parent: Parent<'_>) -> Correlator {
        let around = match parent {
            Parent::Issuer(issuer) => Some(issuer.clone()),
            Parent::Current => issued::current(),
            Parent::Nobody => None,
        };
        let around = around.filter(|around| !around.parent().is_none());
        let instead = || around.clone().unwrap_or_else(issued::nobody);
        let Some(control) = taken_control() else { return instead() };
        let process = control.process();
        let Some(switch) = switch_of(self, process) else { return instead() };
        if switch & crate::layout::SWITCH_ENABLED == 0 {
            return instead();
        }
        let id = control.next_id.get();
        control.next_id.set(id + 1);
        let now = stamp_begin(control);
        let own = Ancestor { class: self.id(), start_ns: control.utc_ns_of(now) };
        match around {
            Some(around) => around.child(TransactionId(id), own),
            None => {
                let chain = ChainId::from_halves(process.chain_high, id);
                Correlator::root(chain, TransactionId(id), process.id, own)
            }
        }
    }
}

impl Started {
    /// Number of the transaction among the started ones that are not stopped, in `[0, 65535]`:
    /// unique at any time. `None` where it is not recorded.
    pub fn number(&self) -> Option<u32> {
        self.slot().map(crate::started_slots::StartedSlot::number)
    }

    /// Sets the start to this stamp ([`clock::ticks`]), at which the request had arrived already. A
    /// stamp in the future changes nothing.
    pub fn arrived(&mut self, ticks: u64) {
        let Some(control) = uncounted_control() else { return };
        if self.state().is_some_and(|state| ticks < state.start_ticks) {
            self.set_start(ticks, control.utc_ns_of_past(ticks));
        }
    }

    /// Sets the start as [`Self::arrived`] does, by the clock: UTC, in nanoseconds since 1970.
    pub fn arrived_at(&mut self, start_ns: i64) {
        let (Some(control), Some(state)) = (uncounted_control(), self.state()) else { return };
        let before = control.utc_ns_of_past(state.start_ticks).saturating_sub(start_ns);
        if let Ok(before) = u64::try_from(before) {
            let ticks = state.start_ticks.saturating_sub(control.scale().to_ticks(before));
            self.set_start(ticks, start_ns);
        }
    }

    fn set_start(&mut self, ticks: u64, start_ns: i64) {
        let Some(slot) = self.own_slot() else { return };
        let Some(state) = self.state_mut() else { return };
        state.start_ticks = ticks;
        let words = &slot.frame().words;
        words[word::START].store(start_ns.cast_unsigned(), Relaxed);
        if state.issuer == Issuer::Root || state.flags & Flags::FOREIGN.0 != 0 {
            words[word::ROOT_START].store(start_ns.cast_unsigned(), Relaxed);
        }
    }

    /// Makes it the transaction that issued `own` ([`Class::issue`]): the chain of `own` counts.
    /// Returns whether `own` is of the class, or names no class.
    pub fn take_over(&mut self, own: &Correlator) -> bool {
        let Some(slot) = self.own_slot() else { return true };
        let words = &slot.frame().words;
        let set = |index: usize, value: u64| words[index].store(value, Relaxed);
        let class = ClassId(words[word::CLASS].load(Relaxed));
        if own.parent().is_none() || own.ancestors().last().is_some_and(|last| last.class != class)
        {
            return false;
        }
        slot.frame().ready.store(0, Release);
        set(word::CHAIN_HIGH, own.chain().high());
        set(word::CHAIN_LOW, own.chain().low());
        set(word::PATH, own.path().0);
        set(word::ROOT_PROCESS, own.root_process().0);
        let context = words[word::CONTEXT].load(Relaxed) & 0xffff_ffff_ffff;
        set(word::CONTEXT, u64::from(own.level()) << LEVEL_SHIFT | context);
        if let Some(start_ns) = own.root_start_ns() {
            set(word::ROOT_START, start_ns.cast_unsigned());
        }
        keep_own(slot, own);
        if let Some(state) = self.state_mut() {
            state.id = own.parent().0;
            state.issuer = Issuer::Own;
            let foreign = if own.is_foreign() { Flags::FOREIGN.0 } else { 0 };
            state.flags = state.flags & !Flags::FOREIGN.0 | foreign;
        }
        slot.frame().ready.store(own.parent().0, Release);
        true
    }

    /// Appends entries that are encoded already as a context ([`context::append`]). An entry that
    /// does not fit is cut, and the record is marked as cut.
    pub fn append_encoded(&mut self, entries: &[u8]) {
        for entry in context::entries(entries) {
            let used = self.state().map_or(0, |state| usize::from(state.context_len));
            match entry {
                ContextEntry::Property(key, value) => {
                    let room = context::MAX_BYTES.saturating_sub(used + key.len() + 3);
                    let kept = &value[..value.floor_char_boundary(room)];
                    if kept.len() == value.len() || !kept.is_empty() {
                        self.append(ContextEntry::Property(key, kept));
                    }
                    if kept.len() < value.len() {
                        self.context_was_cut();
                    }
                }
                number => self.append(number),
            }
        }
    }

    /// Notes that the context of the transaction is incomplete.
    pub fn context_was_cut(&mut self) {
        if let Some(state) = self.state_mut() {
            state.flags |= Flags::CONTEXT_CUT.0;
        }
    }

    /// Sets its CPU time, in nanoseconds, in place of that of the thread that started it.
    pub fn count_cpu(&mut self, cpu_ns: u64) {
        if let Some(state) = self.state_mut() {
            state.counted_cpu_ns = Some(cpu_ns);
        }
    }

    /// Stops it as [`Started::stop`] does, at a stamp that was taken already ([`clock::ticks`]).
    pub fn stop_at(self, status: Status, ticks: u64) {
        ManuallyDrop::new(self).end(status, ticks);
    }

    /// Discards the transaction, as if it had never been started.
    pub fn discard(self) {
        ManuallyDrop::new(self).close(|_, _, _| {});
    }

    /// Stops it with times measured elsewhere: it took `elapsed_ns` and stopped at `stop_ns` (UTC,
    /// nanoseconds since 1970). Its CPU time is the counted one.
    pub fn report(mut self, status: Status, elapsed_ns: u64, stop_ns: i64) {
        let start_ns = stop_ns.saturating_sub_unsigned(elapsed_ns);
        if let (Some(slot), Some(state)) = (self.own_slot(), self.state()) {
            let words = &slot.frame().words;
            words[word::START].store(start_ns.cast_unsigned(), Relaxed);
            let level_unknown = state.flags & Flags::FOREIGN.0 != 0;
            if state.issuer == Issuer::Root || level_unknown {
                words[word::ROOT_START].store(start_ns.cast_unsigned(), Relaxed);
            }
        }
        self.close(|control, slot, state| {
            let cpu_ns = state.counted_cpu_ns.unwrap_or(0).min(elapsed_ns);
            let ended = Ended {
                id: state.id,
                elapsed_ns,
                cpu_ns: cpu_ns & control.cpu_mask.get(),
                process_cpu_ns: NO_PROCESS_CPU,
                status,
                context_len: state.context_len,
                flags: state.flags,
                links: started::links_of(slot, state),
            };
            started::record(control, slot, state, &ended);
        });
    }
}

#[allow(unsafe_code)] // the correlator that a handle alone has
fn keep_own(slot: &crate::started_slots::StartedSlot, own: &Correlator) {
    // SAFETY: called by the holder of the slot, mutably borrowed, with no reference into it.
    unsafe { slot.keep(own) };
}

/// Binding of the calling thread to a transaction that is recorded elsewhere: transactions begun
/// meanwhile become its children.
///
/// Several may be left in any order; a transaction that was begun on one stays there.
#[derive(Debug)]
#[must_use = "left where it is dropped"]
pub struct Bound {
    opened: Opened,
    thread: PhantomData<*const ()>, // the thread's own: neither Send nor Sync
}

impl Bound {
    /// Binds the thread to the transaction that issued `correlator`.
    pub fn new(correlator: &Correlator) -> Self {
        let opened = match uncounted_control() {
            Some(control) if !correlator.parent().is_none() => {
                borrowed::borrow(control, correlator)
            }
            _ => Opened::NONE,
        };
        Self { opened, thread: PhantomData }
    }
}

impl Drop for Bound {
    fn drop(&mut self) {
        borrowed::leave(self.opened);
    }
}
