//! The C API, as a program in C has it: through the shared library, opened by name, with
//! everything that costs (its thread-local data are found by a call, for one).
//!
//! It has a recorder of its own, whose ring is beside ours.
#![allow(unsafe_code)] // the interface of C

use crate::measure::Case;
use anyhow::bail;
use chronoscope_record::read::{default_folder, find_rings};
use std::ffi::{CStr, CString, c_char, c_void};
use std::hint::black_box;
use std::ptr::{null, null_mut};

type Id = [u64; 2];
type Correlator = [u8; 512];

#[repr(C)]
struct Metric {
    slot: u8,
    format: u8,
    usage: i16,
    valid: i32,
    value: i64,
}

#[repr(C)]
struct MetricValues {
    format: i32,
    count: i32,
    array: *const Metric,
}

#[repr(C)]
struct Binding {
    slot: u8,
    id: Id,
}

#[repr(C)]
struct MetricBindings {
    format: i32,
    count: i32,
    array: *const Binding,
}

#[repr(C)]
struct Buffer {
    count: i32,
    array: *const *const c_void,
}

type Register = unsafe extern "C" fn(*const c_char, *const Id, i32, *const Buffer, *mut Id) -> i32;
type RegisterTransaction =
    unsafe extern "C" fn(*const Id, *const c_char, *const Id, i32, *const Buffer, *mut Id) -> i32;
type RegisterMetric = unsafe extern "C" fn(
    *const Id,
    *const c_char,
    u8,
    i16,
    *const c_char,
    *const Id,
    i32,
    *const Buffer,
    *mut Id,
) -> i32;
type StartApplication = unsafe extern "C" fn(
    *const Id,
    *const c_char,
    *const c_char,
    i32,
    *const Buffer,
    *mut i64,
) -> i32;
type Start = unsafe extern "C" fn(
    i64,
    *const Id,
    *const Correlator,
    i32,
    *const Buffer,
    *mut i64,
    *mut Correlator,
) -> i32;
type Stop = unsafe extern "C" fn(i64, i32, i32, *const Buffer) -> i32;
type Control = unsafe extern "C" fn(*const Id, i32, i32) -> i32;

/// The library, opened for good.
struct Library(*mut c_void);

impl Library {
    fn open() -> anyhow::Result<Self> {
        let path = std::env::current_exe()?.with_file_name("libarm4.so");
        let name = CString::new(path.to_string_lossy().as_bytes())?;
        // SAFETY: a text that ends; the library runs nothing when it is opened.
        let library = unsafe { libc::dlopen(name.as_ptr(), libc::RTLD_NOW | libc::RTLD_LOCAL) };
        if library.is_null() {
            bail!("no {}: cargo build --release -p chronoscope-arm4", path.display());
        }
        Ok(Self(library))
    }

    /// A function, whose type the caller knows from `arm4.h`.
    fn get<F: Copy>(&self, name: &CStr) -> anyhow::Result<F> {
        // SAFETY: a text that ends, a library that is open.
        let address = unsafe { libc::dlsym(self.0, name.as_ptr()) };
        if address.is_null() || size_of::<F>() != size_of::<*mut c_void>() {
            bail!("libarm4.so lacks {name:?}");
        }
        // SAFETY: function pointers have the size of pointers, and the type is the header's.
        Ok(unsafe { std::mem::transmute_copy(&address) })
    }
}

/// All cases; none, with a message, where the library is not beside this program.
pub(crate) fn all() -> Vec<Case> {
    cases().unwrap_or_else(|error| {
        eprintln!("the C API is left out: {error:#}");
        Vec::new()
    })
}

/// Takes away the ring of the library's recorder.
pub(crate) fn remove_ring() -> anyhow::Result<()> {
    let own = format!("bench_in_C.{}.", std::process::id());
    for ring in find_rings(&default_folder()) {
        if ring.file_name().is_some_and(|name| name.to_string_lossy().starts_with(&own)) {
            std::fs::remove_file(ring)?;
        }
    }
    Ok(())
}

fn cases() -> anyhow::Result<Vec<Case>> {
    let library = Library::open()?;
    let (start, stop) = (
        library.get::<Start>(c"arm_start_transaction")?,
        library.get::<Stop>(c"arm_stop_transaction")?,
    );
    let (app_id, app) = application(&library)?;
    let plain = transaction(&library, &app_id, c"pair in C", null())?;
    let off = transaction(&library, &app_id, c"pair in C, off", null())?;
    let control = library.get::<Control>(c"chronoscope_control")?;
    // SAFETY: as `arm4.h` says.
    unsafe { control(&raw const off, 6, 0) };
    let mut cases = vec![pair("C API: start and stop", start, stop, app, plain)];
    cases.push(pair("C API: switched off", start, stop, app, off));
    cases.push(Case::new("C API: root, its correlator", move |count| {
        let (mut handle, mut own) = (0, [0; 512]);
        for _ in 0..count {
            // SAFETY: as `arm4.h` says.
            unsafe {
                start(app, &plain, null(), 0, null(), &mut handle, &mut own);
                stop(handle, 0, 0, null());
            }
            black_box(&own);
        }
    }));
    let (mut parent, mut handle) = ([0; 512], 0);
    // SAFETY: as `arm4.h` says.
    unsafe {
        start(app, &plain, null(), 0, null(), &mut handle, &mut parent);
        stop(handle, 0, 0, null());
    }
    cases.push(Case::new("C API: child, its correlator", move |count| {
        let (mut handle, mut own) = (0, [0; 512]);
        for _ in 0..count {
            // SAFETY: as `arm4.h` says.
            unsafe {
                start(app, &plain, black_box(&parent), 0, null(), &mut handle, &mut own);
                stop(handle, 0, 0, null());
            }
            black_box(&own);
        }
    }));
    cases.push(with_metric(&library, start, stop, &app_id, app)?);
    Ok(cases)
}

fn pair(name: &'static str, start: Start, stop: Stop, app: i64, id: Id) -> Case {
    Case::new(name, move |count| {
        let mut handle = 0;
        for _ in 0..count {
            // SAFETY: as `arm4.h` says.
            unsafe {
                start(app, &id, null(), 0, null(), &mut handle, null_mut());
                stop(handle, 0, 0, null());
            }
        }
    })
}

fn with_metric(
    library: &Library,
    start: Start,
    stop: Stop,
    app_id: &Id,
    app: i64,
) -> anyhow::Result<Case> {
    let register = library.get::<RegisterMetric>(c"arm_register_metric")?;
    let mut id = [0; 2];
    // SAFETY: as `arm4.h` says.
    let code =
        unsafe { register(app_id, c"plots".as_ptr(), 4, 0, null(), null(), 0, null(), &mut id) };
    if code != 0 {
        bail!("arm_register_metric gave {code}");
    }
    let binding = Binding { slot: 0, id };
    let bindings = MetricBindings { format: 106, count: 1, array: &raw const binding };
    let list = [(&raw const bindings).cast::<c_void>()];
    let buffer = Buffer { count: 1, array: list.as_ptr() };
    let tran = transaction(library, app_id, c"pair in C, metric", &raw const buffer)?;
    Ok(Case::new("C API: one metric at the stop", move |count| {
        let mut handle = 0;
        let metric = Metric { slot: 0, format: 4, usage: 0, valid: 1, value: 12 };
        let values = MetricValues { format: 5, count: 1, array: &raw const metric };
        let list = [(&raw const values).cast::<c_void>()];
        let buffer = Buffer { count: 1, array: list.as_ptr() };
        for _ in 0..count {
            // SAFETY: as `arm4.h` says.
            unsafe {
                start(app, &tran, null(), 0, null(), &mut handle, null_mut());
                stop(handle, 0, 0, black_box(&raw const buffer));
            }
        }
    }))
}

fn application(library: &Library) -> anyhow::Result<(Id, i64)> {
    let register = library.get::<Register>(c"arm_register_application")?;
    let run = library.get::<StartApplication>(c"arm_start_application")?;
    let (mut id, mut app) = ([0; 2], 0);
    // SAFETY: as `arm4.h` says.
    let codes = unsafe {
        (
            register(c"bench in C".as_ptr(), null(), 0, null(), &mut id),
            run(&raw const id, null(), null(), 0, null(), &mut app),
        )
    };
    if codes != (0, 0) {
        bail!("the application gave {codes:?}");
    }
    Ok((id, app))
}

fn transaction(
    library: &Library,
    app: &Id,
    name: &CStr,
    buffer: *const Buffer,
) -> anyhow::Result<Id> {
    let register = library.get::<RegisterTransaction>(c"arm_register_transaction")?;
    let mut id = [0; 2];
    // SAFETY: as `arm4.h` says.
    let code = unsafe { register(app, name.as_ptr(), null(), 0, buffer, &mut id) };
    if code != 0 {
        bail!("arm_register_transaction gave {code}");
    }
    Ok(id)
}
