//! Instrumentation control (4.1): reports to a program which measurements are wanted.
//!
//! A sub-buffer of control states how many fields the program knows; as many are filled in, in the
//! order of the header. That the library fills them in is not verified.
#![allow(unsafe_code)] // fills in what callers point to

use crate::codes::{self, Code};
use crate::definitions::{Application, Transaction};
use crate::env;
use crate::registry;
use crate::switches::{
    BIND_THREAD, BLOCK, DIAGNOSTIC, MESSAGE_EVENT, METRIC, NAMES, TRANSACTION, USER,
};
use crate::types::{AppControl, Id, TranIdControl, TranInstanceControl};

/// The switches in the order of the header's fields `use_…`.
const USES: [u32; 6] = [BIND_THREAD, BLOCK, DIAGNOSTIC, MESSAGE_EVENT, METRIC, USER];

fn uses(off: u32) -> [i32; 6] {
    USES.map(|bit| i32::from(off & bit == 0))
}

/// Number of fields that the program knows, at most `fields`.
fn known(count_app: i32, fields: usize) -> usize {
    usize::try_from(count_app).unwrap_or(0).min(fields)
}

/// # Safety
/// Points to the whole structure.
pub(crate) unsafe fn tell_application(to: *mut AppControl, application: &Application) {
    let off = application.controls.off();
    let depth = if off & TRANSACTION == 0 { env::depth() } else { 0 };
    let mut all = [0; 12];
    // In use: control of the application, of its classes, of single transactions.
    all[..3].copy_from_slice(&[1, 1, 1]);
    all[3] = depth;
    // Whether private or secure data may be shown is the program's to say: nothing hides them here.
    all[4..6].copy_from_slice(&[1, 0]);
    all[6..].copy_from_slice(&uses(off));
    // SAFETY: the caller's promise.
    unsafe {
        let count = known((*to).count_app, all.len());
        (&raw mut (*to).fields).cast::<i32>().copy_from_nonoverlapping(all.as_ptr(), count);
        (*to).count_arm = i32::try_from(count).unwrap_or(0);
    }
}

/// Tells of the class in the sub-buffer, else of that of the call.
///
/// # Safety
/// Points to the whole structure; its id is NULL or readable.
pub(crate) unsafe fn tell_class(to: *mut TranIdControl, of_call: Option<&Transaction>) -> Code {
    // SAFETY: the caller's promise, for all below.
    unsafe {
        let id = (*to).id;
        let named =
            if id.is_null() { None } else { registry::find::<Transaction>(id.read_unaligned()) };
        let Some(class) = named.or(of_call) else { return codes::TRAN_ID };
        let off = class.controls.off() | class.application.controls.off();
        let used = off & TRANSACTION == 0 && class.class.is_enabled();
        // The first field tells whether the class is wanted; the id is the program's own; the ninth
        // is not known.
        let count = known((*to).count_app, 8);
        if count > 0 {
            (*to).used = i32::from(used);
        }
        let uses = uses(off);
        let fields = (&raw mut (*to).fields).cast::<i32>();
        fields.copy_from_nonoverlapping(uses.as_ptr(), count.saturating_sub(2));
        (*to).count_arm = i32::try_from(count).unwrap_or(0);
    }
    codes::OK
}

/// # Safety
/// Points to the whole structure.
pub(crate) unsafe fn tell_instance(to: *mut TranInstanceControl, off: u32) {
    // SAFETY: the caller's promise.
    unsafe {
        let count = known((*to).count_app, 1);
        if count > 0 {
            (*to).used = i32::from(off & TRANSACTION == 0);
        }
        (*to).count_arm = i32::try_from(count).unwrap_or(0);
    }
}

/// The switch of `CHRONOSCOPE_CONTROL_...`.
pub(crate) fn bit(what: i32) -> Option<u32> {
    usize::try_from(what).ok().filter(|at| *at < NAMES.len()).map(|at| 1 << at)
}

/// `chronoscope_control`: of an application or a class, by its id.
///
/// # Safety
/// The id is NULL or readable.
pub(crate) unsafe fn control(id: *const Id, what: i32, on: bool) -> Code {
    let Some(bit) = bit(what) else { return codes::CONTROL };
    if id.is_null() {
        return codes::NULL;
    }
    // SAFETY: the caller's promise.
    let id = unsafe { id.read_unaligned() };
    if let Some(class) = registry::find::<Transaction>(id) {
        class.controls.set(bit, on);
        if bit == TRANSACTION {
            class.class.set_enabled(on);
        }
        codes::OK
    } else if let Some(application) = registry::find::<Application>(id) {
        application.controls.set(bit, on);
        codes::OK
    } else {
        codes::TRAN_ID
    }
}
