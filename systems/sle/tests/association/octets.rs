//! What holds whatever a peer and time do to an association; the fuzz target and the replay of its
//! corpus share it.
//!
//! An input is a first octet (bit 0: the side that is tried, 0 provider; bits 1 and 2: the level),
//! then steps: what, how much, and for octets of the stream so many of them.

use std::sync::Arc;

use chronoscope_sle::association::{
    Association, AssociationEvent, AssociationState, AuthenticationLevel, Identity, Initiator,
    InstanceDirectory, ProvisionPeriod, SecuritySettings, SendError, ServiceInstance, UserSettings,
};
use chronoscope_sle::codec::{Codec, decode_bind};
use chronoscope_sle::pdu::{
    AssociationRole, Diagnostic, Pdu, PeerAbortDiagnostic, ServiceInstanceId, ServiceType,
    SiAttribute, UnbindReason,
};
use chronoscope_sle::time::Now;
use chronoscope_sle::tml::{Heartbeat, HeartbeatLimits, Tml, TmlFault};

const SECOND_NS: u64 = 1_000_000_000;

/// Panics where a promise is broken. Says whether the two were bound meanwhile.
pub(crate) fn check(input: &[u8]) -> bool {
    let Some((first, mut steps)) = input.split_first() else { return false };
    let level = [
        AuthenticationLevel::None,
        AuthenticationLevel::Bind,
        AuthenticationLevel::All,
        AuthenticationLevel::None,
    ][usize::from(first >> 1 & 3)];
    let mut tried = Tried::new(first & 1 == 1, level);
    while let [what, amount, rest @ ..] = steps {
        let octets =
            if *what % 8 < 3 { &rest[..rest.len().min(usize::from(*amount))] } else { &[] };
        tried.step(*what % 8, *amount, octets);
        steps = &rest[octets.len()..];
    }
    tried.step(4, 0, &[]);
    assert_eq!(tried.ends, 1, "the connection is closed: it has ended, once");
    tried.bound
}

struct Tried {
    association: Association,
    is_user: bool,
    now: Now,
    /// Reads what the association sends, as its peer would.
    reader: Tml,
    bound: bool,
    ends: u32,
    /// Invocations that a provider is to return.
    open: Vec<u16>,
}

impl Tried {
    fn new(is_user: bool, level: AuthenticationLevel) -> Self {
        let now = Now { monotonic_ns: SECOND_NS, utc_ns: 1_700_000_000 * SECOND_NS };
        let security = SecuritySettings { level, ..SecuritySettings::default() };
        let limits = HeartbeatLimits::default();
        let (association, reader) = if is_user {
            let heartbeat = Heartbeat { interval_s: 30, dead_factor: 3 };
            let settings = UserSettings { heartbeat, ..settings(security) };
            (Association::user(settings, now), Tml::responder(limits, 1 << 20, now))
        } else {
            let reader = Tml::initiator(Heartbeat::NONE, 1 << 20, now);
            (Association::provider(directory(security), now), reader)
        };
        Self { association, is_user, now, reader, bound: false, ends: 0, open: Vec::new() }
    }

    fn step(&mut self, what: u8, amount: u8, octets: &[u8]) {
        if what == 2 {
            // The same octets one by one are the same.
            for octet in octets {
                self.association.receive(std::slice::from_ref(octet), self.now);
                self.look();
            }
            return;
        }
        let (association, now) = (&mut self.association, self.now);
        match what {
            0 | 1 => association.receive(octets, now),
            3 => association.urgent(amount, now),
            4 => {
                let reason = "reset".to_owned();
                let fault = (amount & 1 == 1).then_some(TmlFault::Connection { reason });
                association.closed(fault, now);
            }
            5 => {
                self.now.monotonic_ns += u64::from(amount) * SECOND_NS;
                self.now.utc_ns += u64::from(amount) * SECOND_NS;
                association.tick(self.now);
            }
            6 => self.act(amount),
            _ => association.abort(PeerAbortDiagnostic::from_octet(amount)),
        }
        self.look();
    }

    /// Whoever runs the association does something, allowed or not.
    fn act(&mut self, amount: u8) {
        let (state, now) = (self.association.state(), self.now);
        let id = u16::from(amount >> 2);
        let done = match amount & 3 {
            0 if self.is_user => self.association.bind(now),
            1 if self.is_user => self.association.unbind(UnbindReason::Suspend, now),
            2 if self.is_user => self.association.send(Pdu::Stop { invoke_id: id }, now),
            _ => {
                let invoke_id = self.open.pop().unwrap_or(id);
                let result = Err(Diagnostic::OtherReason);
                self.association.send(Pdu::StopReturn { invoke_id, result }, now)
            }
        };
        if let Err(SendError::State { state: told, .. }) = done {
            assert_eq!(told, state);
        }
    }

    fn look(&mut self) {
        while let Some(event) = self.association.next_event() {
            assert_eq!(self.ends, 0, "{event:?} after the end");
            match event {
                AssociationEvent::Bound { version, .. } => {
                    assert!(!self.bound && (1..=5).contains(&version));
                    self.bound = true;
                }
                AssociationEvent::Pdu(Pdu::Stop { invoke_id }) => {
                    assert!(self.bound && !self.is_user);
                    self.open.push(invoke_id);
                }
                AssociationEvent::Pdu(_) => assert!(self.bound),
                AssociationEvent::Ended(_) => self.ends += 1,
                AssociationEvent::BindRefused(_)
                | AssociationEvent::Ignored { .. }
                | AssociationEvent::Unbound(_) => {}
            }
        }
        let state = self.association.state();
        assert_eq!(self.ends == 1, state == AssociationState::Ended);
        if state == AssociationState::Ended {
            assert_eq!((self.association.due(), self.association.waiting()), (None, 0));
        }
        self.read();
    }

    /// What is sent is whole messages with whole operations, until the end.
    fn read(&mut self) {
        let output = std::mem::take(self.association.output());
        assert!(output.urgent.is_none() || output.close, "PEER-ABORT closes");
        self.reader.receive(&output.octets, self.now);
        let sender = if self.is_user { AssociationRole::User } else { AssociationRole::Provider };
        while let Some(pdu) = self.reader.next() {
            let pdu = pdu.expect("a message");
            let Codec { service, version } = self.association.codec();
            let codec = Codec { service, version: version.clamp(1, 5) };
            let is_operation = codec.decode(sender, &pdu).is_ok() || decode_bind(&pdu).is_ok();
            assert!(is_operation, "{pdu:02x?}");
        }
    }
}

fn identity(id: &str) -> Identity {
    Identity { id: id.into(), password: b"password1".to_vec() }
}

fn instance() -> ServiceInstanceId {
    ServiceInstanceId(vec![(SiAttribute(52), "1".into()), (SiAttribute(7), "cltu1".into())])
}

fn settings(security: SecuritySettings) -> UserSettings {
    UserSettings {
        initiator: identity("CENTRE"),
        responder: identity("STATION"),
        responder_port: "PORT1".into(),
        security,
        other_versions: vec![4],
        ..UserSettings::new(ServiceType::Fcltu, instance())
    }
}

fn directory(security: SecuritySettings) -> Arc<InstanceDirectory> {
    let mut directory = InstanceDirectory::new(identity("STATION")).pdu_bytes_max(1 << 16);
    let initiator = Initiator { identity: identity("CENTRE"), security };
    directory.add_initiator(initiator).expect("the first");
    let provision =
        Some(ProvisionPeriod { start_utc_ns: 0, end_utc_ns: 1_700_000_600 * SECOND_NS });
    let instance = ServiceInstance {
        id: instance(),
        service: ServiceType::Fcltu,
        versions: vec![1, 2, 3, 4, 5],
        initiators: vec!["CENTRE".into()],
        provision,
        responder_port: None,
        end_is_final: true,
    };
    directory.add_instance(instance).expect("the first");
    Arc::new(directory)
}
