//! Definitions that a program registers: applications, transaction classes and metrics.

use crate::control::Controls;
use crate::text::Charset;
use crate::types::Id;
use chronoscope_record::Class;
use std::sync::atomic::{AtomicU32, Ordering};

/// Metrics of a transaction.
pub(crate) const SLOTS: usize = 7;

/// A registered application.
#[derive(Debug)]
pub(crate) struct Application {
    pub(crate) id: Id,
    pub(crate) name: String,
    pub(crate) charset: Charset,
    pub(crate) context_names: Vec<Option<String>>,
    /// Identity properties of the application, as context entries.
    pub(crate) identity: Vec<u8>,
    pub(crate) controls: Controls,
    /// Registered so often and not destroyed.
    registrations: AtomicU32,
}

impl Application {
    /// An application before its registration.
    pub(crate) fn new(
        id: Id,
        name: &str,
        charset: Charset,
        context_names: Vec<Option<String>>,
        identity: Vec<u8>,
    ) -> Self {
        let controls = Controls::of_application(name);
        let registrations = AtomicU32::new(0);
        Self {
            id,
            name: name.to_owned(),
            charset,
            context_names,
            identity,
            controls,
            registrations,
        }
    }

    /// Registered once more.
    pub(crate) fn add_registration(&self) {
        self.registrations.fetch_add(1, Ordering::Relaxed);
    }

    /// Destroyed once; whether it is gone.
    pub(crate) fn remove_registration(&self) -> bool {
        let less = |count: u32| count.checked_sub(1);
        self.registrations.fetch_update(Ordering::Relaxed, Ordering::Relaxed, less) == Ok(1)
    }

    /// Whether the application has not been destroyed.
    pub(crate) fn is_registered(&self) -> bool {
        self.registrations.load(Ordering::Relaxed) > 0
    }
}

/// A transaction class of an application.
#[derive(Debug)]
pub(crate) struct Transaction {
    pub(crate) id: Id,
    pub(crate) application: &'static Application,
    pub(crate) name: String,
    /// The recorder's class; others of its name may share it.
    pub(crate) class: &'static Class,
    pub(crate) context_names: Vec<Option<String>>,
    pub(crate) identity: Vec<u8>,
    pub(crate) metrics: [Option<&'static Metric>; SLOTS],
    pub(crate) controls: Controls,
}

/// A registered metric.
#[derive(Debug)]
pub(crate) struct Metric {
    pub(crate) id: Id,
    pub(crate) application: Id,
    /// With its unit, where it has one.
    pub(crate) name: String,
    pub(crate) format: u8,
    pub(crate) usage: i16,
}
