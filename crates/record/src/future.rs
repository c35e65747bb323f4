//! A future as one transaction.
#![allow(unsafe_code)] // pin projection

use crate::borrowed::borrow;
use crate::class::Class;
use crate::open::Opened;
use crate::slow;
use crate::stamp::{cpu_ticks_between, stamp_begin};
use crate::started::Started;
use crate::thread::taken_control;
use chronoscope_clock as clock;
use chronoscope_model::Status;
use std::fmt;
use std::pin::Pin;
use std::task::{Context, Poll};

/// A future as one transaction; see [`Class::measure`].
///
/// The transaction is the thread's open one only while it is polled: a transaction begun inside a
/// poll becomes its child, on any thread. CPU time is summed over the polls.
#[must_use = "a future does nothing until it is polled"]
pub struct Measured<F: Future> {
    class: &'static Class,
    started: Option<Started>,
    status: fn(&F::Output) -> Status,
    future: F,
}

impl<F: Future> Measured<F> {
    pub(crate) fn new(class: &'static Class, future: F, status: fn(&F::Output) -> Status) -> Self {
        Self { class, started: None, status, future }
    }
}

impl<F: Future> fmt::Debug for Measured<F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Measured").field("class", &self.class).finish_non_exhaustive()
    }
}

impl<F: Future> Future for Measured<F> {
    type Output = F::Output;

    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<F::Output> {
        // SAFETY: `future` is never moved out of the pinned `self`, and `Measured` has no Drop.
        let this = unsafe { self.get_unchecked_mut() };
        let class = this.class;
        let started = this.started.get_or_insert_with(|| class.start());
        let entered = Entered::new(started);
        // SAFETY: as above.
        let polled = unsafe { Pin::new_unchecked(&mut this.future) }.poll(context);
        let now = clock::ticks();
        drop(entered);
        if let (Poll::Ready(output), Some(started)) = (&polled, &mut this.started) {
            started.end((this.status)(output), now);
        }
        polled
    }
}

/// A started transaction while it is the thread's open one. Left when dropped, too: a poll that
/// panics must not leave it open.
struct Entered<'a> {
    started: &'a mut Started,
    opened: Opened,
    start_ticks: u64,
    cpu_offset: i64,
}

impl<'a> Entered<'a> {
    fn new(started: &'a mut Started) -> Self {
        let nothing =
            |started| Self { started, opened: Opened::NONE, start_ticks: 0, cpu_offset: 0 };
        let Some(control) = taken_control() else { return nothing(started) };
        if started.state().is_none() {
            return nothing(started);
        }
        let opened = borrow(control, &started.correlator());
        let start_ticks = stamp_begin(control);
        let cpu_offset = control.cpu_offset.get();
        Self { started, opened, start_ticks, cpu_offset }
    }
}

impl Drop for Entered<'_> {
    fn drop(&mut self) {
        let now = clock::ticks();
        if self.opened == Opened::NONE {
            return;
        }
        let Some(control) = taken_control() else { return };
        let cpu_ticks = cpu_ticks_between(control, self.start_ticks, self.cpu_offset, now);
        let cpu_ns = control.scale().to_ns(cpu_ticks);
        if let Some(state) = self.started.state_mut() {
            *state.counted_cpu_ns.get_or_insert(0) += cpu_ns;
        }
        slow::end_at(self.opened, Status::Good, now);
    }
}
