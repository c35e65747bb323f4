//! How many names the senders of OTLP may bring in, all together.
//!
//! A class is kept for ever by everything above the rows: memory of the collector, dictionaries
//! of the files. Senders who put an id into every span's name would fill both. So there is a
//! bound; beyond it a span keeps its name as a property, and its class is [`OTHER`].

use chronoscope_model::{ClassId, ProcessId};
use std::collections::{HashMap, HashSet};
use std::sync::Mutex;

/// Application and class of a span whose name was one too many.
pub const OTHER: &str = "(other)";

/// The names that were admitted so far; shared by all requests.
#[derive(Debug)]
pub struct Vocabulary {
    max: usize,
    /// Classes of one application.
    of_application_max: usize,
    known: Mutex<Known>,
}

#[derive(Debug, Default)]
struct Known {
    classes: HashSet<ClassId>,
    /// Classes of each application that has one.
    of_application: HashMap<String, usize>,
    processes: HashSet<ProcessId>,
}

impl Default for Vocabulary {
    fn default() -> Self {
        Self { of_application_max: 16_384, ..Self::new(65_536) }
    }
}

impl Vocabulary {
    /// One that admits so many classes, also of one application, and as many processes.
    pub fn new(max: usize) -> Self {
        Self { max, of_application_max: max, known: Mutex::default() }
    }

    /// The same with so many classes of one application: one sender leaves names to others.
    #[must_use]
    pub fn of_application(self, of_application_max: usize) -> Self {
        Self { of_application_max, ..self }
    }

    /// Whether this class of an application may be used.
    pub fn admits_class(&self, application: &str, class: ClassId) -> bool {
        // Nothing panics under the lock, and a set is whole at any time.
        let mut known = self.known.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
        if known.classes.contains(&class) {
            return true;
        }
        let count = known.of_application.get(application).copied().unwrap_or(0);
        if count >= self.of_application_max || !admits(&mut known.classes, class, self.max) {
            return false;
        }
        known.of_application.insert(application.to_owned(), count + 1);
        true
    }

    /// Whether this process may be used.
    pub fn admits_process(&self, process: ProcessId) -> bool {
        let mut known = self.known.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
        admits(&mut known.processes, process, self.max)
    }
}

fn admits<T: std::hash::Hash + Eq>(known: &mut HashSet<T>, new: T, max: usize) -> bool {
    known.contains(&new) || (known.len() < max && known.insert(new))
}
