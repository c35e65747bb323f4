//! Reads sub-buffers into the data to be recorded.
#![allow(unsafe_code)] // reads what callers point to

use crate::buffer::{Buffers, array};
use crate::codes::{First, SUBBUFFER, TIME};
use crate::correlators;
use crate::definitions::{Metric, SLOTS, Transaction};
use crate::entries::Entries;
use crate::extra::{Extra, Value};
use crate::instance::Instance;
use crate::registry;
use crate::switches;
use crate::text::{self, Charset, LONG_CHARS, NAME_CHARS, STRING32_CHARS, VALUE_CHARS};
use crate::types::{self, Id, MessageEvent, Property};
use chronoscope_clock as clock;
use chronoscope_record::Started;
use std::ffi::c_char;

/// Properties of a sub-buffer at most.
const PROPERTY_MAX: usize = 20;
/// Events of a sub-buffer at most: `ARM_MESSAGE_RCVD_EVENT_MAX_COUNT` of ARM 4.1. More go with updates.
const EVENT_MAX: usize = 32;
/// An arrival before this, in nanoseconds, is no arrival but a wrong number: a day.
const ARRIVAL_NS_MAX: u64 = 86_400_000_000_000;

/// Reads names and values into context entries; the array's pointers may be NULL.
///
/// # Safety
/// The array is as the sub-buffer states.
pub(crate) unsafe fn properties(
    said: &mut Entries,
    count: i32,
    first_property: *const Property,
    charset: Charset,
    first: &mut First,
) {
    // SAFETY: the caller's promise.
    let Some(list) = (unsafe { array(first_property, count, PROPERTY_MAX) }) else {
        return first.note(SUBBUFFER);
    };
    for property in list {
        // SAFETY: the caller's promise.
        let (name, value) = unsafe {
            (
                text::read(property.name, charset, NAME_CHARS, first),
                text::read(property.value, charset, VALUE_CHARS, first),
            )
        };
        if let (Some(name), Some(value)) = (name, value) {
            said.property(&name, &value);
        }
    }
}

/// Texts of an array; NULLs and empty ones are `None`.
///
/// # Safety
/// The array is as the sub-buffer states.
pub(crate) unsafe fn texts(
    count: i32,
    first_text: *const *const c_char,
    charset: Charset,
    chars: usize,
    first: &mut First,
) -> Vec<Option<String>> {
    // SAFETY: the caller's promise.
    let Some(list) = (unsafe { array(first_text, count, PROPERTY_MAX) }) else {
        first.note(SUBBUFFER);
        return Vec::new();
    };
    let mut read = |text: &*const c_char| {
        // SAFETY: the caller's promise.
        unsafe { text::read(*text, charset, chars, first) }.map(|text| text.into_owned())
    };
    list.iter().map(&mut read).collect()
}

/// Adds values under the names of the registration; a value without a name is dropped.
pub(crate) fn context(
    names: &[Option<String>],
    values: &[Option<String>],
    mut say: impl FnMut(&str, &str),
) {
    for (name, value) in names.iter().zip(values) {
        if let (Some(name), Some(value)) = (name, value) {
            say(name, value);
        }
    }
}

/// A text as a property, where there is one.
///
/// # Safety
/// As for [`text::read`].
pub(crate) unsafe fn say_text(
    said: &mut Entries,
    key: &str,
    from: *const c_char,
    charset: Charset,
    first: &mut First,
) {
    // SAFETY: the caller's promise.
    if let Some(text) = unsafe { text::read(from, charset, LONG_CHARS, first) } {
        said.property(key, &text);
    }
}

/// An id as a property, where it counts.
pub(crate) fn say_id(said: &mut Entries, key: &str, valid: i32, id: Id) {
    if valid != 0 && !id.is_void() {
        let octets: String = bytes_of(id).iter().map(|octet| format!("{octet:02x}")).collect();
        said.property(key, &octets);
    }
}

fn bytes_of(id: Id) -> [u8; 16] {
    let mut bytes = [0; 16];
    bytes[..8].copy_from_slice(&id.0[0].to_ne_bytes());
    bytes[8..].copy_from_slice(&id.0[1].to_ne_bytes());
    bytes
}

/// Reads the sub-buffers of a call about an open transaction, for any call.
///
/// # Safety
/// The sub-buffers are as their formats state.
pub(crate) unsafe fn take(
    buffers: Buffers<'_>,
    transaction: &Transaction,
    off: u32,
    started: &mut Started,
    extra: &mut Extra,
    first: &mut First,
) {
    let charset = transaction.application.charset;
    // SAFETY: the caller's promise, for every block below.
    unsafe {
        if let Some(own) = buffers.get::<types::TranContext>() {
            let values = texts(own.values, own.value_array, charset, VALUE_CHARS, first);
            let mut said = Entries::default();
            context(&transaction.context_names, &values, |key, value| said.property(key, value));
            say_text(&mut said, "uri", own.uri, charset, first);
            put(started, &said);
        }
        if off & switches::USER == 0
            && let Some(own) = buffers.get::<types::User>()
        {
            extra.user.clear();
            say_text(&mut extra.user, "user", own.name, charset, first);
            say_id(&mut extra.user, "user_id", own.id_valid, own.id);
        }
        if off & switches::METRIC == 0 {
            metrics(buffers, transaction, extra, charset, first);
        }
        if off & switches::DIAGNOSTIC == 0 {
            diagnosis(buffers, extra, charset, first);
        }
        if off & switches::MESSAGE_EVENT == 0 {
            let received = buffers.get::<types::MessagesReceived>();
            let sent = buffers.get::<types::MessagesSent>();
            let received = received.map(|own| (own.count, own.array));
            let sent = sent.map(|own| (own.count, own.array));
            for (events, key) in [(received, "received"), (sent, "sent")] {
                if let Some((count, array)) = events {
                    messages(extra, count, array, key, charset, first);
                }
            }
            if let Some((count, array)) = received {
                inputs(started, count, array, first);
            }
        }
    }
}

/// # Safety
/// As for [`take`].
unsafe fn metrics(
    buffers: Buffers<'_>,
    transaction: &Transaction,
    extra: &mut Extra,
    charset: Charset,
    first: &mut First,
) {
    if let Some(own) = buffers.get::<types::PrepTime>() {
        extra.more_metrics.metric("prep_ns", own.ns as f64);
    }
    if let Some(own) = buffers.get::<types::PrepStats>() {
        extra.more_metrics.metric("prep_mean_ns", own.mean_ns as f64);
        extra.more_metrics.metric("prep_std_dev_ns", own.deviation_ns as f64);
        extra.more_metrics.metric("prep_count", f64::from(own.count));
        extra.more_metrics.metric("prep_interval_ms", f64::from(own.interval_ms));
    }
    let Some(own) = buffers.get::<types::MetricValues>() else { return };
    // SAFETY: the caller's promise.
    let Some(list) = (unsafe { array(own.array, own.count, SLOTS) }) else {
        return first.note(SUBBUFFER);
    };
    for metric in list {
        let bound = transaction.metrics.get(usize::from(metric.slot)).copied().flatten();
        if bound.is_none_or(|bound| bound.format != metric.format) {
            first.note(SUBBUFFER); // of no metric of the class
            continue;
        }
        if metric.valid != 0 {
            // SAFETY: the caller's promise.
            let value = unsafe { value_of(metric, charset, first) };
            if value.is_some() {
                extra.metrics[usize::from(metric.slot)] = value;
            }
        }
    }
}

/// Number or text in a metric's eight octets, by its format.
///
/// # Safety
/// For a text: as for [`text::read`].
unsafe fn value_of(metric: &types::Metric, charset: Charset, first: &mut First) -> Option<Value> {
    let octets = metric.value.to_ne_bytes();
    let low = i32::from_ne_bytes([octets[0], octets[1], octets[2], octets[3]]);
    let high = i32::from_ne_bytes([octets[4], octets[5], octets[6], octets[7]]);
    #[allow(clippy::cast_possible_truncation)] // an address has 64 bits
    match metric.format {
        1 | 4 | 7 => Some(Value::Number(f64::from(low))),
        2 | 5 | 8 => Some(Value::Number(metric.value.cast_signed() as f64)),
        // A value and what to divide it by; by 0 there is no value.
        3 | 6 if high != 0 => Some(Value::Number(f64::from(low) / f64::from(high))),
        10 => {
            let text = std::ptr::with_exposed_provenance(metric.value as usize);
            // SAFETY: the caller's promise.
            let text = unsafe { text::read(text, charset, STRING32_CHARS, first) };
            text.map(|text| Value::Text(text.into_owned()))
        }
        _ => None,
    }
}

/// # Safety
/// As for [`take`].
unsafe fn diagnosis(buffers: Buffers<'_>, extra: &mut Extra, charset: Charset, first: &mut First) {
    // SAFETY: the caller's promise.
    unsafe {
        if let Some(own) = buffers.get::<types::DiagDetail>() {
            say_text(&mut extra.diagnosis, "diag", own.detail, charset, first);
        }
        if let Some(own) = buffers.get::<types::DiagProperties>() {
            properties(&mut extra.diagnosis, own.count, own.array, charset, first);
        }
    }
}

/// Messages as a count and the first one's description.
///
/// # Safety
/// As for [`take`].
unsafe fn messages(
    extra: &mut Extra,
    count: i32,
    first_event: *const MessageEvent,
    key: &str,
    charset: Charset,
    first: &mut First,
) {
    // SAFETY: the caller's promise.
    let Some(list) = (unsafe { array(first_event, count, EVENT_MAX) }) else {
        return first.note(SUBBUFFER);
    };
    extra.more_metrics.metric(&format!("messages_{key}"), list.len() as f64);
    for event in list {
        // SAFETY: the caller's promise.
        let text = unsafe { text::read(event.description, charset, 128, first) };
        if let Some(text) = text {
            extra.more_metrics.property(&format!("message_{key}"), &text);
        }
    }
}

/// The transactions that sent the received messages, as links: inputs besides the parent.
///
/// # Safety
/// As for [`take`].
unsafe fn inputs(
    started: &mut Started,
    count: i32,
    first_event: *const MessageEvent,
    first: &mut First,
) {
    // SAFETY: the caller's promise. A wrong count is noted where the messages are counted.
    let list = unsafe { array(first_event, count, EVENT_MAX) }.unwrap_or_default();
    for event in list {
        // SAFETY: the caller's promise.
        if let Some(received) = unsafe { correlators::read(event.correlator, first) } {
            started.link(&received.correlator);
        }
    }
}

/// A start before the call: `arrival` in any of its three forms.
///
/// # Safety
/// As for [`take`].
pub(crate) unsafe fn arrival(buffers: Buffers<'_>, started: &mut Started, first: &mut First) {
    let has_been = |ns: &i64| {
        let now_ns = clock::utc_now_ns();
        *ns <= now_ns && now_ns.abs_diff(*ns) <= ARRIVAL_NS_MAX
    };
    let mut arrived_at = |ns: Option<i64>| match ns.filter(has_been) {
        Some(ns) => started.arrived_at(ns),
        None => first.note(TIME),
    };
    if let Some(own) = buffers.get::<types::ArrivalUsec>() {
        return arrived_at(own.usec.checked_mul(1000));
    }
    if let Some(own) = buffers.get::<types::ArrivalStrings>() {
        // SAFETY: the caller's promise.
        return arrived_at(unsafe { crate::arrival::read(own) });
    }
    let Some(own) = buffers.get::<types::ArrivalTime>() else { return };
    let now = clock::ticks();
    let ticks = own.opaque.cast_unsigned();
    let age_max = clock::Scale::current().to_ticks(ARRIVAL_NS_MAX);
    if own.opaque > 0 && ticks <= now && now - ticks <= age_max {
        started.arrived(ticks);
    } else {
        first.note(TIME);
    }
}

/// Adds collected entries to the record, as far as they fit.
pub(crate) fn put(started: &mut Started, said: &Entries) {
    started.append_encoded(said.entries());
    if said.is_cut() {
        started.context_was_cut();
    }
}

/// Completes a record's context, in the order in which room is given: metrics, user, diagnosis,
/// then values common to many records.
pub(crate) fn settle(
    started: &mut Started,
    extra: Option<&mut Extra>,
    transaction: &Transaction,
    instance: &Instance,
    ticks: u64,
) {
    if let Some(extra) = extra {
        for (value, metric) in extra.metrics.iter().zip(&transaction.metrics) {
            if let (Some(value), Some(metric)) = (value, metric) {
                say_metric(started, metric, value);
            }
        }
        if let Some((ns, count)) = extra.blocked(ticks) {
            started.metric("blocked_ns", ns as f64);
            started.metric("blocked_count", f64::from(count));
        }
        if let Some((cpu_ns, count)) = extra.unbind_all() {
            started.count_cpu(cpu_ns);
            if count > 1 {
                // A record's CPU time is never above its elapsed time; that of several threads
                // may be.
                started.metric("bound_cpu_ns", cpu_ns as f64);
                started.metric("bound_count", f64::from(count));
            }
        }
        put(started, &extra.more_metrics);
        put(started, &extra.user);
        put(started, &extra.diagnosis);
    }
    for identity in [&instance.identity, &transaction.identity, &instance.application.identity] {
        if !identity.is_empty() {
            started.append_encoded(identity);
        }
    }
}

fn say_metric(started: &mut Started, metric: &Metric, value: &Value) {
    match value {
        Value::Number(number) => started.metric(&metric.name, *number),
        Value::Text(text) => started.property(&metric.name, text),
    }
}

/// The metrics that a class binds to its slots.
///
/// # Safety
/// As for [`take`].
pub(crate) unsafe fn bindings(
    own: &types::MetricBindings,
    first: &mut First,
) -> [Option<&'static Metric>; SLOTS] {
    let mut bound = [None; SLOTS];
    // SAFETY: the caller's promise.
    let Some(list) = (unsafe { array(own.array, own.count, SLOTS) }) else {
        first.note(SUBBUFFER);
        return bound;
    };
    for binding in list {
        let slot = usize::from(binding.slot);
        let metric = registry::find::<Metric>(binding.id);
        let fits = |metric: &&Metric| (metric.format == 10) == (slot == SLOTS - 1) && slot < SLOTS;
        match metric.filter(fits) {
            Some(metric) => bound[slot] = Some(metric),
            None => first.note(SUBBUFFER),
        }
    }
    bound
}
