//! Limit on the number of names from all senders of OTLP together.
//!
//! Every layer above the rows keeps a class for ever: in the collector's memory and in the files'
//! dictionaries. Senders that put an id into every span's name would fill both. Beyond the limit a
//! span keeps its name as a property, and its class is [`OTHER`].

use chronoscope_model::{ClassId, ProcessId};
use std::collections::{HashMap, HashSet};
use std::sync::Mutex;

/// Application and class of a span whose name exceeds the limit.
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
    /// A vocabulary of at most `max` classes, for each application and in all, and of as many
    /// processes.
    pub fn new(max: usize) -> Self {
        Self { max, of_application_max: max, known: Mutex::default() }
    }

    /// The same with a limit on the classes of one application: one sender leaves names to others.
    #[must_use]
    pub fn of_application(self, of_application_max: usize) -> Self {
        Self { of_application_max, ..self }
    }

    /// Whether this class of an application may be used.
    pub fn admits_class(&self, application: &str, class: ClassId) -> bool {
        // Lock poisoning is ignored: nothing panics under the lock, and every update of a set is a
        // single step.
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
