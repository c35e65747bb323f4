//! The service instances of a CSTS provider, in the directory that SLE has too
//! ([`crate::association::directory`]).

use crate::association::Provision;
use crate::association::directory::{self, Provided, Refusal};
use crate::csts::pdu::{Bind, BindDiagnostic, Diagnostic, ServiceInstanceId};

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

/// The service instances of a provider, and the initiators that may bind to them.
pub type Directory = directory::Directory<Instance>;

/// A bound service instance. Dropped, the instance is free.
pub type Binding = directory::Binding<Instance>;

impl Provided for Instance {
    type Id = ServiceInstanceId;
    type Bind = Bind;
    type Diagnostic = Diagnostic;

    fn id(&self) -> &ServiceInstanceId {
        &self.id
    }

    fn shown(id: &ServiceInstanceId) -> String {
        id.to_string()
    }

    fn asked(bind: &Bind) -> &ServiceInstanceId {
        &bind.instance
    }

    fn from_to(bind: &Bind) -> (&str, &str) {
        (&bind.initiator, &bind.responder_port)
    }

    fn has_service(&self, bind: &Bind) -> bool {
        self.id.service_type == bind.service_type
    }

    fn has_version(&self, bind: &Bind) -> bool {
        self.versions.contains(&bind.version)
    }

    fn initiators(&self) -> &[String] {
        &self.initiators
    }

    fn port(&self) -> Option<&str> {
        self.responder_port.as_deref()
    }

    fn provision(&self) -> Option<Provision> {
        self.provision
    }

    /// UNBIND has no reason.
    fn end_is_final(&self) -> bool {
        false
    }

    /// The framework has no diagnostic for a port, nor for a provision period that has not begun, or
    /// is over: the former is `noSuchServiceInstance`, the latter `outOfService`.
    fn diagnostic(refusal: Refusal, bind: &Bind) -> Diagnostic {
        use BindDiagnostic as D;
        let none = String::new;
        Diagnostic::Bind(match refusal {
            Refusal::Service => {
                D::ServiceTypeNotSupported(format!("{} is not provided", bind.service_type))
            }
            Refusal::Version => D::VersionNotSupported(format!("version {} is not", bind.version)),
            Refusal::Instance => D::NoSuchServiceInstance(none()),
            Refusal::Port => D::NoSuchServiceInstance("not at this port".to_owned()),
            Refusal::Initiator => D::SiNotAccessibleToThisInitiator(none()),
            Refusal::OtherService => D::InconsistentServiceType(none()),
            Refusal::OutOfService => D::OutOfService(none()),
            Refusal::Time => D::OutOfService("outside of the provision period".to_owned()),
            Refusal::Bound => D::AlreadyBound(none()),
        })
    }
}
