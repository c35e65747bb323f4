//! The service instances of a provider, the initiators that may bind to them, and the bound ones.
//!
//! One directory serves all associations of a provider. It is the same for SLE and for CSTS, over
//! their service instances ([`ProvidedInstance`]). A binding is held by a [`InstanceBinding`], which
//! frees the instance when it is dropped, whatever became of its association.

use std::collections::HashMap;
use std::fmt::Debug;
use std::hash::Hash;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::pdu::{BindDiagnostic, BindPdu, ServiceInstanceId, ServiceType};
use crate::tml::{HeartbeatLimits, PDU_BYTES_MAX};

use super::security::{SharedReplayGuard, guard};
use super::settings::{Identity, SecuritySettings};

/// An initiator that may bind, and its authentication.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Initiator {
    /// Name and password.
    pub identity: Identity,
    /// Its authentication.
    pub security: SecuritySettings,
}

/// When a service instance may be used, in UTC nanoseconds since 1970.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ProvisionPeriod {
    /// Start of the period.
    pub start_utc_ns: u64,
    /// End of the period. A user that is bound then is aborted.
    pub end_utc_ns: u64,
}

/// A service instance that is provided.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ServiceInstance {
    /// Its identifier.
    pub id: ServiceInstanceId,
    /// Its service.
    pub service: ServiceType,
    /// Provided versions, in [1, 5].
    pub versions: Vec<u16>,
    /// Identifiers of the initiators that may bind to it.
    pub initiators: Vec<String>,
    /// Provision period; `None`: no limit.
    pub provision: Option<ProvisionPeriod>,
    /// The name of the port at which it is provided; `None`: whatever BIND says.
    pub responder_port: Option<String>,
    /// Whether UNBIND with reason `end` ends the provision period, as the book has it; otherwise
    /// one may bind again, as operators like it.
    pub end_is_final: bool,
}

/// A service instance as one of the two specifications, SLE or CSTS, describes it.
pub trait ProvidedInstance: Debug + Send + Sync + 'static {
    /// Its identifier.
    type Id: Clone + Debug + Eq + Hash + Send + Sync;
    /// The specification's BIND invocation.
    type Bind;
    /// The diagnostic of the specification's negative BIND return.
    type Diagnostic;

    /// The identifier.
    fn id(&self) -> &Self::Id;
    /// An identifier in an error message.
    fn shown(id: &Self::Id) -> String;
    /// The identifier that BIND names.
    fn asked(bind: &Self::Bind) -> &Self::Id;
    /// The initiator identifier of BIND, and its responder port.
    fn from_to(bind: &Self::Bind) -> (&str, &str);
    /// Whether this instance is of the service that BIND names.
    fn has_service(&self, bind: &Self::Bind) -> bool;
    /// Whether this instance is provided in the version that BIND proposes.
    fn has_version(&self, bind: &Self::Bind) -> bool;
    /// Identifiers of the initiators that may bind to it.
    fn initiators(&self) -> &[String];
    /// The port at which it is provided; `None`: at every one.
    fn port(&self) -> Option<&str>;
    /// When it is provided; `None`: always.
    fn provision(&self) -> Option<ProvisionPeriod>;
    /// Whether UNBIND with reason `end` ends the provision period.
    fn end_is_final(&self) -> bool;
    /// The diagnostic that tells a refusal.
    fn diagnostic(refusal: BindRefusal, bind: &Self::Bind) -> Self::Diagnostic;
}

/// Why a BIND is refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BindRefusal {
    /// No instance is of this service.
    Service,
    /// No instance of this service, or not this instance, is provided in this version.
    Version,
    /// No instance has this identifier.
    Instance,
    /// The instance is not for this initiator.
    Initiator,
    /// The instance is of another service.
    OtherService,
    /// The instance is not at this port.
    Port,
    /// An operator has taken the instance out of service.
    OutOfService,
    /// Outside of the instance's provision period.
    Time,
    /// Another user is bound to the instance.
    Bound,
}

impl ProvidedInstance for ServiceInstance {
    type Id = ServiceInstanceId;
    type Bind = BindPdu;
    type Diagnostic = BindDiagnostic;

    fn id(&self) -> &ServiceInstanceId {
        &self.id
    }

    fn shown(id: &ServiceInstanceId) -> String {
        format!("{id:?}")
    }

    fn asked(bind: &BindPdu) -> &ServiceInstanceId {
        &bind.instance
    }

    fn from_to(bind: &BindPdu) -> (&str, &str) {
        (&bind.initiator, &bind.responder_port)
    }

    fn has_service(&self, bind: &BindPdu) -> bool {
        bind.service == Ok(self.service)
    }

    fn has_version(&self, bind: &BindPdu) -> bool {
        self.versions.contains(&bind.version)
    }

    fn initiators(&self) -> &[String] {
        &self.initiators
    }

    fn port(&self) -> Option<&str> {
        self.responder_port.as_deref()
    }

    fn provision(&self) -> Option<ProvisionPeriod> {
        self.provision
    }

    fn end_is_final(&self) -> bool {
        self.end_is_final
    }

    fn diagnostic(refusal: BindRefusal, _: &BindPdu) -> BindDiagnostic {
        match refusal {
            BindRefusal::Service => BindDiagnostic::ServiceTypeNotSupported,
            BindRefusal::Version => BindDiagnostic::VersionNotSupported,
            // The books have no diagnostic of its own for a port: the instance is not at this one.
            BindRefusal::Instance | BindRefusal::Port => BindDiagnostic::NoSuchServiceInstance,
            BindRefusal::Initiator => BindDiagnostic::SiNotAccessibleToThisInitiator,
            BindRefusal::OtherService => BindDiagnostic::InconsistentServiceType,
            BindRefusal::OutOfService => BindDiagnostic::OutOfService,
            BindRefusal::Time => BindDiagnostic::InvalidTime,
            BindRefusal::Bound => BindDiagnostic::AlreadyBound,
        }
    }
}

/// The service instances of a provider, and the initiators that may bind to them.
#[derive(Debug)]
pub struct InstanceDirectory<I: ProvidedInstance = ServiceInstance> {
    responder: Identity,
    heartbeat: HeartbeatLimits,
    pdu_bytes_max: u32,
    initiators: HashMap<String, (Initiator, SharedReplayGuard)>,
    instances: Vec<Entry<I>>,
    by_id: HashMap<I::Id, usize>,
}

#[derive(Debug)]
struct Entry<I> {
    instance: I,
    status: Mutex<Status>,
}

#[derive(Clone, Copy, Debug, Default)]
struct Status {
    bound: bool,
    ended: bool,
    out_of_service: bool,
}

/// Why a directory does not take an initiator or an instance.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum DirectoryError {
    /// The instance is there already.
    #[error("service instance {0} is configured twice")]
    Twice(String),
    /// The initiator is there already.
    #[error("initiator {0} is configured twice")]
    InitiatorTwice(String),
    /// An instance names an initiator that is not there.
    #[error(
        "service instance {instance} allows the initiator {initiator}, which is not configured"
    )]
    NoSuchInitiator {
        /// The instance.
        instance: String,
        /// The initiator that it names.
        initiator: String,
    },
    /// No such service instance.
    #[error("there is no service instance {0}")]
    NoSuchInstance(String),
}

impl<I: ProvidedInstance> InstanceDirectory<I> {
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
    pub fn add_instance(&mut self, instance: I) -> Result<(), DirectoryError> {
        let shown = I::shown(instance.id());
        if self.by_id.contains_key(instance.id()) {
            return Err(DirectoryError::Twice(shown));
        }
        let unknown = instance.initiators().iter().find(|id| !self.initiators.contains_key(*id));
        if let Some(initiator) = unknown.cloned() {
            return Err(DirectoryError::NoSuchInitiator { instance: shown, initiator });
        }
        self.by_id.insert(instance.id().clone(), self.instances.len());
        self.instances.push(Entry { instance, status: Mutex::default() });
        Ok(())
    }

    /// Takes an instance out of service, or puts it back. Whoever is bound stays so.
    ///
    /// # Errors
    /// [`DirectoryError::NoSuchInstance`].
    pub fn set_out_of_service(&self, id: &I::Id, out: bool) -> Result<(), DirectoryError> {
        self.entry(id)?.status().out_of_service = out;
        Ok(())
    }

    /// Whether somebody is bound to an instance.
    ///
    /// # Errors
    /// [`DirectoryError::NoSuchInstance`].
    pub fn is_bound(&self, id: &I::Id) -> Result<bool, DirectoryError> {
        Ok(self.entry(id)?.status().bound)
    }

    /// The identity of the responder.
    #[must_use]
    pub fn responder(&self) -> &Identity {
        &self.responder
    }

    /// The initiator of that identifier, if it may bind.
    #[must_use]
    pub fn initiator(&self, id: &str) -> Option<&Initiator> {
        self.initiators.get(id).map(|(initiator, _)| initiator)
    }

    /// The remembered credentials of an initiator, against replays.
    pub(crate) fn guard(&self, id: &str) -> Option<SharedReplayGuard> {
        self.initiators.get(id).map(|(_, guard)| SharedReplayGuard::clone(guard))
    }

    /// Limits of the heartbeat and of the length of a PDU in octets.
    pub(crate) fn limits(&self) -> (HeartbeatLimits, u32) {
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
    pub fn bind(
        self: &Arc<Self>,
        bind: &I::Bind,
        utc_ns: u64,
    ) -> Result<InstanceBinding<I>, I::Diagnostic> {
        let allowed = self.allow(bind, utc_ns);
        let index = allowed.map_err(|refusal| I::diagnostic(refusal, bind))?;
        Ok(InstanceBinding { directory: Arc::clone(self), index })
    }

    /// Binds, if this BIND may; the index of the instance.
    fn allow(&self, bind: &I::Bind, utc_ns: u64) -> Result<usize, BindRefusal> {
        let of_service = self.instances.iter().filter(|it| it.instance.has_service(bind));
        let mut of_service = of_service.peekable();
        if of_service.peek().is_none() {
            return Err(BindRefusal::Service);
        }
        if !of_service.any(|it| it.instance.has_version(bind)) {
            return Err(BindRefusal::Version);
        }
        let index = *self.by_id.get(I::asked(bind)).ok_or(BindRefusal::Instance)?;
        let entry = &self.instances[index];
        entry.fits(bind)?;
        entry.take(utc_ns)?;
        Ok(index)
    }

    fn entry(&self, id: &I::Id) -> Result<&Entry<I>, DirectoryError> {
        match self.by_id.get(id) {
            Some(index) => Ok(&self.instances[*index]),
            None => Err(DirectoryError::NoSuchInstance(I::shown(id))),
        }
    }
}

impl<I: ProvidedInstance> Entry<I> {
    fn status(&self) -> MutexGuard<'_, Status> {
        // Nothing can panic with the lock held.
        self.status.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether BIND fits this instance, whatever its status.
    fn fits(&self, bind: &I::Bind) -> Result<(), BindRefusal> {
        let (initiator, port) = I::from_to(bind);
        if !self.instance.initiators().iter().any(|id| id == initiator) {
            return Err(BindRefusal::Initiator);
        }
        if !self.instance.has_service(bind) {
            return Err(BindRefusal::OtherService);
        }
        if !self.instance.has_version(bind) {
            return Err(BindRefusal::Version);
        }
        if self.instance.port().is_some_and(|own| own != port) {
            return Err(BindRefusal::Port);
        }
        Ok(())
    }

    /// Binds, if the status allows.
    fn take(&self, utc_ns: u64) -> Result<(), BindRefusal> {
        let mut status = self.status();
        if status.out_of_service {
            return Err(BindRefusal::OutOfService);
        }
        let within = self.instance.provision().is_none_or(|provision| {
            (provision.start_utc_ns..provision.end_utc_ns).contains(&utc_ns)
        });
        if status.ended || !within {
            return Err(BindRefusal::Time);
        }
        if status.bound {
            return Err(BindRefusal::Bound);
        }
        status.bound = true;
        Ok(())
    }
}

/// Reservation of an instance for one association. Dropping it frees the instance.
#[derive(Debug)]
pub struct InstanceBinding<I: ProvidedInstance = ServiceInstance> {
    directory: Arc<InstanceDirectory<I>>,
    index: usize,
}

impl<I: ProvidedInstance> InstanceBinding<I> {
    /// The reserved instance.
    #[must_use]
    pub fn instance(&self) -> &I {
        &self.directory.instances[self.index].instance
    }

    /// Ends the provision period, where the instance says that `end` does so.
    pub(super) fn end(&self) {
        let entry = &self.directory.instances[self.index];
        entry.status().ended |= entry.instance.end_is_final();
    }
}

impl<I: ProvidedInstance> Drop for InstanceBinding<I> {
    fn drop(&mut self) {
        self.directory.instances[self.index].status().bound = false;
    }
}
