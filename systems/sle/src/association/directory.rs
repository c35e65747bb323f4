//! Which service instances a provider has, who may bind to them, and who is bound.
//!
//! One directory serves all associations of a provider. A binding is held by a [`Binding`], which
//! frees the instance when it is dropped, whatever became of its association.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::pdu::{Bind, BindDiagnostic, Service, ServiceInstanceId};
use crate::tml::{HeartbeatLimits, PDU_BYTES_MAX};

use super::security::{Guard, guard};
use super::settings::{Identity, Security};

/// Who may bind at all, and how it is known.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Initiator {
    /// Name and password.
    pub identity: Identity,
    /// How it is known.
    pub security: Security,
}

/// When a service instance may be used, in UTC nanoseconds since 1970.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Provision {
    /// From then on.
    pub start_utc_ns: u64,
    /// Until then; whoever is bound then is aborted.
    pub end_utc_ns: u64,
}

/// A service instance that is provided.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Instance {
    /// Its identifier.
    pub id: ServiceInstanceId,
    /// Its service.
    pub service: Service,
    /// In which versions, in [1, 5].
    pub versions: Vec<u16>,
    /// Identifiers of the initiators that may bind to it.
    pub initiators: Vec<String>,
    /// When; `None`: always.
    pub provision: Option<Provision>,
    /// The name of the port at which it is provided; `None`: whatever BIND says.
    pub responder_port: Option<String>,
    /// Whether UNBIND with reason `end` ends the provision period, as the book has it; otherwise
    /// one may bind again, as operators like it.
    pub end_is_final: bool,
}

/// What there is to bind to.
#[derive(Debug)]
pub struct Directory {
    responder: Identity,
    heartbeat: HeartbeatLimits,
    pdu_bytes_max: u32,
    initiators: HashMap<String, (Initiator, Guard)>,
    instances: Vec<Entry>,
    by_id: HashMap<ServiceInstanceId, usize>,
}

#[derive(Debug)]
struct Entry {
    instance: Instance,
    status: Mutex<Status>,
}

#[derive(Clone, Copy, Debug, Default)]
struct Status {
    bound: bool,
    ended: bool,
    out_of_service: bool,
}

/// Why a directory does not take something.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum DirectoryError {
    /// The instance is there already.
    #[error("service instance {0:?} is configured twice")]
    Twice(ServiceInstanceId),
    /// The initiator is there already.
    #[error("initiator {0} is configured twice")]
    InitiatorTwice(String),
    /// An instance names an initiator that is not there.
    #[error(
        "service instance {instance:?} is for the initiator {initiator}, which is not configured"
    )]
    NoSuchInitiator {
        /// The instance.
        instance: ServiceInstanceId,
        /// Whom it names.
        initiator: String,
    },
    /// No such service instance.
    #[error("there is no service instance {0:?}")]
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
            instances: Vec::new(),
            by_id: HashMap::new(),
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
        if self.by_id.contains_key(&instance.id) {
            return Err(DirectoryError::Twice(instance.id));
        }
        for initiator in &instance.initiators {
            if !self.initiators.contains_key(initiator) {
                let initiator = initiator.clone();
                return Err(DirectoryError::NoSuchInitiator { instance: instance.id, initiator });
            }
        }
        self.by_id.insert(instance.id.clone(), self.instances.len());
        self.instances.push(Entry { instance, status: Mutex::default() });
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

    /// Whoever is called so, if it may bind at all.
    #[must_use]
    pub fn initiator(&self, id: &str) -> Option<&Initiator> {
        self.initiators.get(id).map(|(initiator, _)| initiator)
    }

    /// What is remembered of its credentials.
    pub(super) fn guard(&self, id: &str) -> Option<Guard> {
        self.initiators.get(id).map(|(_, guard)| Guard::clone(guard))
    }

    /// What initiators may propose.
    pub(super) fn limits(&self) -> (HeartbeatLimits, u32) {
        (self.heartbeat.clone(), self.pdu_bytes_max)
    }

    /// Binds, on behalf of an initiator that is who it says it is.
    ///
    /// The checks are made in the order of the implementation that the agencies share, so that of
    /// two things wrong the same one is told: service, version, instance, initiator, service of the
    /// instance, version of the instance, port, out of service, time, already bound.
    ///
    /// # Errors
    /// What BIND's return is to say.
    pub fn bind(self: &Arc<Self>, bind: &Bind, utc_ns: u64) -> Result<Binding, BindDiagnostic> {
        let service = bind.service.map_err(|_| BindDiagnostic::ServiceTypeNotSupported)?;
        let mut versions = self.versions(service).peekable();
        if versions.peek().is_none() {
            return Err(BindDiagnostic::ServiceTypeNotSupported);
        }
        if !versions.any(|version| version == bind.version) {
            return Err(BindDiagnostic::VersionNotSupported);
        }
        let index = self.by_id.get(&bind.instance);
        let index = *index.ok_or(BindDiagnostic::NoSuchServiceInstance)?;
        let entry = &self.instances[index];
        entry.instance.allow(bind, service)?;
        entry.take(utc_ns)?;
        Ok(Binding { directory: Arc::clone(self), index })
    }

    /// In which versions a service is provided by any instance.
    fn versions(&self, service: Service) -> impl Iterator<Item = u16> {
        self.instances
            .iter()
            .filter(move |entry| entry.instance.service == service)
            .flat_map(|entry| entry.instance.versions.iter().copied())
    }

    fn entry(&self, id: &ServiceInstanceId) -> Result<&Entry, DirectoryError> {
        match self.by_id.get(id) {
            Some(index) => Ok(&self.instances[*index]),
            None => Err(DirectoryError::NoSuchInstance(id.clone())),
        }
    }
}

impl Instance {
    /// Whether BIND fits this instance, whatever its status.
    fn allow(&self, bind: &Bind, service: Service) -> Result<(), BindDiagnostic> {
        if !self.initiators.contains(&bind.initiator) {
            return Err(BindDiagnostic::SiNotAccessibleToThisInitiator);
        }
        if self.service != service {
            return Err(BindDiagnostic::InconsistentServiceType);
        }
        if !self.versions.contains(&bind.version) {
            return Err(BindDiagnostic::VersionNotSupported);
        }
        // The books have no diagnostic of its own for a port: the instance is not at this one.
        match &self.responder_port {
            Some(port) if *port != bind.responder_port => {
                Err(BindDiagnostic::NoSuchServiceInstance)
            }
            _ => Ok(()),
        }
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
        if status.out_of_service {
            return Err(BindDiagnostic::OutOfService);
        }
        let within = self.instance.provision.is_none_or(|provision| {
            (provision.start_utc_ns..provision.end_utc_ns).contains(&utc_ns)
        });
        if status.ended || !within {
            return Err(BindDiagnostic::InvalidTime);
        }
        if status.bound {
            return Err(BindDiagnostic::AlreadyBound);
        }
        status.bound = true;
        Ok(())
    }
}

/// That somebody is bound to an instance. Dropped, the instance is free.
#[derive(Debug)]
pub struct Binding {
    directory: Arc<Directory>,
    index: usize,
}

impl Binding {
    /// To which.
    #[must_use]
    pub fn instance(&self) -> &Instance {
        &self.directory.instances[self.index].instance
    }

    /// Ends the provision period, where the instance says that `end` does so.
    pub(super) fn end(&self) {
        let entry = &self.directory.instances[self.index];
        entry.status().ended |= entry.instance.end_is_final;
    }
}

impl Drop for Binding {
    fn drop(&mut self) {
        self.directory.instances[self.index].status().bound = false;
    }
}
