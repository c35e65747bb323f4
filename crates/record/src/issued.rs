//! Correlators that open transactions issue, and the paths that readers are told of.
#![allow(unsafe_code)] // what is kept beside a frame
#![allow(clippy::cast_possible_truncation)] // usize has 64 bits

use crate::control::{Control, FrameKind, PATH_CACHE, control};
use crate::layout::word;
use crate::process::Process;
use chronoscope_model::{Ancestor, ChainId, ClassId, Correlator, PathId, ProcessId, TransactionId};
use std::sync::atomic::Ordering::Relaxed;

/// The correlator that the transaction in the frame at `depth` issues.
pub(crate) fn correlator_at(control: &Control, depth: u32) -> Correlator {
    let base = (0..=depth).rev().find(|at| control.private(*at).kind.get() != FrameKind::Nested);
    let (mut correlator, first) = match base {
        Some(at) => {
            // SAFETY: kept beside every frame that is not nested, until the frame is reused.
            let kept = unsafe { (*control.inherited[at as usize].get()).assume_init_ref() };
            let is_own = control.private(at).kind.get() != FrameKind::Explicit;
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

/// Tells readers the classes on the link's path, which may be of a chain that this process never
/// continues.
#[inline]
pub(crate) fn publish_link(control: &Control, issuer: &Correlator) {
    let path = issuer.path();
    if path.is_none() || control.path_cache[path.0 as usize % PATH_CACHE].get() == path.0 {
        return;
    }
    publish_classes(control.process(), path, issuer);
    control.path_cache[path.0 as usize % PATH_CACHE].set(path.0);
}
