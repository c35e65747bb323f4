//! An association of the framework connected to another, or to a peer that can say anything; time
//! is what the test says it is.

use std::sync::Arc;

use bytes::Bytes;
use chronoscope_sle::association::{
    AuthenticationLevel, Identity, Initiator, ProvisionPeriod, SecuritySettings,
};
use chronoscope_sle::csts::association::{
    Association, AssociationEnd, AssociationEvent, InstanceDirectory, ServiceInstance, UserSettings,
};
use chronoscope_sle::csts::codec::{decode, encode};
use chronoscope_sle::csts::pdu::*;
use chronoscope_sle::time::Now;
use chronoscope_sle::tml::{Heartbeat, HeartbeatLimits, Tml, TransportOutput};

pub(crate) const SECOND_NS: u64 = 1_000_000_000;
pub(crate) const USER: &str = "CENTRE";
pub(crate) const PROVIDER: &str = "STATION";

pub(crate) fn at(seconds: u64) -> Now {
    Now {
        monotonic_ns: (1_000 + seconds) * SECOND_NS,
        utc_ns: (1_700_000_000 + seconds) * SECOND_NS,
    }
}

pub(crate) fn identity(id: &str) -> Identity {
    Identity { id: id.into(), password: format!("{id}-password").into_bytes() }
}

pub(crate) fn instance(number: u32) -> ServiceInstanceId {
    ServiceInstanceId {
        spacecraft: "1.3.112.4.7.1".parse().unwrap(),
        facility: "1.3.112.4.6.2".parse().unwrap(),
        service_type: names::SERVICES.child(&[4]),
        number,
    }
}

pub(crate) fn security(level: AuthenticationLevel) -> SecuritySettings {
    SecuritySettings { level, ..SecuritySettings::default() }
}

/// Instance 1 for the user, instance 2 for somebody else, each in versions 1 and 2; and one of another
/// service, for the user.
pub(crate) fn directory(
    level: AuthenticationLevel,
    provision: Option<ProvisionPeriod>,
) -> Arc<InstanceDirectory> {
    let mut directory = InstanceDirectory::new(identity(PROVIDER)).pdu_bytes_max(1 << 20);
    for id in [USER, "STRANGER"] {
        let initiator = Initiator { identity: identity(id), security: security(level) };
        directory.add_initiator(initiator).unwrap();
    }
    let of_other = ServiceInstanceId { service_type: names::SERVICES.child(&[5]), ..instance(1) };
    for (id, initiator) in [(instance(1), USER), (instance(2), "STRANGER"), (of_other, USER)] {
        let instance = ServiceInstance {
            id,
            versions: vec![1, 2],
            initiators: vec![initiator.into()],
            provision,
            responder_port: Some("PORT-1".into()),
        };
        directory.add_instance(instance).unwrap();
    }
    Arc::new(directory)
}

pub(crate) fn settings(level: AuthenticationLevel) -> UserSettings {
    UserSettings {
        initiator: identity(USER),
        responder: identity(PROVIDER),
        responder_port: "PORT-1".into(),
        security: security(level),
        ..UserSettings::new(instance(1))
    }
}

/// An association, the peer's end of its transport, and what came of it.
pub(crate) struct Alone {
    pub(crate) now: Now,
    pub(crate) association: Association,
    pub(crate) events: Vec<AssociationEvent>,
    pub(crate) output: TransportOutput,
    tml: Tml,
    peer: AssociationRole,
}

impl Alone {
    /// A provider; the peer has sent its context message.
    pub(crate) fn provider(directory: Arc<InstanceDirectory>) -> Self {
        let now = at(0);
        let tml = Tml::initiator(Heartbeat::NONE, 1 << 20, now);
        let mut alone =
            Self::new(Association::provider(directory, now), tml, AssociationRole::User);
        let mut context = Vec::new();
        alone.tml.tick(now, &mut context).unwrap();
        alone.octets(&context);
        alone
    }

    /// A provider with somebody bound, without credentials.
    pub(crate) fn bound_provider() -> Self {
        let mut alone = Self::provider(directory(AuthenticationLevel::None, None));
        alone.say(Pdu::Bind(bind()));
        assert!(matches!(alone.events.pop(), Some(AssociationEvent::Bound { .. })));
        assert!(matches!(alone.heard()[..], [Pdu::BindReturn(_)]));
        alone
    }

    /// A user that has invoked BIND; the peer heard it.
    pub(crate) fn binding() -> Self {
        let now = at(0);
        let tml = Tml::responder(HeartbeatLimits::default(), 1 << 20, now);
        let user = Association::user(settings(AuthenticationLevel::None), now);
        let mut alone = Self::new(user, tml, AssociationRole::Provider);
        alone.association.bind(now).unwrap();
        alone.collect();
        assert_eq!(alone.heard(), [Pdu::Bind(bind())]);
        alone
    }

    /// A user that is bound.
    pub(crate) fn bound_user() -> Self {
        let mut alone = Self::binding();
        alone.say(bind_return(0, PROVIDER, Ok(())));
        assert!(matches!(alone.events.pop(), Some(AssociationEvent::Bound { version: 1, .. })));
        alone
    }

    fn new(association: Association, tml: Tml, peer: AssociationRole) -> Self {
        let (events, output) = (Vec::new(), TransportOutput::default());
        Self { now: at(0), association, events, output, tml, peer }
    }

    pub(crate) fn say(&mut self, pdu: Pdu) {
        self.say_signed(None, pdu);
    }

    pub(crate) fn say_signed(&mut self, credentials: Option<Bytes>, pdu: Pdu) {
        let mut octets = Vec::new();
        encode(&Message { credentials, pdu }, &mut octets).unwrap();
        self.say_pdu(&octets);
    }

    /// One message of the transport with these octets in it.
    pub(crate) fn say_pdu(&mut self, pdu: &[u8]) {
        let mut octets = vec![1, 0, 0, 0];
        octets.extend_from_slice(&u32::try_from(pdu.len()).unwrap().to_be_bytes());
        octets.extend_from_slice(pdu);
        self.octets(&octets);
    }

    pub(crate) fn octets(&mut self, octets: &[u8]) {
        self.association.receive(octets, self.now);
        self.collect();
    }

    pub(crate) fn send(&mut self, pdu: Pdu) {
        self.association.send(pdu, self.now).unwrap();
        self.collect();
    }

    pub(crate) fn pass(&mut self, seconds: u64) {
        self.now.monotonic_ns += seconds * SECOND_NS;
        self.now.utc_ns += seconds * SECOND_NS;
        self.association.tick(self.now);
        self.collect();
    }

    pub(crate) fn collect(&mut self) {
        self.events.extend(std::iter::from_fn(|| self.association.next_event()));
        let output = std::mem::take(self.association.output());
        self.output.octets.extend(output.octets);
        self.output.urgent = output.urgent.or(self.output.urgent);
        self.output.close |= output.close;
        self.output.reset |= output.reset;
    }

    /// What the peer was sent since it last listened, credentials left out.
    pub(crate) fn heard(&mut self) -> Vec<Pdu> {
        self.heard_signed().into_iter().map(|message| message.pdu).collect()
    }

    pub(crate) fn heard_signed(&mut self) -> Vec<Message> {
        let octets = std::mem::take(&mut self.output.octets);
        self.tml.receive(&octets, self.now);
        let sender = match self.peer {
            AssociationRole::User => AssociationRole::Provider,
            AssociationRole::Provider => AssociationRole::User,
        };
        std::iter::from_fn(|| self.tml.next())
            .map(|pdu| decode(sender, &pdu.unwrap()).unwrap())
            .collect()
    }

    /// With what this side has aborted: as its last event, and as urgent data.
    pub(crate) fn aborted(&self) -> PeerAbortDiagnostic {
        let Some(AssociationEvent::Ended(AssociationEnd::Aborted { diagnostic, .. })) =
            self.events.last()
        else {
            panic!("not aborted: {:?}", self.events);
        };
        assert_eq!(self.output.urgent, Some(diagnostic.octet()));
        assert!(self.output.close);
        assert_eq!(self.association.due(), None);
        *diagnostic
    }
}

pub(crate) fn bind() -> BindPdu {
    BindPdu {
        invoke_id: 0,
        procedure: ProcedureName::association_control(),
        initiator: USER.into(),
        responder_port: "PORT-1".into(),
        service_type: names::SERVICES.child(&[4]),
        version: 1,
        instance: instance(1),
        extension: None,
    }
}

pub(crate) fn answer(invoke_id: InvokeId) -> PlainReturn {
    PlainReturn { invoke_id, result: Ok(()), extension: None }
}

pub(crate) fn bind_return(
    invoke_id: InvokeId,
    responder: &str,
    result: Result<(), Diagnostic>,
) -> Pdu {
    let answer = PlainReturn { invoke_id, result, extension: None };
    Pdu::BindReturn(BindReturn { answer, responder: responder.into() })
}

pub(crate) fn unbind(invoke_id: InvokeId, procedure: ProcedureName) -> Pdu {
    Pdu::Unbind(PlainInvocation { invoke_id, procedure, extension: None })
}

pub(crate) fn start(invoke_id: InvokeId) -> Pdu {
    let procedure = ProcedureName::prime(names::BUFFERED_DATA_PROCESSING);
    Pdu::Start(StartPdu { invoke_id, procedure, extension: StartExtension::NotUsed })
}

pub(crate) fn stop(invoke_id: InvokeId) -> Pdu {
    let procedure = ProcedureName::prime(names::BUFFERED_DATA_PROCESSING);
    Pdu::Stop(PlainInvocation { invoke_id, procedure, extension: None })
}

pub(crate) fn data(invoke_id: InvokeId, procedure: Oid) -> ProcessData {
    ProcessData {
        invoke_id,
        procedure: ProcedureName::prime(procedure),
        data_unit: invoke_id,
        data: AbstractChoice::Opaque(Bytes::from_static(b"frame")),
        extension: ProcessDataExtension::DataProcessing { report: false, extension: None },
    }
}

/// PROCESS-DATA that is returned.
pub(crate) fn sequenced(invoke_id: InvokeId) -> Pdu {
    Pdu::ProcessData(data(invoke_id, names::SEQUENCE_CONTROLLED_DATA_PROCESSING))
}

pub(crate) fn taken(invoke_id: InvokeId) -> Pdu {
    let extension =
        ProcessDataReturnExtension::SequenceControlled { data_unit: invoke_id, extension: None };
    Pdu::ProcessDataReturn(ProcessDataReturn { invoke_id, result: Ok(()), extension })
}

pub(crate) fn buffer(ids: &[InvokeId]) -> Pdu {
    let part = |id: &InvokeId| data(*id, names::BUFFERED_DATA_PROCESSING).into();
    Pdu::ForwardBuffer(ids.iter().map(part).collect())
}

pub(crate) fn directive(invoke_id: InvokeId) -> Pdu {
    Pdu::ExecuteDirective(ExecuteDirective {
        invoke_id,
        procedure: ProcedureName::prime(names::SEQUENCE_CONTROLLED_DATA_PROCESSING),
        directive: names::P_SCDP_RESET,
        qualifier: DirectiveQualifier::Local(QualifierValues::None),
        extension: None,
    })
}
