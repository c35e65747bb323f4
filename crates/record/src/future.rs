//! A future as one transaction.
#![allow(unsafe_code)] // pin projection

use crate::{Class, Correlator, draft};
use std::pin::Pin;
use std::task::{Context, Poll};

/// A future as one transaction; see [`Class::measure`].
#[derive(Debug)]
pub struct Measured<F> {
    class: &'static Class,
    future: F,
    correlator: Option<Correlator>,
}

impl<F> Measured<F> {
    pub(crate) fn new(class: &'static Class, future: F) -> Self {
        Self { class, future, correlator: None }
    }
}

impl<F: Future> Future for Measured<F> {
    type Output = F::Output;

    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<F::Output> {
        // SAFETY: `future` is never moved out of the pinned `self`.
        let this = unsafe { self.get_unchecked_mut() };
        let name = this.class.name();
        let own = this.correlator.get_or_insert_with(|| draft::child(name, None)).clone();
        let depth = draft::push(own);
        // SAFETY: as above.
        let result = unsafe { Pin::new_unchecked(&mut this.future) }.poll(context);
        draft::end(depth);
        result
    }
}
