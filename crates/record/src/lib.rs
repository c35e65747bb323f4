//! Under construction: the recorder is complete, its readers are not.

mod capi;
mod class;
mod classes;
mod commit;
mod context;
mod cpu;
mod env;
mod future;
mod guard;
mod layout;
mod os;
mod process;
pub mod read;
mod region;
mod say;
mod sigbus;
mod slots;
mod slow;
mod started;
mod thread;
mod transaction;
mod words;

pub use capi::{OpenToken, chronoscope_begin, chronoscope_class, chronoscope_end};
pub use chronoscope_model::{Correlator, CorrelatorError, Status};
pub use chronoscope_record_macros::transaction;
pub use class::Class;
pub use future::Measured;
pub use guard::{Guard, call_once, current, status_of};
pub use process::{cpu_method, init, ring_path};
pub use started::Started;
pub use words::{CpuMethod, Storage};

/// Declares a class: `static DECODE: Class = class!("decodePlots");`. With `process_cpu`
/// (`class!("decodePlots", process_cpu)`) its transactions record CPU time of the whole process
/// too, at two system calls each.
#[macro_export]
macro_rules! class {
    ($name:expr) => {
        $crate::Class::new($name, false)
    };
    ($name:expr, process_cpu) => {
        $crate::Class::new($name, true)
    };
}
