//! ASYNC-NOTIFY: what is told, and when.

use crate::station::{MS, S, Station, cltu, notifications, told_cltu};
use chronoscope_sle::pdu::{
    CltuLastOk, CltuLastProcessed, CltuNotification, CltuProductionStatus, CltuStatus,
    CltuTransferData, UplinkStatus,
};
use chronoscope_sle::service::fcltu::{
    FcltuConfig, NotificationMode, ProductionEvent, RadiationStep,
};

fn config() -> FcltuConfig {
    FcltuConfig { notify_buffer_empty: false, ..FcltuConfig::default() }
}

/// One CLTU in a second per octet.
fn slow() -> FcltuConfig {
    FcltuConfig { bit_rate: Some(8), ..config() }
}

fn deferred(config: FcltuConfig) -> FcltuConfig {
    FcltuConfig { notification_mode: NotificationMode::Deferred, ..config }
}

#[test]
fn cltu_radiated_is_told_where_it_was_asked_for() {
    let mut station = Station::active(slow());
    station.transfer(cltu(1, 1)).0.unwrap();
    station.transfer(told_cltu(2, 1)).0.unwrap();
    assert!(matches!(station.next(), RadiationStep::Radiate(_)));
    station.pass(S);
    assert!(matches!(station.next(), RadiationStep::Radiate(_)));
    assert_eq!(station.told(), []);
    let start_radiation = Some(station.at(0));
    station.pass(S);
    assert_eq!(station.next(), RadiationStep::Idle);
    let [notify] = station.told()[..] else { panic!() };
    assert_eq!(notify.notification, CltuNotification::CltuRadiated);
    let status = CltuStatus::Radiated;
    assert_eq!(notify.last_processed, Some(CltuLastProcessed { cltu: 2, start_radiation, status }));
    let stop_radiation = station.at(0);
    assert_eq!(notify.last_ok, Some(CltuLastOk { cltu: 2, stop_radiation }));
    assert_eq!(notify.production, CltuProductionStatus::Operational);
}

#[test]
fn buffer_empty_is_told_when_the_last_cltu_was_radiated() {
    let mut station = Station::active(FcltuConfig { notify_buffer_empty: true, ..slow() });
    station.transfer(cltu(1, 1)).0.unwrap();
    station.transfer(cltu(2, 1)).0.unwrap();
    for _ in 0..2 {
        assert!(matches!(station.next(), RadiationStep::Radiate(_)));
        assert_eq!(station.told_of(), []);
        station.pass(S);
    }
    assert_eq!(station.next(), RadiationStep::Idle);
    assert_eq!(station.told_of(), [CltuNotification::BufferEmpty]);
}

#[test]
fn buffer_empty_is_told_once_for_all_times_before_the_user_could_be_told() {
    let mut station = Station::active(FcltuConfig { notify_buffer_empty: true, ..config() });
    for number in 1..=3 {
        station.transfer(cltu(number, 1)).0.unwrap();
        station.radiate();
    }
    let [notify] = station.told()[..] else { panic!() };
    assert_eq!(notify.notification, CltuNotification::BufferEmpty);
    assert_eq!(notify.last_ok.unwrap().cltu, 3);
}

#[test]
fn sldu_expired_discards_the_buffer() {
    let mut station = Station::active(slow());
    let latest = Some(station.at(500 * MS));
    station.transfer(cltu(1, 1)).0.unwrap();
    station.transfer(CltuTransferData { latest, ..cltu(2, 1) }).0.unwrap();
    station.transfer(cltu(3, 1)).0.unwrap();
    assert!(matches!(station.next(), RadiationStep::Radiate(_)));
    station.pass(S);
    assert_eq!(station.next(), RadiationStep::Idle);
    let [notify] = station.told()[..] else { panic!() };
    assert_eq!(notify.notification, CltuNotification::SlduExpired);
    let last = CltuLastProcessed { cltu: 2, start_radiation: None, status: CltuStatus::Expired };
    assert_eq!(notify.last_processed, Some(last));
    assert_eq!(notify.last_ok.unwrap().cltu, 1);
    let report = station.report_now();
    assert_eq!((report.received, report.processed, report.radiated), (3, 2, 1));
    assert_eq!(station.queue.look(|radiation| radiation.waiting()), 0);
}

#[test]
fn sldu_expired_is_seen_while_production_is_not_yet_operational() {
    let production = CltuProductionStatus::Configured;
    let mut station = Station::active(FcltuConfig { production, ..config() });
    let latest = Some(station.at(S));
    station.transfer(CltuTransferData { latest, ..cltu(1, 1) }).0.unwrap();
    let RadiationStep::Wait(until) = station.next() else { panic!("it can expire") };
    assert_eq!(until, station.now.monotonic_ns + S + 1);
    station.pass(S + 1);
    assert_eq!(station.next(), RadiationStep::Idle);
    assert_eq!(station.told_of(), [CltuNotification::SlduExpired]);
}

#[test]
fn production_interrupted_immediate_is_told_at_once() {
    let mut station = Station::ready(config());
    let [notify] = station.production(CltuProductionStatus::Interrupted)[..] else { panic!() };
    assert_eq!(notify.notification, CltuNotification::ProductionInterrupted);
    assert_eq!(notify.production, CltuProductionStatus::Interrupted);
    assert_eq!(station.production(CltuProductionStatus::Interrupted), [], "it was before");
}

#[test]
fn production_interrupted_cuts_the_radiation_and_discards_the_buffer() {
    for config in [slow(), deferred(slow())] {
        let mut station = Station::active(config);
        station.transfer(told_cltu(1, 1)).0.unwrap();
        station.transfer(told_cltu(2, 1)).0.unwrap();
        assert!(matches!(station.next(), RadiationStep::Radiate(_)));
        let start_radiation = Some(station.at(0));
        station.pass(500 * MS);
        let [notify] = station.production(CltuProductionStatus::Interrupted)[..] else { panic!() };
        assert_eq!(notify.notification, CltuNotification::ProductionInterrupted);
        let status = CltuStatus::Interrupted;
        let last = CltuLastProcessed { cltu: 1, start_radiation, status };
        assert_eq!(notify.last_processed, Some(last));
        station.pass(S);
        assert_eq!(station.next(), RadiationStep::Idle);
        assert_eq!(station.told(), [], "it is not radiated any more");
        assert_eq!(station.queue.look(|radiation| radiation.waiting()), 0);
    }
}

#[test]
fn a_cltu_whose_radiation_had_ended_is_not_interrupted() {
    let mut station = Station::active(slow());
    station.transfer(told_cltu(1, 1)).0.unwrap();
    assert!(matches!(station.next(), RadiationStep::Radiate(_)));
    station.pass(2 * S);
    let told = station.production(CltuProductionStatus::Interrupted);
    let told: Vec<_> = told.iter().map(|notify| notify.notification).collect();
    let expected = [CltuNotification::CltuRadiated, CltuNotification::ProductionInterrupted];
    assert_eq!(told, expected);
}

#[test]
fn production_interrupted_deferred_is_told_when_a_cltu_is_due() {
    let mut station = Station::active(deferred(config()));
    assert_eq!(station.production(CltuProductionStatus::Interrupted), []);
    station.transfer(cltu(1, 1)).0.unwrap();
    station.transfer(cltu(2, 1)).0.unwrap();
    assert_eq!(station.next(), RadiationStep::Idle);
    let [notify] = station.told()[..] else { panic!() };
    assert_eq!(notify.notification, CltuNotification::ProductionInterrupted);
    let status = CltuStatus::RadiationNotStarted;
    let last = CltuLastProcessed { cltu: 1, start_radiation: None, status };
    assert_eq!(notify.last_processed, Some(last));
    assert_eq!(station.queue.look(|radiation| radiation.waiting()), 0);
}

#[test]
fn production_halted_discards_the_buffer() {
    for config in [slow(), deferred(slow())] {
        let mut station = Station::active(config);
        station.transfer(cltu(1, 1)).0.unwrap();
        station.transfer(cltu(2, 1)).0.unwrap();
        assert!(matches!(station.next(), RadiationStep::Radiate(_)));
        let [notify] = station.production(CltuProductionStatus::Halted)[..] else { panic!() };
        assert_eq!(notify.notification, CltuNotification::ProductionHalted);
        assert_eq!(notify.last_processed.unwrap().status, CltuStatus::Interrupted);
        assert_eq!(station.queue.look(|radiation| radiation.waiting()), 0);
    }
}

#[test]
fn production_operational_is_told() {
    let mut station = Station::ready(config());
    station.production(CltuProductionStatus::Halted);
    let [notify] = station.production(CltuProductionStatus::Operational)[..] else { panic!() };
    assert_eq!(notify.notification, CltuNotification::ProductionOperational);
}

#[test]
fn production_configured_is_not_told() {
    let mut station = Station::active(config());
    assert_eq!(station.production(CltuProductionStatus::Configured), []);
    station.transfer(cltu(1, 1)).0.unwrap();
    assert!(station.radiate().is_empty());
}

#[test]
fn the_uplink_is_told_with_the_rest() {
    let mut station = Station::ready(config());
    let mut out = Vec::new();
    station.provider.production(
        ProductionEvent::Uplink(UplinkStatus::NoBitLock),
        station.now,
        &mut out,
    );
    assert_eq!(notifications(out), []);
    let [notify] = station.production(CltuProductionStatus::Halted)[..] else { panic!() };
    assert_eq!(notify.uplink, UplinkStatus::NoBitLock);
    assert_eq!(station.report_now().uplink, UplinkStatus::NoBitLock);
}
