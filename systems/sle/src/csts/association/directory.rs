//! Which service instances a provider has, who may bind to them, and who is bound.
//!
//! As SLE's ([`crate::association::Directory`]), with the framework's identifiers and diagnostics.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::association::security::{Guard, guard};
use crate::association::{Identity, Initiator, Provision};
use crate::csts::pdu::{Bind, BindDiagnostic, Diagnostic, ServiceInstanceId};
use crate::tml::{HeartbeatLimits, PDU_BYTES_MAX};

/// A service instance that is provided.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Instance {
    /// Its identifier, with its service type.
    pub id: ServiceInstanceId,
    /// In which versions, from 1.
    pub versions: Vec<u32>,
    /// Identifiers of the initiators that may bind to it.
    pub initiators: Vec<String>,
    /// When; `None`: always.
    pub provision: Option<Provision>,
    /// The name of the port at which it is provided; `None`: whatever BIND says.
    pub responder_port: Option<String>,
}

/// What there is to bind to.
#[derive(Debug)]
pub struct Directory {
    responder: Identity,
    heartbeat: HeartbeatLimits,
    pdu_bytes_max: u32,
    initiators: HashMap<String, (Initiator, Guard)>,
    instances: HashMap<ServiceInstanceId, Entry>,
}

#[derive(Debug)]
struct Entry {
    instance: Instance,
    status: Mutex<Status>,
}

#[derive(Clone, Copy, Debug, Default)]
struct Status {
    bound: bool,
    out_of_service: bool,
}

/// Why a directory does not take something.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum DirectoryError {
    /// The instance is there already.
    #[error("service instance {0} is configured twice")]
    Twice(ServiceInstanceId),
    /// The initiator is there already.
    #[error("initiator {0} is configured twice")]
    InitiatorTwice(String),
    /// An instance names an initiator that is not there.
    #[error(
        "service instance {instance} is for the initiator {initiator}, which is not configured"
    )]
    NoSuchInitiator {
        /// The instance.
        instance: ServiceInstanceId,
        /// Whom it names.
        initiator: String,
    },
    /// No such service instance.
    #[error("there is no service instance {0}")]
    NoSuchInstance(ServiceInstanceId),
}

impl Directory {
    /// An empty one. `responder` is who answers, with the password of its credentials.
    #[must_use]
    pub fn new(responder: Identity) -> Self {
        Self {
            responder,
            heartbeat: HeartbeatLimits::default(),
            pdu_bytes_max: PDU_BYTES_MAX,
            initiators: HashMap::new(),
            instances: HashMap::new(),
        }
    }

    /// Bounds what initiators may propose, and the time to their BIND.
    #[must_use]
    pub fn heartbeat(mut self, limits: HeartbeatLimits) -> Self {
        self.heartbeat = limits;
        self
    }

    /// Bounds the PDUs that are taken, in octets.
    #[must_use]
    pub fn pdu_bytes_max(mut self, octets: u32) -> Self {
        self.pdu_bytes_max = octets;
        self
    }

    /// Adds somebody who may bind.
    ///
    /// # Errors
    /// [`DirectoryError::InitiatorTwice`].
    pub fn add_initiator(&mut self, initiator: Initiator) -> Result<(), DirectoryError> {
        let id = initiator.identity.id.clone();
        if self.initiators.contains_key(&id) {
            return Err(DirectoryError::InitiatorTwice(id));
        }
        let guard = guard(&initiator.security);
        self.initiators.insert(id, (initiator, guard));
        Ok(())
    }

    /// Adds something to bind to; its initiators are there already.
    ///
    /// # Errors
    /// [`DirectoryError::Twice`], [`DirectoryError::NoSuchInitiator`].
    pub fn add_instance(&mut self, instance: Instance) -> Result<(), DirectoryError> {
        if self.instances.contains_key(&instance.id) {
            return Err(DirectoryError::Twice(instance.id));
        }
        let unknown = instance.initiators.iter().find(|id| !self.initiators.contains_key(*id));
        if let Some(initiator) = unknown.cloned() {
            return Err(DirectoryError::NoSuchInitiator { instance: instance.id, initiator });
        }
        let entry = Entry { instance, status: Mutex::default() };
        self.instances.insert(entry.instance.id.clone(), entry);
        Ok(())
    }

    /// Takes an instance out of service, or puts it back. Whoever is bound stays so.
    ///
    /// # Errors
    /// [`DirectoryError::NoSuchInstance`].
    pub fn set_out_of_service(
        &self,
        id: &ServiceInstanceId,
        out: bool,
    ) -> Result<(), DirectoryError> {
        self.entry(id)?.status().out_of_service = out;
        Ok(())
    }

    /// Whether somebody is bound to an instance.
    ///
    /// # Errors
    /// [`DirectoryError::NoSuchInstance`].
    pub fn is_bound(&self, id: &ServiceInstanceId) -> Result<bool, DirectoryError> {
        Ok(self.entry(id)?.status().bound)
    }

    /// Who answers.
    #[must_use]
    pub fn responder(&self) -> &Identity {
        &self.responder
    }

    /// Whoever is called so, if it may bind at all, and what is remembered of its credentials.
    pub(super) fn initiator(&self, id: &str) -> Option<(&Initiator, Guard)> {
        self.initiators.get(id).map(|(initiator, guard)| (initiator, Guard::clone(guard)))
    }

    /// What initiators may propose.
    pub(super) fn limits(&self) -> (HeartbeatLimits, u32) {
        (self.heartbeat.clone(), self.pdu_bytes_max)
    }

    /// Binds, on behalf of an initiator that is who it says it is. The checks are made in the order
    /// of SLE's directory, so that of two things wrong the same one is told.
    ///
    /// # Errors
    /// What BIND's return is to say. The framework has no diagnostic for a provision period that has
    /// not begun, or is over: that is `outOfService`.
    pub fn bind(self: &Arc<Self>, bind: &Bind, utc_ns: u64) -> Result<Binding, Diagnostic> {
        self.allow(bind, utc_ns).map_err(Diagnostic::Bind)?;
        Ok(Binding { directory: Arc::clone(self), id: bind.instance.clone() })
    }

    fn allow(&self, bind: &Bind, utc_ns: u64) -> Result<(), BindDiagnostic> {
        use BindDiagnostic as D;
        let service = &bind.service_type;
        let mut of_service =
            self.instances.values().filter(|it| it.instance.id.service_type == *service);
        if of_service.clone().next().is_none() {
            return Err(D::ServiceTypeNotSupported(format!("{service} is not provided")));
        }
        if !of_service.any(|it| it.instance.versions.contains(&bind.version)) {
            return Err(D::VersionNotSupported(format!("version {} is not", bind.version)));
        }
        let Some(entry) = self.instances.get(&bind.instance) else {
            return Err(D::NoSuchServiceInstance(String::new()));
        };
        let instance = &entry.instance;
        if !instance.initiators.contains(&bind.initiator) {
            return Err(D::SiNotAccessibleToThisInitiator(String::new()));
        }
        if instance.id.service_type != *service {
            return Err(D::InconsistentServiceType(String::new()));
        }
        if !instance.versions.contains(&bind.version) {
            return Err(D::VersionNotSupported(format!("version {} is not", bind.version)));
        }
        // There is no diagnostic of its own for a port: the instance is not at this one.
        if instance.responder_port.as_ref().is_some_and(|port| *port != bind.responder_port) {
            return Err(D::NoSuchServiceInstance("not at this port".to_owned()));
        }
        entry.take(utc_ns)
    }

    fn entry(&self, id: &ServiceInstanceId) -> Result<&Entry, DirectoryError> {
        self.instances.get(id).ok_or_else(|| DirectoryError::NoSuchInstance(id.clone()))
    }
}

impl Entry {
    fn status(&self) -> MutexGuard<'_, Status> {
        // Nothing can panic with the lock held.
        self.status.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Binds, if the status allows.
    fn take(&self, utc_ns: u64) -> Result<(), BindDiagnostic> {
        let mut status = self.status();
        let within = self.instance.provision.is_none_or(|provision| {
            (provision.start_utc_ns..provision.end_utc_ns).contains(&utc_ns)
        });
        if status.out_of_service {
            return Err(BindDiagnostic::OutOfService(String::new()));
        }
        if !within {
            let text = "outside of the provision period".to_owned();
            return Err(BindDiagnostic::OutOfService(text));
        }
        if status.bound {
            return Err(BindDiagnostic::AlreadyBound(String::new()));
        }
        status.bound = true;
        Ok(())
    }
}

/// That somebody is bound to an instance. Dropped, the instance is free.
#[derive(Debug)]
pub struct Binding {
    directory: Arc<Directory>,
    id: ServiceInstanceId,
}

impl Binding {
    /// When the instance may be used.
    pub(super) fn provision(&self) -> Option<Provision> {
        self.directory.instances.get(&self.id).and_then(|entry| entry.instance.provision)
    }
}

impl Drop for Binding {
    fn drop(&mut self) {
        if let Some(entry) = self.directory.instances.get(&self.id) {
            entry.status().bound = false;
        }
    }
}
