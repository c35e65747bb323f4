//! User and provider together: what the user is told about its CLTUs is what became of them.

use crate::station::{MS, Station};
use bytes::Bytes;
use chronoscope_sle::codec::Codec;
use chronoscope_sle::pdu::{
    AssociationRole, BufferNotification, CltuProductionStatus, Message, Pdu, ReportRequest,
    ServiceType,
};
use chronoscope_sle::service::ServiceAction;
use chronoscope_sle::service::fcltu::{
    BufferLimits, CltuFate, CltuRange, CltuTransfer, FcltuConfig, FcltuUser, NotificationMode,
    ProductionEvent, ProtocolAbortMode, RadiationQueue, RadiationStep, SettledCltus, UserEvent,
    UserState,
};
use chronoscope_sle::time::{Now, Time};
use proptest::prelude::*;
use std::collections::{HashMap, HashSet, VecDeque};
use std::sync::Arc;

/// Something that happens.
#[derive(Clone, Debug)]
enum Event {
    Send {
        octets: usize,
        notify: bool,
        latest_ms: Option<u64>,
    },
    SendBuffer {
        count: usize,
    },
    /// So many operations of the user reach the provider.
    Forward(usize),
    /// So many operations of the provider reach the user.
    Back(usize),
    Radiate,
    Pass(u64),
    Production(CltuProductionStatus),
    Stop,
    Start {
        again_from_1: bool,
    },
    Report,
}

fn event() -> impl Strategy<Value = Event> {
    let status = prop_oneof![
        4 => Just(CltuProductionStatus::Operational),
        1 => Just(CltuProductionStatus::Configured),
        1 => Just(CltuProductionStatus::Interrupted),
        1 => Just(CltuProductionStatus::Halted),
    ];
    prop_oneof![
        8 => (1usize..40, any::<bool>(), prop::option::weighted(0.2, 0u64..100))
            .prop_map(|(octets, notify, latest_ms)| Event::Send { octets, notify, latest_ms }),
        2 => (1usize..5).prop_map(|count| Event::SendBuffer { count }),
        6 => (1usize..6).prop_map(Event::Forward),
        6 => (1usize..6).prop_map(Event::Back),
        6 => Just(Event::Radiate),
        4 => (1u64..50).prop_map(Event::Pass),
        2 => status.prop_map(Event::Production),
        1 => Just(Event::Stop),
        3 => any::<bool>().prop_map(|again_from_1| Event::Start { again_from_1 }),
        1 => Just(Event::Report),
    ]
}

/// What an operation is after it went over a connection.
fn over(pdu: Pdu, sender: AssociationRole) -> Pdu {
    let codec = Codec { service: ServiceType::Fcltu, version: 5 };
    let mut octets = Vec::new();
    codec.encode(&Message { credentials: None, pdu }, &mut octets).unwrap();
    codec.decode(sender, &Bytes::from(octets)).unwrap().pdu
}

/// Both sides, with what is on its way between them, and what became of each CLTU in truth.
struct Link {
    station: Station,
    user: FcltuUser,
    forward: VecDeque<Pdu>,
    back: VecDeque<Pdu>,
    /// Which sending a number stands for now.
    sendings: HashMap<u32, usize>,
    /// What the user was told of each sending.
    fates: Vec<Vec<CltuFate>>,
    /// Sendings by what the modem got; a CLTU's octets are its sending's number.
    radiated: HashSet<usize>,
    on_air: Option<(usize, u32)>,
}

impl Link {
    fn new(config: FcltuConfig) -> Self {
        let mut user = FcltuUser::new(8);
        user.bound();
        Self {
            station: Station::ready(config),
            user,
            forward: VecDeque::new(),
            back: VecDeque::new(),
            sendings: HashMap::new(),
            fates: Vec::new(),
            radiated: HashSet::new(),
            on_air: None,
        }
    }

    /// Octets by which a sending is known again.
    fn octets(&mut self, length: usize) -> Bytes {
        let sending = u32::try_from(self.fates.len()).unwrap();
        self.fates.push(Vec::new());
        let mut data = sending.to_be_bytes().to_vec();
        data.resize(length.max(4), 0);
        Bytes::from(data)
    }

    fn send(&mut self, octets: usize, notify: bool, latest_ms: Option<u64>) {
        let (number, sending) = (self.user.next_cltu(), self.fates.len());
        let data = self.octets(octets);
        let latest = latest_ms.map(|ms| self.station.at(ms * MS));
        let cltu =
            CltuTransfer { data, latest, notify_radiated: notify, ..CltuTransfer::default() };
        match self.user.transfer(cltu) {
            Ok(pdu) => {
                self.sendings.insert(number, sending);
                self.forward.push_back(pdu);
            }
            Err(_) => drop(self.fates.pop()),
        }
    }

    fn send_buffer(&mut self, count: usize) {
        let (number, sending) = (self.user.next_cltu(), self.fates.len());
        let data: Vec<Bytes> = (0..count).map(|_| self.octets(10)).collect();
        match self.user.transfer_buffer(data, BufferNotification::Last) {
            Ok(pdu) => {
                for index in 0..count {
                    let offset = u32::try_from(index).unwrap();
                    self.sendings.insert(number.wrapping_add(offset), sending + index);
                }
                self.forward.push_back(pdu);
            }
            Err(_) => self.fates.truncate(sending),
        }
    }

    fn settle(&mut self, cltus: CltuRange, fate: CltuFate) {
        for offset in 0..cltus.count {
            let sending = self.sendings[&cltus.first.wrapping_add(offset)];
            self.fates[sending].push(fate);
        }
    }

    fn settle_all(&mut self, all: Vec<SettledCltus>) {
        for SettledCltus { cltus, fate } in all {
            self.settle(cltus, fate);
        }
    }

    fn collect(&mut self, actions: Vec<ServiceAction>) {
        for action in actions {
            match action {
                ServiceAction::Send(pdu) => self.back.push_back(pdu),
                ServiceAction::Abort(why) => panic!("aborted: {why:?}"),
            }
        }
        self.see_radiation();
    }

    /// Learns from the provider itself which radiation has ended well.
    fn see_radiation(&mut self) {
        let report = self.station.report_now();
        if let Some((sending, before)) = self.on_air
            && report.radiated != before
        {
            self.radiated.insert(sending);
            self.on_air = None;
        }
    }

    fn answer_user(&mut self) {
        let Some(pdu) = self.back.pop_front() else { return };
        match self.user.pdu(over(pdu, AssociationRole::Provider), self.station.now).unwrap() {
            UserEvent::Refused { cltus, diagnostic, .. } => {
                self.settle(cltus, CltuFate::Refused(diagnostic));
            }
            UserEvent::Started { settled, .. }
            | UserEvent::Notified { settled, .. }
            | UserEvent::Report { settled, .. } => self.settle_all(settled),
            _ => {}
        }
    }

    fn step(&mut self, event: &Event) {
        match *event {
            Event::Send { octets, notify, latest_ms } => self.send(octets, notify, latest_ms),
            Event::SendBuffer { count } => self.send_buffer(count),
            Event::Forward(count) => {
                for _ in 0..count {
                    let Some(pdu) = self.forward.pop_front() else { break };
                    let actions = self.station.pdu(over(pdu, AssociationRole::User));
                    self.collect(actions);
                }
            }
            Event::Back(count) => (0..count).for_each(|_| self.answer_user()),
            Event::Radiate => {
                let step = self.station.next();
                self.see_radiation();
                if let RadiationStep::Radiate(cltu) = step {
                    let sending = u32::from_be_bytes(cltu.data[..4].try_into().unwrap());
                    let radiated = self.station.report_now().radiated;
                    self.on_air = Some((sending as usize, radiated));
                }
                let mut out = Vec::new();
                self.station.provider.production(
                    ProductionEvent::Progress,
                    self.station.now,
                    &mut out,
                );
                self.collect(out);
            }
            Event::Pass(ms) => self.station.pass(ms * MS),
            Event::Production(status) => {
                let mut out = Vec::new();
                let event = ProductionEvent::Status(status);
                self.station.provider.production(event, self.station.now, &mut out);
                if status != CltuProductionStatus::Operational {
                    self.see_radiation();
                    if self.station.next() == RadiationStep::Idle {
                        self.on_air = None;
                    }
                }
                self.collect(out);
            }
            // Numbers are only used again where nothing with them is on its way.
            Event::Stop => {
                if self.user.unacknowledged() == 0
                    && let Ok(pdu) = self.user.stop()
                {
                    self.forward.push_back(pdu);
                }
            }
            Event::Start { again_from_1 } => {
                let first = if again_from_1 { 1 } else { self.user.next_cltu() };
                if self.forward.is_empty()
                    && self.back.is_empty()
                    && let Ok(pdu) = self.user.start(first)
                {
                    self.forward.push_back(pdu);
                }
            }
            Event::Report => {
                if let Ok(pdu) = self.user.schedule(ReportRequest::Immediately) {
                    self.forward.push_back(pdu);
                }
            }
        }
    }
}

fn configs() -> impl Strategy<Value = FcltuConfig> {
    (any::<bool>(), prop::option::of(1_000u64..20_000), 40u32..400).prop_map(
        |(deferred, bit_rate, octets)| FcltuConfig {
            limits: BufferLimits { octets, cltus: 20 },
            bit_rate,
            transfer_buffers: true,
            notification_mode: if deferred {
                NotificationMode::Deferred
            } else {
                NotificationMode::Immediate
            },
            ..FcltuConfig::default()
        },
    )
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, ..ProptestConfig::default() })]

    /// Whatever happens, and whenever the association ends: each CLTU that was sent has one fate,
    /// and where the fate says radiated or not radiated, that is so.
    #[test]
    fn every_cltu_has_one_fate_and_it_is_true(
        config in configs(),
        events in prop::collection::vec(event(), 1..150),
    ) {
        let mut link = Link::new(config);
        link.step(&Event::Start { again_from_1: true });
        link.step(&Event::Forward(1));
        link.step(&Event::Back(1));
        prop_assert_eq!(link.user.state(), UserState::Active);
        for event in &events {
            link.step(event);
        }
        let last = link.user.ended();
        link.settle_all(last);
        for (sending, fates) in link.fates.iter().enumerate() {
            prop_assert_eq!(fates.len(), 1, "sending {} has {:?}", sending, fates);
            let is_radiated = link.radiated.contains(&sending);
            match fates[0] {
                CltuFate::Radiated => prop_assert!(is_radiated, "sending {sending} was not radiated"),
                CltuFate::Acknowledged | CltuFate::Unknown => {}
                fate => prop_assert!(!is_radiated, "sending {sending} was radiated: {fate:?}"),
            }
        }
    }
}

/// The two threads as they run: what the receiving one takes, the radiating one gets, in order.
#[test]
fn all_that_is_taken_is_radiated_in_order_by_another_thread() {
    const CLTUS: u32 = 20_000;
    let config = FcltuConfig {
        limits: BufferLimits { octets: 4096, cltus: 100 },
        protocol_abort_mode: ProtocolAbortMode::Continue,
        ..FcltuConfig::default()
    };
    let mut station = Station::active(config);
    let queue: Arc<RadiationQueue> = Arc::clone(&station.queue);
    let (woken, wakes) = std::sync::mpsc::channel();
    queue.set_waker(move || {
        // The test may have ended.
        let _ = woken.send(());
    });
    let radiating = std::thread::spawn({
        let queue = Arc::clone(&queue);
        move || {
            let mut radiated = Vec::new();
            loop {
                match queue.next(Now::read()) {
                    RadiationStep::Radiate(cltu) => radiated.push(cltu.cltu),
                    RadiationStep::Wait(_) | RadiationStep::Idle => queue.wait(None),
                    RadiationStep::Closed => return radiated,
                }
            }
        }
    });
    let mut number = 1;
    let mut told = 0;
    let mut refused = 0;
    while number <= CLTUS {
        // As a driver does after what it has read, or when the buffer is full.
        if number % 10 == 0 || number == refused {
            assert_eq!(station.provider.due(), Some(0));
            station.provider.tick(station.now, &mut Vec::new());
            assert_eq!(station.provider.due(), None);
        }
        let cltu = crate::station::told_cltu(number, 60);
        let Pdu::CltuTransferDataReturn(returned) = station.answer(Pdu::CltuTransferData(cltu))
        else {
            panic!()
        };
        if returned.result.is_err() {
            refused = number;
        }
        number = returned.next_cltu;
        told += is_radiated(&station.told_of());
    }
    station.provider.tick(station.now, &mut Vec::new());
    // The waker is called for whatever is left to be told: nothing is waited for in vain.
    while told < CLTUS as usize {
        wakes.recv().unwrap();
        told += is_radiated(&station.told_of());
    }
    station.provider.unbound(Now { monotonic_ns: 0, utc_ns: 0 });
    queue.with(|radiation| radiation.close());
    let radiated = radiating.join().unwrap();
    assert_eq!(radiated, (1..=CLTUS).collect::<Vec<_>>());
    assert_ne!(station.provider.session(), Time::from_utc_ns(0));
}

fn is_radiated(told: &[chronoscope_sle::pdu::CltuNotification]) -> usize {
    use chronoscope_sle::pdu::CltuNotification::CltuRadiated;
    told.iter().filter(|notification| **notification == CltuRadiated).count()
}
