//! Chains without a ring, until the ring is there.

use chronoscope_model::{Ancestor, ChainId, ClassId, Correlator, ProcessId, TransactionId};
use std::cell::RefCell;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};

static APPLICATION: OnceLock<String> = OnceLock::new();
static NEXT: AtomicU64 = AtomicU64::new(1);

thread_local! {
    static OPEN: RefCell<Vec<Correlator>> = const { RefCell::new(Vec::new()) };
}

/// Says which application this program is.
pub fn init(application: &str) {
    let _ = APPLICATION.set(application.to_owned());
}

/// The token of the thread's open transaction.
pub fn current() -> Option<Correlator> {
    OPEN.with_borrow(|open| open.last().cloned())
}

pub(crate) fn child(class: &str, parent: Option<&Correlator>) -> Correlator {
    let application = APPLICATION.get_or_init(|| "program".to_owned());
    let id = TransactionId(NEXT.fetch_add(1, Ordering::Relaxed));
    let start_ns = chronoscope_clock::utc_now_ns();
    let own = Ancestor { class: ClassId::of(application, class), start_ns };
    match parent.cloned().or_else(current) {
        Some(parent) => parent.child(id, own),
        None => Correlator::root(ChainId::from_halves(1, id.0), id, ProcessId(1), own),
    }
}

pub(crate) fn begin(class: &str, parent: Option<&Correlator>) -> usize {
    push(child(class, parent))
}

pub(crate) fn push(correlator: Correlator) -> usize {
    OPEN.with_borrow_mut(|open| {
        open.push(correlator);
        open.len() - 1
    })
}

pub(crate) fn at(depth: usize) -> Correlator {
    OPEN.with_borrow(|open| open[depth].clone())
}

pub(crate) fn end(depth: usize) {
    OPEN.with_borrow_mut(|open| open.truncate(depth));
}
