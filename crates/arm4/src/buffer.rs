//! The sub-buffers of a call, and the arrays in them.
#![allow(unsafe_code)] // reads what callers point to

use crate::codes::{First, SUBBUFFER};
use crate::types::{Buffer4, Known, SubBuffer};

/// More entries than this are no list: the format has 23 kinds.
const COUNT_MAX: usize = 256;

/// The sub-buffers that a call was given.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Buffers<'a> {
    list: &'a [*mut SubBuffer],
    /// The formats that are there and that the call knows what to do with, by [`bit_of`].
    present: u64,
}

/// A format's bit: those of the binding are 3 to 18 and 102 to 107.
const fn bit_of(format: i32) -> u64 {
    1 << (format & 63)
}

impl<'a> Buffers<'a> {
    /// Checks a list of sub-buffers; a format outside `allowed` is noted as a fault.
    ///
    /// # Safety
    /// `buffer` is NULL, or the structure of `arm4.h`, whose array has as many entries as it
    /// states, each NULL or a sub-buffer of its format; all of that during the call.
    #[inline]
    pub(crate) unsafe fn of(buffer: *const Buffer4, allowed: &[i32], first: &mut First) -> Self {
        if buffer.is_null() {
            return Self { list: &[], present: 0 };
        }
        // SAFETY: the caller's promise.
        unsafe { Self::look(&*buffer, allowed, first) }
    }

    #[cold]
    unsafe fn look(buffer: &Buffer4, allowed: &[i32], first: &mut First) -> Self {
        // SAFETY: the caller's promise.
        let Some(list) = (unsafe { array(buffer.array, buffer.count, COUNT_MAX) }) else {
            first.note(SUBBUFFER);
            return Self { list: &[], present: 0 };
        };
        let mut present = 0;
        for entry in list.iter().filter(|entry| !entry.is_null()) {
            // SAFETY: the caller's promise.
            let format = entry.is_aligned().then(|| unsafe { (**entry).format });
            match format.filter(|format| allowed.contains(format)) {
                Some(format) => present |= bit_of(format),
                None => first.note(SUBBUFFER),
            }
        }
        Self { list, present }
    }

    /// Whether there are none.
    #[inline]
    pub(crate) fn is_empty(self) -> bool {
        self.list.is_empty()
    }

    /// The first sub-buffer of a format.
    #[inline]
    pub(crate) fn get<T: Known>(self) -> Option<&'static T> {
        // SAFETY: entries are NULL or sub-buffers of their formats, as `of` was promised; the
        // reference is used during the call only.
        unsafe { self.pointer::<T>()?.as_ref() }
    }

    /// Pointer to the sub-buffer of a format, for the library to fill in; see [`Self::get`].
    #[inline]
    pub(crate) fn pointer<T: Known>(self) -> Option<*mut T> {
        // Most calls ask for ten formats, and are given one or two.
        if self.present & bit_of(T::FORMAT) == 0 { None } else { self.search() }
    }

    #[inline(never)]
    fn search<T: Known>(self) -> Option<*mut T> {
        let is = |entry: &&*mut SubBuffer| {
            let fits = !entry.is_null() && entry.cast::<T>().is_aligned();
            // SAFETY: as above.
            fits && unsafe { (***entry).format == T::FORMAT }
        };
        self.list.iter().find(is).map(|entry| entry.cast::<T>())
    }
}

/// An array of a program; `None` when its count cannot be, or it is missing.
///
/// # Safety
/// `first` is NULL or the first of `count` elements, during the call.
pub(crate) unsafe fn array<'a, T>(first: *const T, count: i32, max: usize) -> Option<&'a [T]> {
    match usize::try_from(count) {
        Ok(0) => Some(&[]),
        Ok(count) if count <= max && !first.is_null() && first.is_aligned() => {
            // SAFETY: the caller's promise.
            Some(unsafe { std::slice::from_raw_parts(first, count) })
        }
        _ => None,
    }
}
