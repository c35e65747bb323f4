//! Two associations connected to each other, and one connected to a peer that can say anything;
//! time is what the test says it is.

use std::sync::Arc;

use bytes::Bytes;
use chronoscope_sle::association::{
    Association, AssociationEvent, AuthenticationLevel, Identity, Initiator, InstanceDirectory,
    ProvisionPeriod, SecuritySettings, ServiceInstance, UserSettings,
};
use chronoscope_sle::codec::Codec;
use chronoscope_sle::pdu::{
    AssociationRole, BindPdu, CltuTransferData, CltuTransferDataReturn, Message, ParameterName,
    Pdu, PositiveStartReturn, ServiceInstanceId, ServiceType, SiAttribute, StartRequest,
};
use chronoscope_sle::time::{Now, Time};
use chronoscope_sle::tml::{Heartbeat, HeartbeatLimits, Tml, TransportOutput};

pub(crate) const SECOND_NS: u64 = 1_000_000_000;
pub(crate) const USER: &str = "CENTRE";
pub(crate) const PROVIDER: &str = "STATION";
pub(crate) const PORT: &str = "PORT1";

pub(crate) fn at(seconds: u64) -> Now {
    Now {
        monotonic_ns: (1_000 + seconds) * SECOND_NS,
        utc_ns: (1_700_000_000 + seconds) * SECOND_NS,
    }
}

pub(crate) fn identity(id: &str) -> Identity {
    Identity { id: id.into(), password: format!("{id}-password").into_bytes() }
}

pub(crate) fn cltu_instance() -> ServiceInstanceId {
    let attribute = |arc, value: &str| (SiAttribute(arc), value.to_owned());
    ServiceInstanceId(vec![
        attribute(52, "1"),
        attribute(53, "VST-PASS0001"),
        attribute(10, "1"),
        attribute(7, "cltu1"),
    ])
}

pub(crate) fn other_instance() -> ServiceInstanceId {
    let mut id = cltu_instance();
    id.0[3].1 = "cltu2".into();
    id
}

/// A provider of one CLTU service instance; tests change what they are about.
pub(crate) struct Provided {
    pub(crate) instance: ServiceInstance,
    pub(crate) security: SecuritySettings,
    pub(crate) limits: HeartbeatLimits,
    pub(crate) initiators: Vec<Identity>,
    pub(crate) pdu_bytes_max: u32,
}

impl Default for Provided {
    fn default() -> Self {
        Self {
            instance: ServiceInstance {
                id: cltu_instance(),
                service: ServiceType::Fcltu,
                versions: vec![2, 3, 4, 5],
                initiators: vec![USER.into()],
                provision: None,
                responder_port: None,
                end_is_final: false,
            },
            security: SecuritySettings::default(),
            limits: HeartbeatLimits {
                establishment_ns: 30 * SECOND_NS,
                ..HeartbeatLimits::default()
            },
            initiators: vec![identity(USER), identity("STRANGER")],
            pdu_bytes_max: 1 << 20,
        }
    }
}

impl Provided {
    pub(crate) fn provision(mut self, start: u64, end: u64) -> Self {
        let utc_ns = |seconds| at(seconds).utc_ns;
        self.instance.provision =
            Some(ProvisionPeriod { start_utc_ns: utc_ns(start), end_utc_ns: utc_ns(end) });
        self
    }

    pub(crate) fn level(mut self, level: AuthenticationLevel) -> Self {
        self.security.level = level;
        self
    }

    pub(crate) fn directory(self) -> Arc<InstanceDirectory> {
        let mut directory = InstanceDirectory::new(identity(PROVIDER))
            .heartbeat(self.limits)
            .pdu_bytes_max(self.pdu_bytes_max);
        for identity in self.initiators {
            let initiator = Initiator { identity, security: self.security };
            directory.add_initiator(initiator).unwrap();
        }
        directory.add_instance(self.instance).unwrap();
        Arc::new(directory)
    }
}

pub(crate) fn settings() -> UserSettings {
    UserSettings {
        initiator: identity(USER),
        responder: identity(PROVIDER),
        responder_port: PORT.into(),
        return_timeout_ns: 60 * SECOND_NS,
        ..UserSettings::new(ServiceType::Fcltu, cltu_instance())
    }
}

/// A user and a provider, and what they told.
pub(crate) struct Link {
    pub(crate) now: Now,
    pub(crate) user: Association,
    pub(crate) provider: Association,
    pub(crate) user_events: Vec<AssociationEvent>,
    pub(crate) provider_events: Vec<AssociationEvent>,
    closed: bool,
}

impl Link {
    pub(crate) fn new() -> Self {
        Self::with(settings(), Provided::default().directory())
    }

    pub(crate) fn with(settings: UserSettings, directory: Arc<InstanceDirectory>) -> Self {
        let now = at(0);
        Self {
            now,
            user: Association::user(settings, now),
            provider: Association::provider(directory, now),
            user_events: Vec::new(),
            provider_events: Vec::new(),
            closed: false,
        }
    }

    /// With the default settings, bound.
    pub(crate) fn bound() -> Self {
        let mut link = Self::new();
        link.bind();
        link.forget();
        link
    }

    /// Bound, with START returned.
    pub(crate) fn started() -> Self {
        let mut link = Self::bound();
        link.user.send(start(1), link.now).unwrap();
        link.settle();
        link.provider.send(started(1), link.now).unwrap();
        link.settle();
        link.forget();
        link
    }

    pub(crate) fn bind(&mut self) {
        self.user.bind(self.now).unwrap();
        self.settle();
    }

    pub(crate) fn send(&mut self, pdu: Pdu) {
        self.user.send(pdu, self.now).unwrap();
        self.settle();
    }

    pub(crate) fn answer(&mut self, pdu: Pdu) {
        self.provider.send(pdu, self.now).unwrap();
        self.settle();
    }

    pub(crate) fn forget(&mut self) {
        self.user_events.clear();
        self.provider_events.clear();
    }

    /// Lets time pass, with whatever is due done in its time.
    pub(crate) fn pass(&mut self, seconds: u64) {
        let end_ns = self.now.monotonic_ns + seconds * SECOND_NS;
        loop {
            let due = [self.user.due(), self.provider.due()].into_iter().flatten().min();
            let next_ns = due.unwrap_or(u64::MAX).clamp(self.now.monotonic_ns, end_ns);
            self.now.utc_ns += next_ns - self.now.monotonic_ns;
            self.now.monotonic_ns = next_ns;
            self.user.tick(self.now);
            self.provider.tick(self.now);
            self.settle();
            if next_ns == end_ns {
                return;
            }
        }
    }

    /// Carries octets until there are none.
    pub(crate) fn settle(&mut self) {
        loop {
            drain(&mut self.user, &mut self.user_events);
            drain(&mut self.provider, &mut self.provider_events);
            let up = std::mem::take(self.user.output());
            let down = std::mem::take(self.provider.output());
            if up.is_empty() && down.is_empty() {
                return;
            }
            if self.closed {
                continue;
            }
            carry(&up, &mut self.provider, &mut self.provider_events, self.now);
            carry(&down, &mut self.user, &mut self.user_events, self.now);
            self.closed = [up, down].iter().any(|output| output.close || output.reset);
        }
    }
}

fn drain(association: &mut Association, events: &mut Vec<AssociationEvent>) {
    events.extend(std::iter::from_fn(|| association.next_event()));
}

fn carry(
    output: &TransportOutput,
    to: &mut Association,
    events: &mut Vec<AssociationEvent>,
    now: Now,
) {
    if !output.octets.is_empty() && !output.reset {
        to.receive(&output.octets, now);
        drain(to, events);
    }
    if let Some(octet) = output.urgent {
        to.urgent(octet, now);
    }
    if output.close || output.reset {
        to.closed(None, now);
    }
    drain(to, events);
}

/// A provider, or a user, and a peer that says what the test wants.
pub(crate) struct Alone {
    pub(crate) now: Now,
    pub(crate) association: Association,
    pub(crate) tml: Tml,
    pub(crate) codec: Codec,
    pub(crate) events: Vec<AssociationEvent>,
    /// Everything that the association wanted done.
    pub(crate) output: TransportOutput,
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

    /// A user that has invoked BIND; the peer heard it.
    pub(crate) fn binding(settings: UserSettings) -> Self {
        let now = at(0);
        let tml = Tml::responder(HeartbeatLimits::default(), 1 << 20, now);
        let mut alone = Self::new(Association::user(settings, now), tml, AssociationRole::Provider);
        alone.association.bind(now).unwrap();
        alone.collect();
        alone
    }

    fn new(association: Association, tml: Tml, peer: AssociationRole) -> Self {
        let codec = Codec { service: ServiceType::Fcltu, version: 5 };
        let (events, output) = (Vec::new(), TransportOutput::default());
        Self { now: at(0), association, tml, codec, events, output, peer }
    }

    /// A provider with somebody bound, without credentials.
    pub(crate) fn bound() -> Self {
        let mut alone = Self::provider(Provided::default().directory());
        alone.say(Pdu::Bind(bind()));
        assert!(matches!(alone.events.pop(), Some(AssociationEvent::Bound { .. })));
        assert!(matches!(alone.heard()[..], [Message { pdu: Pdu::BindReturn(_), .. }]));
        alone
    }

    pub(crate) fn say(&mut self, pdu: Pdu) {
        self.say_signed(None, pdu);
    }

    pub(crate) fn say_signed(&mut self, credentials: Option<Bytes>, pdu: Pdu) {
        let mut octets = Vec::new();
        self.codec.encode(&Message { credentials, pdu }, &mut octets).unwrap();
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

    pub(crate) fn urgent(&mut self, octet: u8) {
        self.association.urgent(octet, self.now);
        self.collect();
    }

    pub(crate) fn close(&mut self) {
        self.association.closed(None, self.now);
        self.collect();
    }

    pub(crate) fn pass(&mut self, seconds: u64) {
        self.now.monotonic_ns += seconds * SECOND_NS;
        self.now.utc_ns += seconds * SECOND_NS;
        self.association.tick(self.now);
        self.collect();
    }

    pub(crate) fn collect(&mut self) {
        drain(&mut self.association, &mut self.events);
        let output = std::mem::take(self.association.output());
        self.output.octets.extend(output.octets);
        self.output.urgent = output.urgent.or(self.output.urgent);
        self.output.close |= output.close;
        self.output.reset |= output.reset;
    }

    /// What the peer was sent since it last listened.
    pub(crate) fn heard(&mut self) -> Vec<Message> {
        let octets = std::mem::take(&mut self.output.octets);
        self.tml.receive(&octets, self.now);
        let sender = match self.peer {
            AssociationRole::User => AssociationRole::Provider,
            AssociationRole::Provider => AssociationRole::User,
        };
        let codec = self.codec;
        std::iter::from_fn(|| self.tml.next())
            .map(|pdu| codec.decode(sender, &pdu.unwrap()).unwrap())
            .collect()
    }
}

pub(crate) fn bind() -> BindPdu {
    BindPdu {
        initiator: USER.into(),
        responder_port: PORT.into(),
        service: Ok(ServiceType::Fcltu),
        version: 5,
        instance: cltu_instance(),
    }
}

pub(crate) fn start(invoke_id: u16) -> Pdu {
    Pdu::Start { invoke_id, start: StartRequest::Cltu { first_cltu: 1 } }
}

pub(crate) fn started(invoke_id: u16) -> Pdu {
    let start_radiation = Time::from_utc_ns(at(0).utc_ns);
    let started = PositiveStartReturn::Cltu { start_radiation, stop_radiation: None };
    Pdu::StartReturn { invoke_id, result: Ok(started) }
}

pub(crate) fn get(invoke_id: u16) -> Pdu {
    Pdu::GetParameter { invoke_id, name: ParameterName::RETURN_TIMEOUT_PERIOD }
}

pub(crate) fn cltu(invoke_id: u16) -> Pdu {
    Pdu::CltuTransferData(CltuTransferData {
        invoke_id,
        cltu: u32::from(invoke_id),
        earliest: None,
        latest: None,
        delay_us: 0,
        notify_radiated: false,
        data: Bytes::from_static(&[0xeb, 0x90, 0, 1, 2, 3]),
    })
}

pub(crate) fn taken(invoke_id: u16) -> Pdu {
    Pdu::CltuTransferDataReturn(CltuTransferDataReturn {
        invoke_id,
        next_cltu: u32::from(invoke_id) + 1,
        buffer_available: 4096,
        result: Ok(()),
    })
}
