//! Context of an open transaction, and the correlator that it issues.
#![allow(unsafe_code)] // the context's bytes in the ring

use crate::Correlator;
use crate::control::{Ending, control};
use crate::issued;
use crate::layout::{Frame, word};
use crate::links;
use crate::open::Opened;
use chronoscope_model::Flags;
use chronoscope_model::context::{self, ContextEntry};
use std::sync::atomic::Ordering::{Relaxed, Release};

/// Appends to the context of an open transaction of the calling thread.
pub(crate) fn append(opened: Opened, entry: ContextEntry<'_>) {
    let control = control();
    let is_open =
        opened.index < control.depth.get() && control.private(opened.index).id.get() == opened.id;
    if !is_open {
        return; // not recorded, or ended by something around it
    }
    let private = control.private(opened.index);
    let (len, cut) =
        append_to(control.frame(opened.index), usize::from(private.context_len.get()), entry);
    private.context_len.set(len);
    if private.ending.get() == Ending::Hot {
        private.ending.set(Ending::Slow);
    }
    if cut {
        private.add_flags(Flags::CONTEXT_CUT.0);
    }
}

/// Adds a link to an open transaction of the calling thread.
pub(crate) fn link(opened: Opened, issuer: &Correlator) {
    let control = control();
    let is_open =
        opened.index < control.depth.get() && control.private(opened.index).id.get() == opened.id;
    if !is_open || !links::is_link(issuer) {
        return; // not recorded, or ended by something around it
    }
    issued::publish_link(control, issuer);
    control.link(opened.index, issuer);
    let private = control.private(opened.index);
    if private.ending.get() == Ending::Hot {
        private.ending.set(Ending::Slow);
    }
}

/// Appends to a frame's context of `len` bytes: its new length, and whether it did not fit. Only
/// the frame's owner may call.
pub(crate) fn append_to(frame: &Frame, len: usize, entry: ContextEntry<'_>) -> (u16, bool) {
    // SAFETY: the owner is the only one in this process that touches these bytes; a reader in
    // another process copies them and knows that they may be changing.
    let bytes = unsafe { &mut *frame.context.get() };
    let new = context::append(bytes, len, entry);
    #[allow(clippy::cast_possible_truncation)] // at most MAX_BYTES
    let kept = new.unwrap_or(len) as u16;
    let context = &frame.words[word::CONTEXT];
    let rest = context.load(Relaxed) & !(0xffff << 32);
    context.store(rest | u64::from(kept) << 32, Release);
    (kept, new.is_none())
}

/// Correlator of an open transaction of the calling thread, or of its parent if it is not recorded.
pub(crate) fn correlator(opened: Opened) -> Correlator {
    let control = control();
    if opened.index < control.depth.get() && control.private(opened.index).id.get() == opened.id {
        return issued::correlator_at(control, opened.index);
    }
    issued::current().unwrap_or_else(issued::nobody)
}
