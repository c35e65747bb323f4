//! START's and TRANSFER-DATA's diagnostics, and what a CLTU in the buffer is.

use crate::station::{DAY_NS, MS, S, Station, cltu, told_cltu};
use bytes::Bytes;
use chronoscope_sle::cltu;
use chronoscope_sle::pdu::{
    BufferNotification, CltuNotification, CltuProductionStatus, CltuTransferBuffer,
    CltuTransferData, CltuTransferDataReturn, Pdu, PositiveStartReturn,
};
use chronoscope_sle::service::fcltu::{
    BufferLimits, FcltuConfig, NotificationMode, RadiationStep, diagnostic,
};
use chronoscope_sle::time::Time;

fn config() -> FcltuConfig {
    FcltuConfig::default()
}

#[test]
fn start_unable_to_comply_while_production_is_interrupted() {
    let mut station = Station::ready(config());
    station.production(CltuProductionStatus::Interrupted);
    assert_eq!(station.start(1), Err(diagnostic::START_UNABLE_TO_COMPLY));
    station.production(CltuProductionStatus::Operational);
    assert!(station.start(1).is_ok());
}

#[test]
fn start_out_of_service_while_production_is_halted() {
    let production = CltuProductionStatus::Halted;
    let mut station = Station::ready(FcltuConfig { production, ..config() });
    assert_eq!(station.start(1), Err(diagnostic::START_OUT_OF_SERVICE));
}

#[test]
fn start_production_time_expired() {
    let production_stop_utc_ns = Some(DAY_NS + S);
    let mut station = Station::ready(FcltuConfig { production_stop_utc_ns, ..config() });
    station.pass(S);
    assert_eq!(station.start(1), Err(diagnostic::START_PRODUCTION_TIME_EXPIRED));
}

#[test]
fn start_invalid_cltu_id() {
    let mut station = Station::ready(FcltuConfig { first_cltu_ids: 1..=1000, ..config() });
    assert_eq!(station.start(0), Err(diagnostic::START_INVALID_CLTU_ID));
    assert_eq!(station.start(1001), Err(diagnostic::START_INVALID_CLTU_ID));
    assert!(station.start(1000).is_ok());
}

#[test]
fn start_names_the_times_of_production() {
    let (from, until) = (DAY_NS + 60 * S, DAY_NS + 120 * S);
    let mut station = Station::ready(FcltuConfig {
        production_start_utc_ns: Some(from),
        production_stop_utc_ns: Some(until),
        ..config()
    });
    let expected = PositiveStartReturn::Cltu {
        start_radiation: Time::from_utc_ns(from),
        stop_radiation: Some(Time::from_utc_ns(until)),
    };
    assert_eq!(station.start(1), Ok(expected));
}

#[test]
fn configured_production_takes_cltus_and_radiates_when_operational() {
    let production = CltuProductionStatus::Configured;
    let mut station = Station::active(FcltuConfig { production, ..config() });
    assert_eq!(station.transfer(cltu(1, 10)).0, Ok(()));
    assert!(station.radiate().is_empty());
    let told = station.production(CltuProductionStatus::Operational);
    assert_eq!(told[0].notification, CltuNotification::ProductionOperational);
    assert_eq!(station.radiate(), [1]);
}

#[test]
fn unable_to_process_while_halted() {
    let mut station = Station::active(config());
    station.production(CltuProductionStatus::Halted);
    let refused = (Err(diagnostic::TRANSFER_UNABLE_TO_PROCESS), 1);
    assert_eq!(station.transfer(cltu(1, 10)), refused);
}

#[test]
fn unable_to_process_after_an_interruption_until_stopped_and_started() {
    let mut station = Station::active(config());
    station.production(CltuProductionStatus::Interrupted);
    let refused = Err(diagnostic::TRANSFER_UNABLE_TO_PROCESS);
    assert_eq!(station.transfer(cltu(1, 10)).0, refused);
    station.production(CltuProductionStatus::Operational);
    assert_eq!(station.transfer(cltu(1, 10)).0, refused, "the user has to know of the loss");
    station.stop().unwrap();
    station.start(1).unwrap();
    assert_eq!(station.transfer(cltu(1, 10)).0, Ok(()));
}

#[test]
fn unable_to_process_after_an_expiry_until_stopped_and_started() {
    let mut station = Station::active(config());
    let latest = Some(station.at(MS));
    station.transfer(CltuTransferData { latest, ..cltu(1, 10) }).0.unwrap();
    station.pass(2 * MS);
    assert_eq!(station.next(), RadiationStep::Idle);
    let refused = Err(diagnostic::TRANSFER_UNABLE_TO_PROCESS);
    assert_eq!(station.transfer(cltu(2, 10)).0, refused);
    station.stop().unwrap();
    station.start(2).unwrap();
    assert_eq!(station.transfer(cltu(2, 10)).0, Ok(()));
}

#[test]
fn unable_to_process_after_production_time() {
    let production_stop_utc_ns = Some(DAY_NS + S);
    let mut station = Station::active(FcltuConfig { production_stop_utc_ns, ..config() });
    assert_eq!(station.transfer(cltu(1, 10)).0, Ok(()));
    station.pass(2 * S);
    let refused = Err(diagnostic::TRANSFER_UNABLE_TO_PROCESS);
    assert_eq!(station.transfer(cltu(2, 10)).0, refused);
}

#[test]
fn unable_to_store_where_the_octets_are_too_many() {
    let limits = BufferLimits { octets: 100, cltus: 10 };
    let mut station = Station::active(FcltuConfig { limits, ..config() });
    assert_eq!(station.transfer(cltu(1, 60)), (Ok(()), 2));
    assert_eq!(station.transfer(cltu(2, 41)), (Err(diagnostic::TRANSFER_UNABLE_TO_STORE), 2));
    assert_eq!(station.transfer(cltu(2, 40)), (Ok(()), 3));
    assert_eq!(station.report_now().buffer_available, 0);
    assert_eq!(station.radiate(), [1, 2]);
    assert_eq!(station.report_now().buffer_available, 100);
    assert_eq!(station.transfer(cltu(3, 41)), (Ok(()), 4));
}

#[test]
fn unable_to_store_where_the_cltus_are_too_many() {
    let limits = BufferLimits { octets: 100, cltus: 2 };
    let mut station = Station::active(FcltuConfig { limits, ..config() });
    assert_eq!(station.transfer(cltu(1, 1)).0, Ok(()));
    assert_eq!(station.transfer(cltu(2, 1)).0, Ok(()));
    assert_eq!(station.transfer(cltu(3, 1)).0, Err(diagnostic::TRANSFER_UNABLE_TO_STORE));
}

#[test]
fn out_of_sequence_names_the_number_that_is_expected() {
    let mut station = Station::active(config());
    station.transfer(cltu(1, 10)).0.unwrap();
    let refused = (Err(diagnostic::TRANSFER_OUT_OF_SEQUENCE), 2);
    assert_eq!(station.transfer(cltu(1, 10)), refused);
    assert_eq!(station.transfer(cltu(3, 10)), refused);
    assert_eq!(station.transfer(cltu(2, 10)), (Ok(()), 3));
}

#[test]
fn numbers_wrap() {
    let mut station = Station::ready(config());
    station.start(u32::MAX).unwrap();
    assert_eq!(station.transfer(cltu(u32::MAX, 10)), (Ok(()), 0));
    assert_eq!(station.transfer(cltu(0, 10)), (Ok(()), 1));
}

#[test]
fn inconsistent_time_range() {
    let mut station = Station::active(config());
    let (earliest, latest) = (Some(station.at(2 * S)), Some(station.at(S)));
    let refused = Err(diagnostic::TRANSFER_INCONSISTENT_TIME_RANGE);
    assert_eq!(station.transfer(CltuTransferData { earliest, latest, ..cltu(1, 1) }).0, refused);
}

#[test]
fn invalid_time_is_one_without_production_or_none() {
    let mut station = Station::active(FcltuConfig {
        production_start_utc_ns: Some(DAY_NS + 10 * S),
        production_stop_utc_ns: Some(DAY_NS + 20 * S),
        ..config()
    });
    let refused = Err(diagnostic::TRANSFER_INVALID_TIME);
    let earliest = Some(station.at(21 * S));
    assert_eq!(station.transfer(CltuTransferData { earliest, ..cltu(1, 1) }).0, refused);
    let latest = Some(station.at(9 * S));
    assert_eq!(station.transfer(CltuTransferData { latest, ..cltu(1, 1) }).0, refused);
    let none = Some(Time::Micro([0xff; 8]));
    assert_eq!(station.transfer(CltuTransferData { earliest: none, ..cltu(1, 1) }).0, refused);
    assert_eq!(station.transfer(CltuTransferData { latest: none, ..cltu(1, 1) }).0, refused);
    let (earliest, latest) = (Some(station.at(11 * S)), Some(station.at(30 * S)));
    assert_eq!(station.transfer(CltuTransferData { earliest, latest, ..cltu(1, 1) }).0, Ok(()));
}

#[test]
fn late_sldu() {
    let mut station = Station::active(config());
    let latest = Some(station.at(S));
    station.pass(2 * S);
    let refused = Err(diagnostic::TRANSFER_LATE_SLDU);
    assert_eq!(station.transfer(CltuTransferData { latest, ..cltu(1, 1) }).0, refused);
}

#[test]
fn invalid_delay_time() {
    let mut station = Station::active(FcltuConfig { minimum_delay_us: 100, ..config() });
    let refused = Err(diagnostic::TRANSFER_INVALID_DELAY_TIME);
    assert_eq!(station.transfer(CltuTransferData { delay_us: 99, ..cltu(1, 1) }).0, refused);
    assert_eq!(station.transfer(CltuTransferData { delay_us: 100, ..cltu(1, 1) }).0, Ok(()));
}

#[test]
fn cltu_error_where_it_is_too_long_or_nothing() {
    let mut station = Station::active(FcltuConfig { maximum_cltu_length: 20, ..config() });
    let refused = (Err(diagnostic::TRANSFER_CLTU_ERROR), 1);
    assert_eq!(station.transfer(cltu(1, 21)), refused);
    assert_eq!(station.transfer(cltu(1, 0)), refused);
    assert_eq!(station.transfer(cltu(1, 20)), (Ok(()), 2));
}

#[test]
fn cltu_error_where_it_is_none_and_that_is_looked_at() {
    let mut station = Station::active(FcltuConfig { check_cltu: true, ..config() });
    assert_eq!(station.transfer(cltu(1, 18)), (Err(diagnostic::TRANSFER_CLTU_ERROR), 1));
    let data = Bytes::from(cltu::encode(b"a telecommand"));
    assert_eq!(station.transfer(CltuTransferData { data, ..cltu(1, 0) }), (Ok(()), 2));
}

/// Where several things are wrong, the one with the lowest number is told.
#[test]
fn diagnostics_in_the_order_of_the_book() {
    let limits = BufferLimits { octets: 30, cltus: 10 };
    let minimum_delay_us = 10;
    let maximum_cltu_length = 20;
    let (production_start_utc_ns, production_stop_utc_ns) = (Some(DAY_NS - S), Some(DAY_NS + S));
    let mut station = Station::active(FcltuConfig {
        limits,
        minimum_delay_us,
        maximum_cltu_length,
        production_start_utc_ns,
        production_stop_utc_ns,
        ..config()
    });
    let (ago, earlier) = (Time::from_utc_ns(DAY_NS - 2 * S), Time::from_utc_ns(DAY_NS - S / 2));
    let mut all = CltuTransferData {
        earliest: Some(station.at(0)),
        latest: Some(ago),
        delay_us: 0,
        ..cltu(2, 31)
    };
    station.production(CltuProductionStatus::Halted);
    let refused = |station: &mut Station, cltu: &CltuTransferData| {
        station.transfer(cltu.clone()).0.unwrap_err()
    };
    assert_eq!(refused(&mut station, &all), diagnostic::TRANSFER_UNABLE_TO_PROCESS);
    station.production(CltuProductionStatus::Operational);
    station.stop().unwrap();
    station.start(1).unwrap();
    assert_eq!(refused(&mut station, &all), diagnostic::TRANSFER_UNABLE_TO_STORE);
    all.data.truncate(21);
    assert_eq!(refused(&mut station, &all), diagnostic::TRANSFER_OUT_OF_SEQUENCE);
    all.cltu = 1;
    assert_eq!(refused(&mut station, &all), diagnostic::TRANSFER_INCONSISTENT_TIME_RANGE);
    all.earliest = None;
    assert_eq!(refused(&mut station, &all), diagnostic::TRANSFER_INVALID_TIME);
    all.latest = Some(earlier);
    assert_eq!(refused(&mut station, &all), diagnostic::TRANSFER_LATE_SLDU);
    all.latest = None;
    assert_eq!(refused(&mut station, &all), diagnostic::TRANSFER_INVALID_DELAY_TIME);
    all.delay_us = 10;
    assert_eq!(refused(&mut station, &all), diagnostic::TRANSFER_CLTU_ERROR);
    all.data.truncate(20);
    assert_eq!(station.transfer(all), (Ok(()), 2));
}

#[test]
fn a_cltu_is_not_radiated_before_its_earliest_time() {
    let mut station = Station::active(config());
    let earliest = Some(station.at(S));
    station.transfer(CltuTransferData { earliest, ..cltu(1, 10) }).0.unwrap();
    assert_eq!(station.next(), RadiationStep::Wait(station.now.monotonic_ns + S));
    station.pass(S);
    assert_eq!(station.radiate(), [1]);
}

#[test]
fn a_cltu_is_not_radiated_before_production() {
    let production_start_utc_ns = Some(DAY_NS + S);
    let mut station = Station::active(FcltuConfig { production_start_utc_ns, ..config() });
    station.transfer(cltu(1, 10)).0.unwrap();
    let left = DAY_NS + S - station.now.utc_ns;
    assert_eq!(station.next(), RadiationStep::Wait(station.now.monotonic_ns + left));
    station.pass(left);
    assert_eq!(station.radiate(), [1]);
}

#[test]
fn at_its_latest_time_a_cltu_is_radiated_and_after_it_not() {
    let mut station = Station::active(config());
    let latest = Some(station.at(S));
    station.transfer(CltuTransferData { latest, ..cltu(1, 10) }).0.unwrap();
    station.pass(S);
    assert_eq!(station.radiate(), [1]);
    let latest = Some(station.at(S));
    station.transfer(CltuTransferData { latest, ..cltu(2, 10) }).0.unwrap();
    station.pass(S + 1000);
    assert!(station.radiate().is_empty());
}

#[test]
fn silence_after_a_cltu() {
    let mut station = Station::active(config());
    station.transfer(CltuTransferData { delay_us: 3000, ..cltu(1, 10) }).0.unwrap();
    station.transfer(cltu(2, 10)).0.unwrap();
    assert_eq!(station.radiate(), [1]);
    assert_eq!(station.next(), RadiationStep::Wait(station.now.monotonic_ns + 3 * MS));
    station.pass(3 * MS);
    assert_eq!(station.radiate(), [2]);
}

#[test]
fn the_bit_rate_is_kept() {
    let mut station = Station::active(FcltuConfig { bit_rate: Some(8000), ..config() });
    station.transfer(cltu(1, 10)).0.unwrap();
    station.transfer(cltu(2, 10)).0.unwrap();
    let began = station.now.utc_ns;
    assert!(matches!(station.next(), RadiationStep::Radiate(c) if c.cltu == 1));
    assert_eq!(station.next(), RadiationStep::Wait(station.now.monotonic_ns + 10 * MS));
    // Seen later than it ended.
    station.pass(12 * MS);
    assert!(matches!(station.next(), RadiationStep::Radiate(c) if c.cltu == 2));
    let ok = station.report_now().last_ok.unwrap();
    assert_eq!((ok.cltu, ok.stop_radiation.utc_ns()), (1, Some(began + 10 * MS)));
    let last = station.report_now().last_processed.unwrap();
    assert_eq!((last.cltu, last.start_radiation), (2, Some(station.at(0))));
}

#[test]
fn a_cltu_carries_the_time_that_its_start_named() {
    let mut station = Station::active(config());
    let session = station.provider.session();
    station.transfer(cltu(1, 10)).0.unwrap();
    assert!(matches!(station.next(), RadiationStep::Radiate(c) if c.session == session));
    station.stop().unwrap();
    station.pass(MS);
    station.start(1).unwrap();
    station.transfer(cltu(1, 10)).0.unwrap();
    assert!(matches!(station.next(), RadiationStep::Radiate(c) if c.session != session));
}

#[test]
fn deferred_an_interruption_that_hits_no_cltu_is_not_told() {
    let notification_mode = NotificationMode::Deferred;
    let mut station = Station::active(FcltuConfig { notification_mode, ..config() });
    assert_eq!(station.production(CltuProductionStatus::Interrupted), []);
    let earliest = Some(station.at(S));
    let later = CltuTransferData { earliest, ..cltu(1, 10) };
    assert_eq!(station.transfer(later).0, Ok(()), "its turn is later");
    assert!(station.radiate().is_empty());
    station.production(CltuProductionStatus::Operational);
    station.pass(S);
    assert_eq!(station.radiate(), [1]);
}

fn several(numbers: &[(u32, usize)], notify_radiated: BufferNotification) -> Pdu {
    let cltus = numbers.iter().map(|(n, octets)| (*n, Bytes::from(vec![1; *octets]))).collect();
    Pdu::CltuTransferBuffer(CltuTransferBuffer { invoke_id: 5, notify_radiated, cltus })
}

fn blocking(config: FcltuConfig) -> Station {
    Station::active(FcltuConfig { transfer_buffers: true, ..config })
}

fn returned(station: &mut Station, pdu: Pdu) -> CltuTransferDataReturn {
    match station.answer(pdu) {
        Pdu::CltuTransferDataReturn(returned) => returned,
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_buffer_has_one_return_and_its_notifications_as_asked() {
    for (notify, expected) in [
        (BufferNotification::None, 0),
        (BufferNotification::Last, 1),
        (BufferNotification::Every, 3),
    ] {
        let mut station = blocking(config());
        let all = several(&[(1, 10), (2, 10), (3, 10)], notify);
        assert_eq!(returned(&mut station, all).result, Ok(()));
        assert_eq!(station.radiate(), [1, 2, 3]);
        let told = station.told();
        let radiated: Vec<_> = told
            .iter()
            .filter(|notify| notify.notification == CltuNotification::CltuRadiated)
            .collect();
        assert_eq!(radiated.len(), expected);
        assert!(radiated.last().is_none_or(|notify| notify.last_ok.unwrap().cltu == 3));
    }
}

#[test]
fn of_a_buffer_what_comes_before_the_refused_one_is_taken() {
    let limits = BufferLimits { octets: 25, cltus: 10 };
    let mut station = blocking(FcltuConfig { limits, ..config() });
    let all = several(&[(1, 10), (2, 10), (3, 10), (4, 1)], BufferNotification::Every);
    let expected = CltuTransferDataReturn {
        invoke_id: 5,
        next_cltu: 3,
        buffer_available: 5,
        result: Err(diagnostic::TRANSFER_UNABLE_TO_STORE),
    };
    assert_eq!(returned(&mut station, all), expected);
    assert_eq!(station.radiate(), [1, 2]);
    let none = returned(&mut station, several(&[], BufferNotification::None));
    assert_eq!((none.result, none.next_cltu), (Err(diagnostic::TRANSFER_CLTU_ERROR), 3));
}

#[test]
fn radiation_waits_where_nobody_takes_its_notices() {
    let mut station = Station::active(config());
    let mut radiated = 0;
    for number in 1..=5000 {
        station.transfer(told_cltu(number, 1)).0.unwrap();
    }
    radiated += station.radiate().len();
    assert!(radiated < 5000, "what is to be told is bounded");
    let mut told = station.told().len();
    radiated += station.radiate().len();
    assert_eq!(radiated, 5000);
    told += station.told().len();
    assert_eq!(told, 5001, "with one of the empty buffer");
}
