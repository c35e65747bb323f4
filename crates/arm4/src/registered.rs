//! Tables that registration searches: see [`crate::gate`].

use crate::instance::Instance;
use chronoscope_model::ClassId;
use chronoscope_record::Class;
use std::collections::HashMap;

/// All registered objects, by the properties that identify them.
#[derive(Debug, Default)]
pub(crate) struct Registered {
    /// Kind and hash to places in that kind's table.
    pub(crate) alike: HashMap<(u64, u64), Vec<u32>>,
    classes: HashMap<ClassId, &'static Class>,
    pub(crate) instances: Vec<&'static Instance>,
}

impl Registered {
    /// The recorder's class of an application.
    pub(crate) fn class(&mut self, application: &str, name: &str) -> &'static Class {
        self.classes
            .entry(ClassId::of(application, name))
            .or_insert_with(|| Class::named(Some(application), name, false))
    }
}
