//! `libarm4`: Application Response Measurement, versions 4.0 and 4.1, for programs in C and C++.
//!
//! The functions of `include/arm4.h` over the recorder (`chronoscope_record`): a transaction that
//! a program starts and stops through them is a record in the program's ring, as one in Rust is,
//! and its correlators are the recorder's.
//!
//! # Promises
//!
//! * No call ends the program, waits for longer than another call on the same transaction takes, or
//!   writes outside of its arguments. Bad arguments are reported by a negative code ([`codes`]);
//!   the rest of the call is done all the same.
//! * A start and a stop without sub-buffers take no lock, call no system, allocate nothing.
//! * A handle or id that is invented or ended is recognised.
//! * A forked child keeps its parent's registrations, in a ring of its own.
//!
//! # Limits
//!
//! 65,536 classes, metrics and open transactions, 4096 running applications. The 240 octets of
//! context of a record are given to context values, metrics, user, diagnosis, instance and
//! identity, in this order; a record from which something was left out is marked.
//!
//! # Not here
//!
//! Sending, storing: `chronoscope serve` drains the rings. The C side is tested in `tests/`. Points
//! that the binding's text leaves open, or that we could not verify, are in `docs/arm4.md`.
#![allow(unsafe_code)] // the interface of C

mod address;
mod applications;
mod arrival;
mod buffer;
pub mod codes;
mod control;
mod controlling;
mod correlators;
mod definitions;
mod details;
mod entries;
mod env;
mod extra;
mod gate;
mod handles;
mod instance;
mod registered;
mod registering;
mod registry;
mod switches;
mod text;
mod thread_number;
mod threads;
mod traceparent;
mod transactions;
pub mod types;

use codes::Code;
use std::ffi::c_char;
use std::panic::{AssertUnwindSafe, catch_unwind};
use types::{Buffer4, CorrelatorOctets, Id};

// What every program in C may call beside the binding.
pub use chronoscope_record::{OpenToken, chronoscope_begin, chronoscope_class, chronoscope_end};

/// No mistake of ours may unwind into C.
#[inline(always)]
fn guarded(call: impl FnOnce() -> Code) -> Code {
    catch_unwind(AssertUnwindSafe(call)).unwrap_or(codes::INTERNAL)
}

macro_rules! exported {
    ($($(#[$doc:meta])* fn $name:ident($($argument:ident: $kind:ty),* $(,)?) $body:block)*) => {
        $(
            $(#[$doc])*
            ///
            /// # Safety
            /// Pointers are NULL, or point to the types of the header.
            #[unsafe(no_mangle)]
            #[allow(unused_unsafe)] // some read nothing
            pub unsafe extern "C" fn $name($($argument: $kind),*) -> Code {
                // SAFETY: the caller's promise.
                guarded(|| unsafe { $body })
            }
        )*
    };
}

exported! {
    /// Names an application.
    fn arm_register_application(
        name: *const c_char, input: *const Id, flags: i32, buffer: *const Buffer4, output: *mut Id,
    ) { registering::application(name, input, flags, buffer, output) }

    /// Forgets an application.
    fn arm_destroy_application(id: *const Id, flags: i32, buffer: *const Buffer4) {
        registering::destroy(id, flags, buffer)
    }

    /// Names a transaction class.
    fn arm_register_transaction(
        application: *const Id, name: *const c_char, input: *const Id, flags: i32,
        buffer: *const Buffer4, output: *mut Id,
    ) { registering::transaction(application, name, input, flags, buffer, output) }

    /// Names a metric.
    fn arm_register_metric(
        application: *const Id, name: *const c_char, format: u8, usage: i16, unit: *const c_char,
        input: *const Id, flags: i32, buffer: *const Buffer4, output: *mut Id,
    ) {
        registering::metric(&registering::NewMetric {
            application, name, format, usage, unit, input, flags, buffer, output,
        })
    }

    /// A running instance of an application.
    fn arm_start_application(
        id: *const Id, group: *const c_char, instance: *const c_char, flags: i32,
        buffer: *const Buffer4, handle: *mut i64,
    ) { registering::start(id, group, instance, flags, buffer, handle) }

    /// Ends an instance of an application.
    fn arm_stop_application(handle: i64, flags: i32, buffer: *const Buffer4) {
        registering::stop(handle, flags, buffer)
    }

    /// Starts a transaction.
    fn arm_start_transaction(
        application: i64, id: *const Id, parent: *const CorrelatorOctets, flags: i32,
        buffer: *const Buffer4, handle: *mut i64, current: *mut CorrelatorOctets,
    ) {
        transactions::start(&transactions::Start {
            application, id, parent, flags, buffer, handle, current,
        })
    }

    /// Stops a transaction.
    fn arm_stop_transaction(handle: i64, status: i32, flags: i32, buffer: *const Buffer4) {
        transactions::stop(handle, status, flags, buffer)
    }

    /// New values of a transaction's metrics.
    fn arm_update_transaction(handle: i64, flags: i32, buffer: *const Buffer4) {
        transactions::update(handle, flags, buffer)
    }

    /// A transaction that is to be as if it had never been.
    fn arm_discard_transaction(handle: i64, flags: i32, buffer: *const Buffer4) {
        transactions::discard(handle, flags, buffer)
    }

    /// A transaction waits from here on.
    fn arm_block_transaction(
        handle: i64, flags: i32, buffer: *const Buffer4, block: *mut i64,
    ) { transactions::block(handle, flags, buffer, block) }

    /// A transaction waits no longer.
    fn arm_unblock_transaction(handle: i64, block: i64, flags: i32, buffer: *const Buffer4) {
        transactions::unblock(handle, block, flags, buffer)
    }

    /// The calling thread works for a transaction.
    fn arm_bind_thread(handle: i64, flags: i32, buffer: *const Buffer4) {
        transactions::bind(handle, flags, buffer, true)
    }

    /// The calling thread works for a transaction no longer.
    fn arm_unbind_thread(handle: i64, flags: i32, buffer: *const Buffer4) {
        transactions::bind(handle, flags, buffer, false)
    }

    /// A transaction that is over.
    fn arm_report_transaction(
        application: i64, id: *const Id, status: i32, response_ns: i64, stop_ms: i64,
        parent: *const CorrelatorOctets, current: *const CorrelatorOctets, flags: i32,
        buffer: *const Buffer4,
    ) {
        transactions::report(&transactions::Report {
            application, id, status, response_ns, stop_ms, parent, current, flags, buffer,
        })
    }

    /// A correlator for a transaction that will be reported.
    fn arm_generate_correlator(
        application: i64, id: *const Id, parent: *const CorrelatorOctets, flags: i32,
        buffer: *const Buffer4, current: *mut CorrelatorOctets,
    ) {
        transactions::generate(&transactions::Generate {
            application, id, parent, flags, buffer, current,
        })
    }

    /// A correlator's length.
    fn arm_get_correlator_length(correlator: *const CorrelatorOctets, length: *mut i16) {
        correlators::length(correlator, length)
    }

    /// A correlator's flag.
    fn arm_get_correlator_flags(
        correlator: *const CorrelatorOctets, number: i32, flag: *mut i32,
    ) { correlators::flag(correlator, number, flag) }

    /// Now, as an arrival time.
    fn arm_get_arrival_time(opaque: *mut i64) {
        if opaque.is_null() {
            return codes::NULL;
        }
        registering::give(opaque, chronoscope_clock::ticks().cast_signed());
        codes::OK
    }

    /// Text of a code.
    fn arm_get_error_message(charset: i32, code: Code, message: *mut c_char) {
        transactions::error_message(charset, code, message)
    }

    /// Whether texts may be in a character set.
    fn arm_is_charset_supported(charset: i32, supported: *mut i32) {
        if supported.is_null() {
            return codes::NULL;
        }
        registering::give(supported, i32::from(text::Charset::of(charset).is_some()));
        codes::OK
    }

    /// A correlator from a W3C traceparent.
    fn chronoscope_correlator_from_traceparent(
        text: *const c_char, correlator: *mut CorrelatorOctets,
    ) {
        if text.is_null() || correlator.is_null() {
            return codes::NULL;
        }
        let length = libc::strnlen(text, 512);
        let text = std::slice::from_raw_parts(text.cast::<u8>(), length);
        let Some(own) = traceparent::parse(text) else { return codes::TRACEPARENT };
        correlators::write(correlator, &own, 0);
        codes::OK
    }

    /// The W3C traceparent of a correlator.
    fn chronoscope_correlator_to_traceparent(
        correlator: *const CorrelatorOctets, text: *mut c_char,
    ) {
        if correlator.is_null() || text.is_null() {
            return codes::NULL;
        }
        let mut first = codes::First::default();
        let received = correlators::read(correlator, &mut first);
        let header = received.and_then(|own| traceparent::format(&own.correlator));
        let Some(header) = header.filter(|header| header.len() == traceparent::LENGTH) else {
            *text = 0;
            return codes::TRACEPARENT;
        };
        std::ptr::copy_nonoverlapping(header.as_ptr(), text.cast::<u8>(), header.len());
        *text.add(header.len()) = 0;
        codes::OK
    }

    /// The correlator of what the calling thread works for.
    fn chronoscope_current_correlator(correlator: *mut CorrelatorOctets) {
        if correlator.is_null() {
            return codes::NULL;
        }
        let Some(own) = threads::current() else { return codes::NO_CURRENT };
        correlators::write(correlator, &own, 0);
        codes::OK
    }

    /// The correlator of an open transaction.
    fn chronoscope_transaction_correlator(handle: i64, correlator: *mut CorrelatorOctets) {
        if correlator.is_null() {
            return codes::CORRELATOR_OUT;
        }
        if handle == handles::OFF {
            // A correlator without a transaction: its receiver starts a chain.
            correlators::hand_on(std::ptr::null(), correlator);
            return codes::OK;
        }
        match handles::claim(handle) {
            Ok(mut claim) => {
                correlators::write(correlator, &claim.started().correlator(), 0);
                codes::OK
            }
            Err(code) => code,
        }
    }

    /// Switches something of an application or a class.
    fn chronoscope_control(id: *const Id, what: i32, on: i32) {
        controlling::control(id, what, on != 0)
    }

    /// Switches something of one transaction.
    fn chronoscope_control_transaction(handle: i64, what: i32, on: i32) {
        let Some(bit) = controlling::bit(what) else { return codes::CONTROL };
        if handle == handles::OFF {
            return codes::OK;
        }
        match handles::claim(handle) {
            Ok(mut claim) => {
                claim.switch(bit, on != 0);
                codes::OK
            }
            Err(code) => code,
        }
    }
}
