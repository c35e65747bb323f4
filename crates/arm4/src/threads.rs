//! Threads that work for transactions.
//!
//! What a thread is bound to is its own to undo. A transaction may be stopped by another thread
//! meanwhile: then the thread notices with its next call.

use crate::codes::{self, Code};
use crate::handles::{self, Claim};
use crate::thread_number;
use chronoscope_record::{self as record, Bound};
use std::cell::RefCell;

/// Bindings of the calling thread, in order.
struct Here(RefCell<Vec<(i64, Bound)>>);

thread_local! {
    static HERE: Here = const { Here(RefCell::new(Vec::new())) };
}

impl Drop for Here {
    /// The thread ends: its CPU time so far is its transactions'.
    fn drop(&mut self) {
        let own = thread_number::current();
        for (handle, bound) in self.0.get_mut().drain(..) {
            if let Ok(mut claim) = handles::claim(handle)
                && let Some(extra) = claim.known_extra()
            {
                extra.unbind(own);
            }
            drop(bound);
        }
    }
}

/// Binds the calling thread. Binding it again has no effect.
pub(crate) fn bind(claim: &mut Claim) -> Code {
    forget_closed();
    let thread = thread_number::current();
    if claim.extra().is_bound(thread) {
        return codes::OK;
    }
    if !claim.extra().bind(thread) {
        return codes::FULL;
    }
    let correlator = claim.started().correlator();
    let handle = claim.handle();
    let kept = HERE.try_with(|here| {
        here.0.borrow_mut().push((handle, Bound::new(&correlator)));
    });
    // A thread that is ending already keeps nothing: it is unbound with the transaction.
    kept.map_or(codes::NOT_BOUND, |()| codes::OK)
}

/// Unbinds the calling thread.
pub(crate) fn unbind(claim: &mut Claim) -> Code {
    let thread = thread_number::current();
    let was = claim.known_extra().is_some_and(|extra| extra.unbind(thread));
    leave(claim.handle());
    forget_closed();
    if was { codes::OK } else { codes::NOT_BOUND }
}

/// The calling thread is at the transaction no longer, whoever counts its time.
pub(crate) fn leave(handle: i64) {
    // Without a list, in a thread that is ending, there is nothing to leave.
    let _ = HERE.try_with(|here| here.0.borrow_mut().retain(|(own, _)| *own != handle));
}

/// The correlator of what the calling thread works for.
pub(crate) fn current() -> Option<record::Correlator> {
    forget_closed();
    record::current()
}

/// Leaves what others have stopped.
fn forget_closed() {
    let _ = HERE.try_with(|here| {
        here.0.borrow_mut().retain(|(handle, _)| handles::is_open(*handle));
    });
}
