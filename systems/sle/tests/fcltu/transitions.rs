//! The state table: unbound, ready, active.

use crate::station::{Station, cltu};
use bytes::Bytes;
use chronoscope_sle::pdu::{
    BufferNotification, CltuProductionStatus, CltuTransferBuffer, CltuTransferDataReturn, Pdu,
    PeerAbortDiagnostic, PositiveStartReturn, ReportRequest, StartRequest, UnbindReason,
};
use chronoscope_sle::service::fcltu::{FcltuConfig, ProtocolAbortMode, RadiationStep, diagnostic};
use chronoscope_sle::service::{ServiceAction, ServiceState};

fn config() -> FcltuConfig {
    FcltuConfig::default()
}

fn is_aborted(station: &mut Station, pdu: Pdu) {
    let actions = station.pdu(pdu);
    assert_eq!(actions, [ServiceAction::Abort(PeerAbortDiagnostic::ProtocolError)]);
    assert_eq!(station.provider.state(), ServiceState::Unbound);
}

fn start() -> Pdu {
    Pdu::Start { invoke_id: 1, start: StartRequest::Cltu { first_cltu: 1 } }
}

fn buffer() -> Pdu {
    let cltus = vec![(1, Bytes::from_static(b"one")), (2, Bytes::from_static(b"two"))];
    let notify_radiated = BufferNotification::None;
    Pdu::CltuTransferBuffer(CltuTransferBuffer { invoke_id: 1, notify_radiated, cltus })
}

#[test]
fn unbound_bind_becomes_ready() {
    let mut station = Station::unbound(config());
    assert_eq!(station.provider.state(), ServiceState::Unbound);
    station.provider.bound(5, station.now);
    assert_eq!(station.provider.state(), ServiceState::Ready);
}

#[test]
fn unbound_answers_nothing() {
    let mut station = Station::unbound(config());
    assert_eq!(station.pdu(start()), []);
    assert_eq!(station.pdu(Pdu::CltuTransferData(cltu(1, 10))), []);
    assert_eq!(station.production(CltuProductionStatus::Interrupted), []);
    assert_eq!(station.provider.state(), ServiceState::Unbound);
}

#[test]
fn ready_start_becomes_active() {
    let mut station = Station::ready(config());
    let started = station.start(1);
    let start_radiation = station.at(1000); // the next microsecond
    assert_eq!(started, Ok(PositiveStartReturn::Cltu { start_radiation, stop_radiation: None }));
    assert_eq!(station.provider.session(), start_radiation);
    assert_eq!(station.provider.state(), ServiceState::Active);
}

#[test]
fn ready_start_refused_stays_ready() {
    let mut station = Station::ready(config());
    station.production(CltuProductionStatus::Halted);
    assert_eq!(station.start(1), Err(diagnostic::START_OUT_OF_SERVICE));
    assert_eq!(station.provider.state(), ServiceState::Ready);
}

#[test]
fn ready_stop_is_a_protocol_error() {
    is_aborted(&mut Station::ready(config()), Pdu::Stop { invoke_id: 1 });
}

#[test]
fn ready_transfer_data_is_a_protocol_error() {
    is_aborted(&mut Station::ready(config()), Pdu::CltuTransferData(cltu(1, 10)));
}

#[test]
fn ready_transfer_buffer_is_a_protocol_error() {
    let config = FcltuConfig { transfer_buffers: true, ..config() };
    is_aborted(&mut Station::ready(config), buffer());
}

#[test]
fn ready_unbind_is_the_associations() {
    let mut station = Station::ready(config());
    assert_eq!(station.pdu(Pdu::Unbind(UnbindReason::End)), []);
    station.provider.unbound(station.now);
    assert_eq!(station.provider.state(), ServiceState::Unbound);
}

#[test]
fn ready_peer_abort_becomes_unbound() {
    let mut station = Station::ready(config());
    assert_eq!(station.pdu(Pdu::PeerAbort(PeerAbortDiagnostic::OtherReason)), []);
    assert_eq!(station.provider.state(), ServiceState::Unbound);
}

#[test]
fn active_transfer_data_stays_active() {
    let mut station = Station::active(config());
    assert_eq!(station.transfer(cltu(1, 10)), (Ok(()), 2));
    assert_eq!(station.provider.state(), ServiceState::Active);
}

#[test]
fn active_transfer_data_refused_stays_active() {
    let mut station = Station::active(config());
    let refused = (Err(diagnostic::TRANSFER_OUT_OF_SEQUENCE), 1);
    assert_eq!(station.transfer(cltu(2, 10)), refused);
    assert_eq!(station.provider.state(), ServiceState::Active);
}

#[test]
fn active_stop_becomes_ready_and_the_buffer_is_discarded() {
    let mut station = Station::active(config());
    let available = station.report_now().buffer_available;
    station.transfer(cltu(1, 10)).0.unwrap();
    station.transfer(cltu(2, 20)).0.unwrap();
    assert_eq!(station.report_now().buffer_available, available - 30);
    assert_eq!(station.stop(), Ok(()));
    assert_eq!(station.provider.state(), ServiceState::Ready);
    assert_eq!(station.report_now().buffer_available, available);
    assert_eq!(station.next(), RadiationStep::Idle);
}

#[test]
fn active_stop_lets_the_cltu_on_the_air_end() {
    let mut station = Station::active(FcltuConfig { bit_rate: Some(8), ..config() });
    let told = crate::station::told_cltu(1, 1);
    station.transfer(told).0.unwrap();
    assert!(matches!(station.next(), RadiationStep::Radiate(_)));
    station.stop().unwrap();
    station.pass(crate::station::S);
    assert_eq!(station.next(), RadiationStep::Idle);
    let notification = chronoscope_sle::pdu::CltuNotification::CltuRadiated;
    assert_eq!(station.told_of(), [notification], "and no buffer empty: it was emptied");
    assert_eq!(station.report_now().radiated, 1);
}

#[test]
fn active_start_is_a_protocol_error() {
    is_aborted(&mut Station::active(config()), start());
}

#[test]
fn active_unbind_is_a_protocol_error() {
    is_aborted(&mut Station::active(config()), Pdu::Unbind(UnbindReason::End));
}

#[test]
fn active_peer_abort_becomes_unbound_and_the_buffer_is_discarded() {
    let mut station = Station::active(config());
    station.transfer(cltu(1, 10)).0.unwrap();
    assert_eq!(station.pdu(Pdu::PeerAbort(PeerAbortDiagnostic::OtherReason)), []);
    assert_eq!(station.provider.state(), ServiceState::Unbound);
    assert!(station.radiate().is_empty());
    assert_eq!(station.queue.look(|radiation| radiation.discarded()), 1);
}

#[test]
fn active_loss_continues_radiation_where_that_was_agreed() {
    let protocol_abort_mode = ProtocolAbortMode::Continue;
    let mut station = Station::active(FcltuConfig { protocol_abort_mode, ..config() });
    station.transfer(crate::station::told_cltu(1, 10)).0.unwrap();
    station.transfer(cltu(2, 10)).0.unwrap();
    station.provider.unbound(station.now);
    assert_eq!(station.radiate(), [1, 2]);
    assert_eq!(station.told_of(), [], "nobody is bound");
    // The next user sees the counts, and nothing that was meant for the one before.
    station.provider.bound(5, station.now);
    assert_eq!(station.told_of(), []);
    assert_eq!(station.report_now().radiated, 2);
}

#[test]
fn active_transfer_buffer_is_a_protocol_error_where_none_was_agreed() {
    is_aborted(&mut Station::active(config()), buffer());
}

#[test]
fn active_transfer_buffer_stays_active_where_agreed() {
    let mut station = Station::active(FcltuConfig { transfer_buffers: true, ..config() });
    let Pdu::CltuTransferDataReturn(returned) = station.answer(buffer()) else { panic!() };
    let buffer_available = station.report_now().buffer_available;
    let expected =
        CltuTransferDataReturn { invoke_id: 1, next_cltu: 3, buffer_available, result: Ok(()) };
    assert_eq!(returned, expected);
    assert_eq!(station.provider.state(), ServiceState::Active);
}

/// Operations that a provider sends, and such as are of other services.
fn not_for_a_provider() -> Vec<Pdu> {
    let report = Station::unbound(config()).report_now();
    vec![
        Pdu::UnbindReturn,
        Pdu::StartReturn { invoke_id: 1, result: Ok(PositiveStartReturn::Return) },
        Pdu::StopReturn { invoke_id: 1, result: Ok(()) },
        Pdu::CltuStatusReport(report),
        Pdu::TransferBuffer(Vec::new()),
    ]
}

#[test]
fn ready_what_is_not_for_a_provider_is_a_protocol_error() {
    for pdu in not_for_a_provider() {
        is_aborted(&mut Station::ready(config()), pdu);
    }
}

#[test]
fn active_what_is_not_for_a_provider_is_a_protocol_error() {
    for pdu in not_for_a_provider() {
        is_aborted(&mut Station::active(config()), pdu);
    }
}

#[test]
fn a_binding_ends_the_reports_of_the_one_before() {
    let mut station = Station::active(config());
    station.schedule(ReportRequest::Periodically(2));
    assert!(station.provider.due().is_some());
    station.provider.unbound(station.now);
    assert_eq!(station.provider.due(), None);
    station.provider.bound(5, station.now);
    assert_eq!(station.provider.due(), None);
}
