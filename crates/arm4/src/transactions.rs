//! Transactions: functions 7 to 16 of the binding.
#![allow(unsafe_code)] // the interface of C

use crate::applications;
use crate::buffer::Buffers;
use crate::codes::{self, Code, First};
use crate::correlators::{self, APP_TRACE, Received};
use crate::definitions::Transaction;
use crate::details;
use crate::extra::Extra;
use crate::handles::{self, Claim, OFF};
use crate::instance::Instance;
use crate::registering::give;
use crate::registry;
use crate::text;
use crate::types::{self, Buffer4, CorrelatorOctets, Id, format};
use crate::{controlling, switches, threads};
use chronoscope_clock as clock;
use chronoscope_record::{Parent, Status};
use std::ffi::c_char;

const TRACE_REQUEST: i32 = 1;
const BIND_THREAD: i32 = 2;
const CORR_IN_PROCESS: i32 = 4;

const START_FORMATS: [i32; 12] = [
    format::ARRIVAL_TIME,
    format::METRIC_VALUES,
    format::TRAN_CONTEXT,
    format::USER,
    format::ARRIVAL_USEC,
    format::ARRIVAL_STRINGS,
    format::PREP_TIME,
    format::PREP_STATS,
    format::MESSAGE_RCVD_EVENT,
    format::MESSAGE_SENT_EVENT,
    format::TRAN_ID_CONTROL,
    format::TRAN_INSTANCE_CONTROL,
];
const UPDATE_FORMATS: [i32; 3] =
    [format::METRIC_VALUES, format::MESSAGE_RCVD_EVENT, format::MESSAGE_SENT_EVENT];
const STOP_FORMATS: [i32; 5] = [
    format::DIAG_DETAIL,
    format::METRIC_VALUES,
    format::MESSAGE_RCVD_EVENT,
    format::MESSAGE_SENT_EVENT,
    format::DIAG_PROPERTIES,
];
const REPORT_FORMATS: [i32; 5] = [
    format::DIAG_DETAIL,
    format::METRIC_VALUES,
    format::TRAN_CONTEXT,
    format::USER,
    format::DIAG_PROPERTIES,
];
const GENERATE_FORMATS: [i32; 4] =
    [format::TRAN_CONTEXT, format::USER, format::APP_CONTROL, format::TRAN_ID_CONTROL];
const BLOCK_FORMATS: [i32; 2] = [format::BLOCK_CAUSE, format::MESSAGE_RCVD_EVENT];
const UNBLOCK_FORMATS: [i32; 1] = [format::MESSAGE_RCVD_EVENT];

/// A reported stop may lie so far ahead of this host's clock, for other hosts' clocks are not the
/// same, in nanoseconds: ten minutes.
const AHEAD_NS_MAX: i64 = 600_000_000_000;

fn status_of(number: i32, first: &mut First) -> Status {
    match u8::try_from(number) {
        Ok(known @ 0..=3) => Status::from_number(known),
        _ => {
            first.note(codes::STATUS);
            Status::Unknown
        }
    }
}

/// The class with an id.
///
/// # Safety
/// NULL or readable.
#[inline]
unsafe fn class_of(id: *const Id) -> Option<&'static Transaction> {
    if id.is_null() {
        return None;
    }
    // SAFETY: the caller's promise.
    registry::find::<Transaction>(unsafe { id.read_unaligned() })
}

/// Parent of a transaction, from its received correlator.
fn parent_of(received: &Option<Received>) -> Parent<'_> {
    match received {
        Some(received) => Parent::Issuer(&received.correlator),
        None => Parent::Nobody,
    }
}

/// Trace flags that a correlator inherits.
fn trace_of(received: &Option<Received>, flags: i32) -> u8 {
    let requested = if flags & TRACE_REQUEST != 0 { APP_TRACE } else { 0 };
    received.as_ref().map_or(0, |received| received.trace) | requested
}

/// Arguments of `arm_start_transaction`.
pub(crate) struct Start {
    pub(crate) application: i64,
    pub(crate) id: *const Id,
    pub(crate) parent: *const CorrelatorOctets,
    pub(crate) flags: i32,
    pub(crate) buffer: *const Buffer4,
    pub(crate) handle: *mut i64,
    pub(crate) current: *mut CorrelatorOctets,
}

/// # Safety
/// As `arm4.h` says.
#[inline]
pub(crate) unsafe fn start(call: &Start) -> Code {
    if call.handle.is_null() {
        // SAFETY: the caller's promise.
        unsafe { correlators::hand_on(call.parent, call.current) };
        return codes::HANDLE_OUT;
    }
    let Some(instance) = applications::find(call.application) else {
        // SAFETY: the caller's promise.
        return unsafe { not_started(call, codes::APP_HANDLE) };
    };
    // SAFETY: the caller's promise.
    let Some(class) = (unsafe { class_of(call.id) }) else {
        // SAFETY: the caller's promise.
        return unsafe { not_started(call, codes::TRAN_ID) };
    };
    let is_plain = call.parent.is_null() & call.current.is_null() & call.buffer.is_null();
    let off = class.controls.off() | instance.application.controls.off();
    if is_plain && call.flags == 0 {
        if off & switches::TRANSACTION != 0 {
            // SAFETY: the caller's promise.
            unsafe { give(call.handle, OFF) };
            return codes::OK;
        }
        let handle = handles::open(class.class.start_under(Parent::Nobody), class, instance);
        // SAFETY: the caller's promise.
        unsafe { give(call.handle, handle) };
        return codes::OK;
    }
    // SAFETY: the caller's promise.
    unsafe { start_with_more(call, class, instance, off) }
}

#[cold]
unsafe fn not_started(call: &Start, code: Code) -> Code {
    // SAFETY: the caller's promise.
    unsafe {
        give(call.handle, 0);
        correlators::hand_on(call.parent, call.current);
    }
    code
}

/// # Safety
/// As `arm4.h` says.
unsafe fn start_with_more(
    call: &Start,
    class: &'static Transaction,
    instance: &'static Instance,
    off: u32,
) -> Code {
    let mut first = First::default();
    first.flags(call.flags, TRACE_REQUEST | BIND_THREAD | CORR_IN_PROCESS);
    // SAFETY: the caller's promise, for all below.
    unsafe {
        let buffers = Buffers::of(call.buffer, &START_FORMATS, &mut first);
        let mut handle = OFF;
        if off & switches::TRANSACTION == 0 {
            let received = correlators::read(call.parent, &mut first);
            let started = class.class.start_under(parent_of(&received));
            let trace = trace_of(&received, call.flags);
            let is_whole = buffers.is_empty() && call.flags & BIND_THREAD == 0;
            if is_whole && started.number().is_some() {
                // Nobody has the handle yet: nothing needs to be claimed.
                if !call.current.is_null() {
                    correlators::write(call.current, &started.correlator(), trace);
                }
                give(call.handle, handles::open(started, class, instance));
                return first.code();
            }
            handle = handles::open(started, class, instance);
            match handles::claim(handle) {
                Ok(claim) => say_at_start(call, claim, buffers, trace, &mut first),
                Err(_) => correlators::hand_on(call.parent, call.current), // it is off
            }
        } else {
            correlators::hand_on(call.parent, call.current);
        }
        tell(buffers, Some(class), instance, off, &mut first);
        give(call.handle, handle);
    }
    first.code()
}

/// # Safety
/// As `arm4.h` says.
unsafe fn say_at_start(
    call: &Start,
    mut claim: Claim,
    buffers: Buffers<'_>,
    trace: u8,
    first: &mut First,
) {
    let (off, class) = (claim.off(), claim.transaction());
    // SAFETY: the caller's promise.
    unsafe {
        if !buffers.is_empty() {
            let (started, extra) = claim.both();
            details::arrival(buffers, started, first);
            details::take(buffers, class, off, started, extra, first);
        }
        if !call.current.is_null() {
            correlators::write(call.current, &claim.started().correlator(), trace);
        }
    }
    if call.flags & BIND_THREAD != 0 && off & switches::BIND_THREAD == 0 {
        first.note(threads::bind(&mut claim));
    }
}

/// Fills in sub-buffers of control.
///
/// # Safety
/// As `arm4.h` says.
unsafe fn tell(
    buffers: Buffers<'_>,
    class: Option<&'static Transaction>,
    instance: &'static Instance,
    off: u32,
    first: &mut First,
) {
    if buffers.is_empty() {
        return;
    }
    // SAFETY: the caller's promise.
    unsafe {
        if let Some(own) = buffers.pointer::<types::AppControl>() {
            controlling::tell_application(own, instance.application);
        }
        if let Some(own) = buffers.pointer::<types::TranIdControl>() {
            first.note(controlling::tell_class(own, class));
        }
        if let Some(own) = buffers.pointer::<types::TranInstanceControl>() {
            controlling::tell_instance(own, off);
        }
    }
}

/// # Safety
/// As `arm4.h` says.
#[inline]
pub(crate) unsafe fn stop(handle: i64, status: i32, flags: i32, buffer: *const Buffer4) -> Code {
    if handle == OFF {
        return codes::OK;
    }
    let now = clock::ticks();
    let mut claim = match handles::claim(handle) {
        Ok(claim) => claim,
        Err(code) => return code,
    };
    let mut first = First::default();
    first.flags(flags, 0);
    let status = status_of(status, &mut first);
    if !buffer.is_null() {
        // SAFETY: the caller's promise.
        unsafe { say(&mut claim, buffer, &STOP_FORMATS, &mut first) };
    }
    let (class, instance) = (claim.transaction(), claim.instance());
    if let Some(own) = claim.known_extra() {
        let was_bound = own.has_bindings();
        let (started, extra) = claim.both();
        details::settle(started, Some(extra), class, instance, now);
        if was_bound {
            threads::leave(handle);
        }
    } else {
        details::settle(claim.started(), None, class, instance, now);
    }
    claim.close().stop_at(status, now);
    first.code()
}

/// Records the sub-buffers of a call about an open transaction.
///
/// # Safety
/// As `arm4.h` says.
#[cold]
unsafe fn say(claim: &mut Claim, buffer: *const Buffer4, allowed: &[i32], first: &mut First) {
    // SAFETY: the caller's promise.
    unsafe {
        let buffers = Buffers::of(buffer, allowed, first);
        if !buffers.is_empty() {
            let (off, class) = (claim.off(), claim.transaction());
            let (started, extra) = claim.both();
            details::take(buffers, class, off, started, extra, first);
        }
    }
}

/// # Safety
/// As `arm4.h` says.
pub(crate) unsafe fn update(handle: i64, flags: i32, buffer: *const Buffer4) -> Code {
    let mut first = First::default();
    first.flags(flags, 0);
    if handle == OFF {
        return first.code();
    }
    match handles::claim(handle) {
        // SAFETY: the caller's promise.
        Ok(mut claim) => unsafe { say(&mut claim, buffer, &UPDATE_FORMATS, &mut first) },
        Err(code) => return code,
    }
    first.code()
}

/// # Safety
/// As `arm4.h` says.
pub(crate) unsafe fn discard(handle: i64, flags: i32, buffer: *const Buffer4) -> Code {
    let mut first = First::default();
    first.flags(flags, 0);
    // SAFETY: the caller's promise.
    unsafe { Buffers::of(buffer, &[], &mut first) };
    if handle == OFF {
        return first.code();
    }
    let mut claim = match handles::claim(handle) {
        Ok(claim) => claim,
        Err(code) => return code,
    };
    if claim.known_extra().is_some_and(|extra| extra.has_bindings()) {
        threads::leave(handle);
    }
    claim.close().discard();
    first.code()
}

/// # Safety
/// As `arm4.h` says.
pub(crate) unsafe fn block(
    handle: i64,
    flags: i32,
    buffer: *const Buffer4,
    block: *mut i64,
) -> Code {
    let now = clock::ticks();
    let mut first = First::default();
    first.flags(flags, 0);
    // SAFETY: the caller's promise, for all below.
    unsafe {
        give(block, 0);
        if handle == OFF {
            give(block, OFF);
            return first.code();
        }
        let mut claim = match handles::claim(handle) {
            Ok(claim) => claim,
            Err(code) => return code,
        };
        if block.is_null() {
            return codes::HANDLE_OUT;
        }
        if claim.off() & switches::BLOCK != 0 {
            give(block, OFF);
            return first.code();
        }
        if !buffer.is_null() {
            let buffers = Buffers::of(buffer, &BLOCK_FORMATS, &mut first);
            let charset = claim.transaction().application.charset;
            if let Some(own) = buffers.get::<types::BlockCause>() {
                say_cause(claim.extra(), own, charset, &mut first);
            }
            let (off, class) = (claim.off(), claim.transaction());
            let (started, extra) = claim.both();
            details::take(buffers, class, off, started, extra, &mut first);
        }
        match claim.extra().block(handle, now) {
            Some(own) => give(block, own),
            None => first.note(codes::FULL),
        }
    }
    first.code()
}

/// # Safety
/// As `arm4.h` says.
unsafe fn say_cause(
    extra: &mut Extra,
    own: &types::BlockCause,
    charset: text::Charset,
    first: &mut First,
) {
    let cause = match own.cause {
        1 => "synchronous".to_owned(),
        2 => "asynchronous".to_owned(),
        other => other.to_string(),
    };
    let said = &mut extra.more_metrics;
    said.property("block_cause", &cause);
    if own.extended != 0 {
        said.metric("block_extended_cause", f64::from(own.extended));
    }
    // SAFETY: the caller's promise.
    if let Some(text) = unsafe { text::read(own.description, charset, 128, first) } {
        said.property("block_description", &text);
    }
}

/// # Safety
/// As `arm4.h` says.
pub(crate) unsafe fn unblock(handle: i64, block: i64, flags: i32, buffer: *const Buffer4) -> Code {
    let now = clock::ticks();
    let mut first = First::default();
    first.flags(flags, 0);
    if handle == OFF {
        return first.code();
    }
    let mut claim = match handles::claim(handle) {
        Ok(claim) => claim,
        Err(code) => return code,
    };
    if !buffer.is_null() {
        // SAFETY: the caller's promise.
        unsafe { say(&mut claim, buffer, &UNBLOCK_FORMATS, &mut first) };
    }
    // A block that was switched off when it began has this handle.
    let was = block == OFF || claim.known_extra().is_some_and(|extra| extra.unblock(block, now));
    if was { first.code() } else { codes::BLOCK_HANDLE }
}

/// # Safety
/// As `arm4.h` says.
pub(crate) unsafe fn bind(handle: i64, flags: i32, buffer: *const Buffer4, on: bool) -> Code {
    let mut first = First::default();
    first.flags(flags, 0);
    // SAFETY: the caller's promise.
    unsafe { Buffers::of(buffer, &[], &mut first) };
    if handle == OFF {
        return first.code();
    }
    match handles::claim(handle) {
        Ok(mut claim) if on && claim.off() & switches::BIND_THREAD == 0 => {
            first.note(threads::bind(&mut claim));
        }
        Ok(claim) if on => drop(claim), // switched off
        Ok(mut claim) => {
            let code = threads::unbind(&mut claim);
            if claim.off() & switches::BIND_THREAD == 0 {
                first.note(code);
            }
        }
        Err(code) => return code,
    }
    first.code()
}

/// Arguments of `arm_report_transaction`.
pub(crate) struct Report {
    pub(crate) application: i64,
    pub(crate) id: *const Id,
    pub(crate) status: i32,
    pub(crate) response_ns: i64,
    pub(crate) stop_ms: i64,
    pub(crate) parent: *const CorrelatorOctets,
    pub(crate) current: *const CorrelatorOctets,
    pub(crate) flags: i32,
    pub(crate) buffer: *const Buffer4,
}

/// The elapsed time and the stop of a report, in nanoseconds; `None` where they are impossible. A
/// store files rows by the minute in which they or their roots started: a row of a wrong year, or
/// of tomorrow, would make minutes there that no query reads.
fn times(response_ns: i64, stop_ms: i64, now_ns: i64) -> Option<(u64, i64)> {
    let stop_ns = match stop_ms {
        -1 => now_ns,
        _ => stop_ms.checked_mul(1_000_000)?,
    };
    let can_be = response_ns >= 0
        && stop_ns >= response_ns
        && stop_ns <= now_ns.saturating_add(AHEAD_NS_MAX);
    can_be.then_some((response_ns.cast_unsigned(), stop_ns))
}

/// # Safety
/// As `arm4.h` says.
pub(crate) unsafe fn report(call: &Report) -> Code {
    let now_ns = clock::utc_now_ns();
    let mut first = First::default();
    first.flags(call.flags, TRACE_REQUEST);
    let Some(instance) = applications::find(call.application) else { return codes::APP_HANDLE };
    // SAFETY: the caller's promise.
    let Some(class) = (unsafe { class_of(call.id) }) else { return codes::TRAN_ID };
    let off = class.controls.off() | instance.application.controls.off();
    if off & switches::TRANSACTION != 0 {
        return first.code();
    }
    let Some((elapsed_ns, stop_ns)) = times(call.response_ns, call.stop_ms, now_ns) else {
        return codes::TIME;
    };
    let status = status_of(call.status, &mut first);
    // SAFETY: the caller's promise, for all below.
    unsafe {
        let parent = correlators::read(call.parent, &mut first);
        let mut started = class.class.start_under(parent_of(&parent));
        if let Some(own) = correlators::read(call.current, &mut first)
            && !started.take_over(&own.correlator)
        {
            first.note(codes::CORRELATOR); // of another class
        }
        let mut extra = Extra::default();
        let buffers = Buffers::of(call.buffer, &REPORT_FORMATS, &mut first);
        if !buffers.is_empty() {
            details::take(buffers, class, off, &mut started, &mut extra, &mut first);
        }
        details::settle(&mut started, Some(&mut extra), class, instance, clock::ticks());
        started.report(status, elapsed_ns, stop_ns);
    }
    first.code()
}

/// Arguments of `arm_generate_correlator`.
pub(crate) struct Generate {
    pub(crate) application: i64,
    pub(crate) id: *const Id,
    pub(crate) parent: *const CorrelatorOctets,
    pub(crate) flags: i32,
    pub(crate) buffer: *const Buffer4,
    pub(crate) current: *mut CorrelatorOctets,
}

/// # Safety
/// As `arm4.h` says.
pub(crate) unsafe fn generate(call: &Generate) -> Code {
    let mut first = First::default();
    first.flags(call.flags, TRACE_REQUEST | CORR_IN_PROCESS);
    // SAFETY: the caller's promise, for all below.
    unsafe {
        let refuse = |code| {
            correlators::hand_on(call.parent, call.current);
            code
        };
        let Some(instance) = applications::find(call.application) else {
            return refuse(codes::APP_HANDLE);
        };
        let buffers = Buffers::of(call.buffer, &GENERATE_FORMATS, &mut first);
        let class = class_of(call.id);
        let off = instance.application.controls.off();
        tell(buffers, class, instance, off, &mut first);
        if call.current.is_null() {
            // Without a correlator the call asks which measurements are wanted (4.1).
            let asked = buffers.pointer::<types::AppControl>().is_some()
                || buffers.pointer::<types::TranIdControl>().is_some();
            return if asked { first.code() } else { codes::CORRELATOR_OUT };
        }
        let Some(class) = class else { return refuse(codes::TRAN_ID) };
        let received = correlators::read(call.parent, &mut first);
        if (off | class.controls.off()) & switches::TRANSACTION != 0 {
            return refuse(first.code());
        }
        let own = class.class.issue(parent_of(&received));
        correlators::write(call.current, &own, trace_of(&received, call.flags));
    }
    first.code()
}

/// `arm_get_error_message`, in the character sets that texts are taken in; empty for other codes.
///
/// # Safety
/// `to` is NULL or has room for 766 octets.
pub(crate) unsafe fn error_message(charset: i32, code: Code, to: *mut c_char) -> Code {
    if to.is_null() {
        return codes::NULL;
    }
    let known = codes::message(code);
    let message = known.unwrap_or_default();
    let mut octets: Vec<u8> = match text::Charset::of(charset) {
        None | Some(text::Charset::Utf8) => message.bytes().collect(),
        Some(text::Charset::Utf16Le) => message.encode_utf16().flat_map(u16::to_le_bytes).collect(),
        Some(_) => message.encode_utf16().flat_map(u16::to_be_bytes).collect(),
    };
    octets.extend([0, 0]);
    // SAFETY: messages have less than 200 characters of ASCII.
    unsafe { std::ptr::copy_nonoverlapping(octets.as_ptr(), to.cast::<u8>(), octets.len()) };
    match (text::Charset::of(charset), known) {
        (None, _) => codes::CHARSET,
        (_, None) => codes::CODE,
        _ => codes::OK,
    }
}
