//! The service instances of a CSTS provider, in the directory that SLE has too
//! ([`crate::association::directory`]).

use crate::association::ProvisionPeriod;
use crate::association::directory::{self, BindRefusal, ProvidedInstance};
use crate::csts::pdu::{BindDiagnostic, BindPdu, Diagnostic, ServiceInstanceId};

/// A service instance that is provided.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ServiceInstance {
    /// Its identifier, with its service type.
    pub id: ServiceInstanceId,
    /// Provided versions, from 1.
    pub versions: Vec<u32>,
    /// Identifiers of the initiators that may bind to it.
    pub initiators: Vec<String>,
    /// Provision period; `None`: no limit.
    pub provision: Option<ProvisionPeriod>,
    /// The name of the port at which it is provided; `None`: whatever BIND says.
    pub responder_port: Option<String>,
}

/// The service instances of a provider, and the initiators that may bind to them.
pub type InstanceDirectory = directory::InstanceDirectory<ServiceInstance>;

/// A bound service instance. Dropped, the instance is free.
pub type InstanceBinding = directory::InstanceBinding<ServiceInstance>;

impl ProvidedInstance for ServiceInstance {
    type Id = ServiceInstanceId;
    type Bind = BindPdu;
    type Diagnostic = Diagnostic;

    fn id(&self) -> &ServiceInstanceId {
        &self.id
    }

    fn shown(id: &ServiceInstanceId) -> String {
        id.to_string()
    }

    fn asked(bind: &BindPdu) -> &ServiceInstanceId {
        &bind.instance
    }

    fn from_to(bind: &BindPdu) -> (&str, &str) {
        (&bind.initiator, &bind.responder_port)
    }

    fn has_service(&self, bind: &BindPdu) -> bool {
        self.id.service_type == bind.service_type
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

    /// UNBIND has no reason.
    fn end_is_final(&self) -> bool {
        false
    }

    /// The framework has no diagnostic for a port, nor for a provision period that has not begun, or
    /// is over: the former is `noSuchServiceInstance`, the latter `outOfService`.
    fn diagnostic(refusal: BindRefusal, bind: &BindPdu) -> Diagnostic {
        use BindDiagnostic as D;
        let none = String::new;
        Diagnostic::Bind(match refusal {
            BindRefusal::Service => D::ServiceTypeNotSupported(format!(
                "service type {} is not provided",
                bind.service_type
            )),
            BindRefusal::Version => {
                D::VersionNotSupported(format!("version {} is not provided", bind.version))
            }
            BindRefusal::Instance => D::NoSuchServiceInstance(none()),
            BindRefusal::Port => D::NoSuchServiceInstance("not at this port".to_owned()),
            BindRefusal::Initiator => D::SiNotAccessibleToThisInitiator(none()),
            BindRefusal::OtherService => D::InconsistentServiceType(none()),
            BindRefusal::OutOfService => D::OutOfService(none()),
            BindRefusal::Time => D::OutOfService("outside of the provision period".to_owned()),
            BindRefusal::Bound => D::AlreadyBound(none()),
        })
    }
}
