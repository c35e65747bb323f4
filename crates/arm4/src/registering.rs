//! Registration, and the running applications: functions 1 to 6 of the binding.
#![allow(unsafe_code)] // the interface of C

use crate::applications;
use crate::buffer::Buffers;
use crate::codes::{self, Code, First};
use crate::control::Controls;
use crate::definitions::{Application, Metric, SLOTS, Transaction};
use crate::details;
use crate::entries::Entries;
use crate::registry;
use crate::text::{self, Charset, NAME_CHARS, VALUE_CHARS};
use crate::types::{self, Buffer4, Id, format};
use chronoscope_record as record;
use std::ffi::c_char;

/// The id that a program wants, where it wants one.
///
/// # Safety
/// NULL or readable.
unsafe fn wanted(id: *const Id) -> Option<Id> {
    // SAFETY: the caller's promise.
    (!id.is_null()).then(|| unsafe { id.read_unaligned() })
}

/// # Safety
/// NULL or writable.
pub(crate) unsafe fn give<T>(to: *mut T, what: T) {
    if !to.is_null() {
        // SAFETY: the caller's promise.
        unsafe { to.write_unaligned(what) };
    }
}

/// # Safety
/// As `arm4.h` says.
pub(crate) unsafe fn application(
    name: *const c_char,
    input: *const Id,
    flags: i32,
    buffer: *const Buffer4,
    output: *mut Id,
) -> Code {
    let mut first = First::default();
    first.flags(flags, 0);
    // SAFETY: the caller's promise, for all below.
    unsafe {
        if output.is_null() {
            return codes::NULL;
        }
        give(output, Id::default());
        let buffers = Buffers::of(buffer, &[format::CHARSET, format::APP_IDENTITY], &mut first);
        let charset = match buffers.get::<types::Charset>() {
            Some(own) => Charset::of(own.charset).unwrap_or_else(|| {
                first.note(codes::CHARSET);
                Charset::Utf8
            }),
            None => Charset::Utf8,
        };
        let Some(name) = text::read(name, charset, NAME_CHARS, &mut first) else {
            return codes::APP_NAME;
        };
        let (mut said, mut names) = (Entries::default(), Vec::new());
        if let Some(own) = buffers.get::<types::AppIdentity>() {
            details::properties(&mut said, own.properties, own.property_array, charset, &mut first);
            names = details::texts(own.names, own.name_array, charset, NAME_CHARS, &mut first);
        }
        record::init_unless_named(&name);
        let identity = said.entries().to_vec();
        let registered = registry::register(wanted(input), (&name, ""), &mut first, |_, id| {
            Application::new(id, &name, charset, names, identity)
        });
        match registered {
            Ok((own, id)) => {
                own.add_registration();
                give(output, id);
                first.code()
            }
            Err(code) => code,
        }
    }
}

/// # Safety
/// As `arm4.h` says.
pub(crate) unsafe fn destroy(id: *const Id, flags: i32, buffer: *const Buffer4) -> Code {
    let mut first = First::default();
    first.flags(flags, 0);
    // SAFETY: the caller's promise.
    let id = unsafe {
        Buffers::of(buffer, &[], &mut first);
        wanted(id)
    };
    let Some(own) = id.and_then(registry::find::<Application>) else { return codes::APP_ID };
    if own.remove_registration() {
        applications::stop_all(own);
    }
    first.code()
}

/// # Safety
/// As `arm4.h` says.
pub(crate) unsafe fn transaction(
    application: *const Id,
    name: *const c_char,
    input: *const Id,
    flags: i32,
    buffer: *const Buffer4,
    output: *mut Id,
) -> Code {
    let mut first = First::default();
    first.flags(flags, 0);
    // SAFETY: the caller's promise, for all below.
    unsafe {
        give(output, Id::default());
        let application = wanted(application).and_then(registry::find::<Application>);
        let Some(application) = application else { return codes::APP_ID };
        let allowed = [format::TRAN_IDENTITY, format::METRIC_BINDINGS];
        let buffers = Buffers::of(buffer, &allowed, &mut first);
        let charset = application.charset;
        let Some(name) = text::read(name, charset, NAME_CHARS, &mut first) else {
            return codes::TRAN_NAME;
        };
        let (mut said, mut names) = (Entries::default(), Vec::new());
        if let Some(own) = buffers.get::<types::TranIdentity>() {
            details::properties(&mut said, own.properties, own.property_array, charset, &mut first);
            details::say_text(&mut said, "identity_uri", own.uri, charset, &mut first);
            names = details::texts(own.names, own.name_array, charset, NAME_CHARS, &mut first);
        }
        let metrics = match buffers.get::<types::MetricBindings>() {
            Some(own) => details::bindings(own, &mut first),
            None => [None; SLOTS],
        };
        let identity = said.entries().to_vec();
        let key = (application.name.as_str(), &*name);
        let registered = registry::register(wanted(input), key, &mut first, |known, id| {
            let controls = Controls::of_class(&application.name, &name);
            let class = known.class(&application.name, &name);
            Transaction {
                id,
                application,
                name: name.clone().into_owned(),
                class,
                context_names: names,
                identity,
                metrics,
                controls,
            }
        });
        match registered {
            Ok((own, id)) => {
                // It gets its number now, so that it can be switched off before its first start.
                own.class.is_enabled();
                give(output, id);
                if output.is_null() { codes::NULL } else { first.code() }
            }
            Err(code) => code,
        }
    }
}

/// Whether a metric's name contains its unit already: it is the unit, or ends with it as a word of
/// its own (`rows` in rows, `elapsed_ms` in ms). Case is ignored for ASCII letters only.
fn names_unit(name: &str, unit: &str) -> bool {
    let Some(before) = name.len().checked_sub(unit.len()) else { return false };
    let Some((before, end)) = name.split_at_checked(before) else { return false };
    end.eq_ignore_ascii_case(unit)
        && before.chars().next_back().is_none_or(|last| !last.is_alphanumeric())
}

/// Arguments of `arm_register_metric`.
pub(crate) struct NewMetric {
    pub(crate) application: *const Id,
    pub(crate) name: *const c_char,
    pub(crate) format: u8,
    pub(crate) usage: i16,
    pub(crate) unit: *const c_char,
    pub(crate) input: *const Id,
    pub(crate) flags: i32,
    pub(crate) buffer: *const Buffer4,
    pub(crate) output: *mut Id,
}

/// # Safety
/// As `arm4.h` says.
pub(crate) unsafe fn metric(new: &NewMetric) -> Code {
    let mut first = First::default();
    first.flags(new.flags, 0);
    // SAFETY: the caller's promise, for all below.
    unsafe {
        give(new.output, Id::default());
        let application = wanted(new.application).and_then(registry::find::<Application>);
        let Some(application) = application else { return codes::APP_ID };
        Buffers::of(new.buffer, &[], &mut first);
        let charset = application.charset;
        let Some(name) = text::read(new.name, charset, NAME_CHARS, &mut first) else {
            return codes::METRIC_NAME;
        };
        if !matches!(new.format, 1..=8 | 10) {
            return codes::METRIC_FORMAT;
        }
        // Below 0 a program's own, up to 2 the binding's.
        if new.usage > 2 {
            return codes::METRIC_USAGE;
        }
        let name = match text::read(new.unit, charset, NAME_CHARS, &mut first) {
            Some(unit) if !names_unit(&name, &unit) => format!("{name} [{unit}]"),
            _ => name.into_owned(),
        };
        let (format, usage) = (new.format, new.usage);
        let key = (name.as_str(), application.name.as_str());
        let registered = registry::register(wanted(new.input), key, &mut first, |_, id| Metric {
            id,
            application: application.id,
            name: name.clone(),
            format,
            usage,
        });
        match registered {
            Ok((_, id)) => {
                give(new.output, id);
                if new.output.is_null() { codes::NULL } else { first.code() }
            }
            Err(code) => code,
        }
    }
}

/// # Safety
/// As `arm4.h` says.
pub(crate) unsafe fn start(
    id: *const Id,
    group: *const c_char,
    instance: *const c_char,
    flags: i32,
    buffer: *const Buffer4,
    output: *mut i64,
) -> Code {
    let mut first = First::default();
    first.flags(flags, 0);
    // SAFETY: the caller's promise, for all below.
    unsafe {
        give(output, 0);
        let application = wanted(id).and_then(registry::find::<Application>);
        let Some(application) = application else { return codes::APP_ID };
        if output.is_null() {
            return codes::HANDLE_OUT;
        }
        let allowed = [format::APP_CONTEXT, format::SYSTEM_ADDRESS, format::APP_CONTROL];
        let buffers = Buffers::of(buffer, &allowed, &mut first);
        let charset = application.charset;
        let mut said = Entries::default();
        for (key, text) in [("app_instance", instance), ("app_group", group)] {
            if let Some(text) = text::read(text, charset, VALUE_CHARS, &mut first) {
                said.property(key, &text);
            }
        }
        if let Some(own) = buffers.get::<types::AppContext>() {
            let values =
                details::texts(own.values, own.value_array, charset, VALUE_CHARS, &mut first);
            details::context(&application.context_names, &values, |key, value| {
                said.property(key, value);
            });
        }
        if let Some(own) = buffers.get::<types::SystemAddress>() {
            crate::address::say(&mut said, own, &mut first);
        }
        if let Some(own) = buffers.pointer::<types::AppControl>() {
            crate::controlling::tell_application(own, application);
        }
        match applications::start(application, said.entries().to_vec()) {
            Ok(handle) => {
                give(output, handle);
                first.code()
            }
            Err(code) => code,
        }
    }
}

/// # Safety
/// As `arm4.h` says.
pub(crate) unsafe fn stop(handle: i64, flags: i32, buffer: *const Buffer4) -> Code {
    let mut first = First::default();
    first.flags(flags, 0);
    // SAFETY: the caller's promise.
    unsafe { Buffers::of(buffer, &[], &mut first) };
    if applications::stop(handle) { first.code() } else { codes::APP_HANDLE }
}

#[cfg(test)]
mod tests {
    use super::names_unit;

    #[test]
    fn a_unit_is_said_once() {
        for (name, unit) in
            [("rows", "rows"), ("Rows", "rows"), ("elapsed_ms", "ms"), ("sent bytes", "Bytes")]
        {
            assert!(names_unit(name, unit), "{name} {unit}");
        }
        for (name, unit) in
            [("rows", "1"), ("forms", "ms"), ("s", "rows"), ("rows", "s"), ("Grad\u{e9}", "\u{e8}")]
        {
            assert!(!names_unit(name, unit), "{name} {unit}");
        }
    }
}
