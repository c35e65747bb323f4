//! Begin and end for callers in C: plain functions, plain numbers.
//!
//! The ARM 4.1 binding is built on these; a program in C uses that one.
#![allow(unsafe_code)] // extern "C" and raw pointers

use crate::class::Class;
use crate::open::Opened;
use crate::transaction;
use chronoscope_model::Status;
use std::ffi::{CStr, c_char};

/// An open transaction of the calling thread, as C holds it.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct OpenToken {
    /// Id of the transaction; 0 where nothing was opened.
    pub id: u64,
    /// Index of its frame in the thread.
    pub index: u32,
}

/// A class by its name, for good; null when the name is null or no UTF-8.
///
/// # Safety
/// `name` is null or a text that ends in NUL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn chronoscope_class(name: *const c_char) -> *const Class {
    if name.is_null() {
        return std::ptr::null();
    }
    // SAFETY: the caller's promise.
    match unsafe { CStr::from_ptr(name) }.to_str() {
        Ok(name) => Class::named(None, name, false),
        Err(_) => std::ptr::null(),
    }
}

/// Begins a transaction under the thread's open one, else as a root.
///
/// # Safety
/// `class` comes from [`chronoscope_class`] and is not null.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn chronoscope_begin(class: *const Class) -> OpenToken {
    // SAFETY: the caller's promise; classes are never freed.
    let opened = transaction::begin(unsafe { &*class });
    OpenToken { id: opened.id, index: opened.index }
}

/// Ends a transaction with an ARM status number.
#[unsafe(no_mangle)]
pub extern "C" fn chronoscope_end(open: OpenToken, status: i32) {
    let status = u8::try_from(status).map_or(Status::Unknown, Status::from_number);
    transaction::end(Opened { index: open.index, id: open.id }, status);
}
