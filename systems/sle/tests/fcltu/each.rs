//! Data units that do not depend on each other, as buffered data processing has them.

use crate::station::{DAY_NS, MS, S};
use bytes::Bytes;
use chronoscope_sle::pdu::{CltuNotification, CltuProductionStatus, CltuStatus};
use chronoscope_sle::service::fcltu::{
    AwaitedCondition, BufferLimits, CltuRefusal, FcltuConfig, LossDiscipline, QueuedCltu,
    Radiation, RadiationConfig, RadiationStep,
};
use chronoscope_sle::time::{Now, Time};

struct Buffer {
    radiation: Radiation,
    now: Now,
}

impl Buffer {
    /// Three octets, four data units, a millisecond on the air for each octet.
    fn new(status: CltuProductionStatus) -> Self {
        let config = FcltuConfig {
            limits: BufferLimits { octets: 3, cltus: 4 },
            bit_rate: Some(8000),
            production: status,
            ..FcltuConfig::default()
        };
        let config = RadiationConfig { discipline: LossDiscipline::Each, ..(&config).into() };
        let radiation = Radiation::new(config);
        Self { radiation, now: Now { monotonic_ns: S, utc_ns: DAY_NS } }
    }

    fn take(&mut self, cltu: u32, for_ns: Option<u64>) -> Result<(), CltuRefusal> {
        self.radiation.take(QueuedCltu {
            cltu,
            data: Bytes::from_static(b"x"),
            earliest_utc_ns: None,
            latest_utc_ns: for_ns.map(|ns| self.now.utc_ns + ns),
            delay_us: 0,
            notify: false,
            session: Time::from_utc_ns(DAY_NS),
        })
    }

    fn next(&mut self) -> RadiationStep {
        self.radiation.next(self.now)
    }

    /// The number of what is radiated now.
    fn radiated(&mut self) -> Option<u32> {
        match self.next() {
            RadiationStep::Radiate(cltu) => Some(cltu.cltu),
            _ => None,
        }
    }

    fn pass(&mut self, ns: u64) {
        self.now.monotonic_ns += ns;
        self.now.utc_ns += ns;
    }
}

#[test]
fn an_interruption_holds_up_what_waits_and_takes_what_is_on_the_air() {
    let mut buffer = Buffer::new(CltuProductionStatus::Operational);
    buffer.take(1, None).unwrap();
    buffer.take(2, None).unwrap();
    assert_eq!(buffer.radiated(), Some(1));
    buffer.radiation.set_status(CltuProductionStatus::Interrupted, buffer.now);
    assert_eq!(buffer.next(), RadiationStep::Idle);
    let last = buffer.radiation.report().last_processed.unwrap();
    assert_eq!((last.cltu, last.status), (1, CltuStatus::Interrupted));
    buffer.take(3, None).unwrap();
    buffer.radiation.set_status(CltuProductionStatus::Halted, buffer.now);
    assert_eq!(buffer.next(), RadiationStep::Idle);
    buffer.radiation.set_status(CltuProductionStatus::Operational, buffer.now);
    assert_eq!(buffer.radiated(), Some(2));
    buffer.pass(MS);
    assert_eq!(buffer.radiated(), Some(3));
    assert_eq!(buffer.radiation.discarded(), 0);
}

#[test]
fn whoever_is_too_late_goes_alone() {
    let mut buffer = Buffer::new(CltuProductionStatus::Configured);
    buffer.take(1, Some(MS)).unwrap();
    buffer.take(2, None).unwrap();
    assert_eq!(buffer.next(), RadiationStep::Wait(buffer.now.monotonic_ns + MS + 1));
    buffer.pass(MS + 1);
    assert_eq!(buffer.next(), RadiationStep::Idle);
    assert_eq!((buffer.radiation.waiting(), buffer.radiation.discarded()), (1, 1));
    buffer.radiation.set_status(CltuProductionStatus::Operational, buffer.now);
    assert_eq!(buffer.radiated(), Some(2));
}

#[test]
fn room_is_made_by_the_oldest() {
    let mut buffer = Buffer::new(CltuProductionStatus::Halted);
    for cltu in 1..=3 {
        buffer.take(cltu, None).unwrap();
    }
    assert_eq!(buffer.take(4, None), Err(CltuRefusal::UnableToStore));
    buffer.radiation.wait_for(Some(AwaitedCondition::Room { octets: 2, units: 2 }));
    assert!(!buffer.radiation.has_word());
    assert_eq!(buffer.radiation.make_room(2, 2), 2);
    assert!(buffer.radiation.has_word());
    buffer.take(4, None).unwrap();
    buffer.radiation.set_status(CltuProductionStatus::Operational, buffer.now);
    assert_eq!(buffer.radiated(), Some(3));
    assert_eq!(buffer.radiation.make_room(9, 1), 1, "more than there is room for empties it");
    assert_eq!(buffer.radiation.waiting(), 0);
}

#[test]
fn silence_is_waited_for() {
    let mut buffer = Buffer::new(CltuProductionStatus::Operational);
    buffer.take(1, None).unwrap();
    assert_eq!(buffer.radiated(), Some(1));
    buffer.radiation.wait_for(Some(AwaitedCondition::Silence));
    assert!(!buffer.radiation.has_word());
    buffer.pass(MS);
    assert_eq!(buffer.next(), RadiationStep::Idle);
    assert!(buffer.radiation.has_word());
}

#[test]
fn an_interruption_is_told_when_it_holds_something_up() {
    let provider = |buffer: &mut Buffer| {
        let mut told = Vec::new();
        while let Some(notice) = buffer.radiation.next_notice() {
            told.push(notice.notification);
        }
        told
    };
    let mut buffer = Buffer::new(CltuProductionStatus::Operational);
    buffer.radiation.bound();
    buffer.radiation.set_status(CltuProductionStatus::Interrupted, buffer.now);
    assert_eq!(provider(&mut buffer), [], "nothing is held up");
    buffer.take(1, None).unwrap();
    buffer.take(2, None).unwrap();
    assert_eq!(provider(&mut buffer), [CltuNotification::ProductionInterrupted], "once");
    buffer.radiation.set_status(CltuProductionStatus::Operational, buffer.now);
    assert_eq!(provider(&mut buffer), [CltuNotification::ProductionOperational]);
    buffer.radiation.set_status(CltuProductionStatus::Halted, buffer.now);
    assert_eq!(provider(&mut buffer), [CltuNotification::ProductionHalted]);
    buffer.radiation.set_status(CltuProductionStatus::Operational, buffer.now);
    assert_eq!(provider(&mut buffer), [CltuNotification::ProductionOperational]);
}
