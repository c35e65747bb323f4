//! The provider of Buffered Data Processing.

use crate::station::{MS, Provider, Station, events, names, sequenced_name};
use chronoscope_sle::csts::pdu::DataTransferMode::{Complete, Timely};
use chronoscope_sle::csts::pdu::names::{
    P_DP_DATA_PROCESSING_COMPLETED, SVC_PRODUCTION_STATUS_CHANGE,
};
use chronoscope_sle::csts::pdu::{
    AbstractChoice, BufferedOperation, Diagnostic, Pdu, PeerAbortDiagnostic, ProcessingStatus,
    ProductionStatus, StartDiagnostic, StartExtension, StartPdu,
};
use chronoscope_sle::csts::procedure::{BufferedProvider, ProcedureState};
use chronoscope_sle::pdu::CltuProductionStatus as Status;

fn provider(station: &Station) -> &BufferedProvider {
    match &station.provider {
        Provider::Buffered(provider) => provider,
        Provider::Sequenced(_) => panic!("of the other procedure"),
    }
}

#[test]
fn inactive_start() {
    let mut station = Station::buffered(Complete, 9, 0);
    assert_eq!(station.start(0), Ok(()));
    assert_eq!(station.state(), ProcedureState::Active);
}

#[test]
fn inactive_start_while_halted() {
    let mut station = Station::buffered(Complete, 9, 0);
    assert_eq!(station.production(Status::Halted), []);
    let refused = station.start(0).unwrap_err();
    assert!(matches!(refused, Diagnostic::Start(StartDiagnostic::OutOfService(_))), "{refused:?}");
    assert_eq!(station.state(), ProcedureState::Inactive);
    station.production(Status::Interrupted);
    assert_eq!(station.start(0), Ok(()), "data units wait for its end");
}

#[test]
fn inactive_start_as_the_other_procedure_has_it() {
    let mut station = Station::buffered(Complete, 9, 0);
    let extension = StartExtension::SequenceControlled { first_data_unit: 1, extension: None };
    let procedure = station.procedure.clone();
    let out = station.pdu(Pdu::Start(StartPdu { invoke_id: 7, procedure, extension }));
    assert!(format!("{out:?}").contains("UnsupportedOption"), "{out:?}");
    assert_eq!(station.state(), ProcedureState::Inactive);
}

#[test]
fn inactive_anything_else_is_a_protocol_error() {
    let station = || Station::buffered(Complete, 9, 0);
    let error = PeerAbortDiagnostic::ProtocolError;
    for pdu in [station().stop_pdu(), Pdu::ProcessData(station().unit(1, 1)), station().block(&[1])]
    {
        assert_eq!(station().abort(pdu), error);
    }
    let mut started = station().started();
    let again = started.start_pdu(1);
    assert_eq!(started.abort(again), error);
}

#[test]
fn active_data_units_are_processed_in_their_order_and_not_returned() {
    let mut station = Station::buffered(Complete, 9, 0).started();
    assert_eq!(station.pdu(Pdu::ProcessData(station.unit(5, 1))), []);
    assert_eq!(station.pdu(station.block(&[6, 9, 7])), [], "numbers are the user's");
    assert_eq!(station.radiate_all(), [5, 6, 9, 7]);
    assert_eq!(provider(&station).counts().taken, 4);
}

#[test]
fn active_a_completion_that_was_asked_for_is_told() {
    let mut station = Station::buffered(Complete, 9, 0).started();
    station.pdu(station.block(&[1, 2]));
    assert_eq!(station.radiates(), Some(1));
    station.pass(MS);
    assert_eq!(station.radiates(), Some(2));
    let told = events(&station.told());
    let [(event, said)] = &told[..] else { panic!("{told:?}") };
    assert_eq!(*event, P_DP_DATA_PROCESSING_COMPLETED);
    let last = said.last_processed.as_ref().unwrap();
    assert_eq!(last.data_unit, 1);
    assert!(matches!(last.status, ProcessingStatus::SuccessfullyProcessed(_)));
    assert_eq!(said.last_ok.unwrap().data_unit, 1);
    assert_eq!(said.production, Some(ProductionStatus::Operational));
}

#[test]
fn active_a_forward_buffer_that_is_too_large() {
    let mut station = Station::buffered(Complete, 9, 0).started();
    assert_eq!(
        station.abort(station.block(&[1, 2, 3, 4])),
        PeerAbortDiagnostic::ForwardBufferTooLarge
    );
    assert_eq!(PeerAbortDiagnostic::ForwardBufferTooLarge.octet(), 70);
}

#[test]
fn active_a_forward_buffer_with_another_procedures_data() {
    let mut station = Station::buffered(Complete, 9, 0).started();
    let mut other = station.unit(2, 1);
    other.procedure = sequenced_name();
    let parts = vec![BufferedOperation::from(station.unit(1, 1)), BufferedOperation::from(other)];
    let why = station.abort(Pdu::ForwardBuffer(parts));
    assert_eq!(why, PeerAbortDiagnostic::InvalidProcedureName);
}

#[test]
fn active_what_is_no_data_unit_is_counted() {
    let mut station = Station::buffered(Complete, 9, 0).started();
    for octets in [0, 9] {
        assert_eq!(station.pdu(Pdu::ProcessData(station.unit(1, octets))), []);
    }
    let mut extended = station.unit(2, 1);
    extended.data = AbstractChoice::Extended(chronoscope_sle::csts::procedure::value::integer(
        P_DP_DATA_PROCESSING_COMPLETED,
        1,
    ));
    station.pdu(Pdu::ProcessData(extended));
    let counts = provider(&station).counts();
    assert_eq!((counts.unfit, counts.taken), (3, 0));
}

#[test]
fn active_complete_reading_stops_while_the_queue_is_full() {
    let mut station = Station::buffered(Complete, 2, 0).started();
    station.pdu(station.block(&[1, 2]));
    assert!(!provider(&station).is_suspended());
    station.pdu(station.block(&[3, 4, 5]));
    assert!(provider(&station).is_suspended());
    assert_eq!(station.radiate_all(), [1, 2, 3, 4, 5], "none is lost");
    assert!(!provider(&station).is_suspended());
    assert_eq!(provider(&station).counts().taken, 5);
}

#[test]
fn active_complete_stop_throws_away_what_waits_for_room() {
    let mut station = Station::buffered(Complete, 2, 0).started();
    station.pdu(station.block(&[1, 2, 3]));
    assert!(provider(&station).is_suspended());
    assert_eq!(station.stop(), []);
    assert!(!provider(&station).is_suspended());
    assert!(station.radiate_all().is_empty());
}

#[test]
fn active_timely_the_oldest_make_room() {
    let mut station = Station::buffered(Timely, 2, 0).started();
    station.pdu(station.block(&[1, 2]));
    station.pdu(station.block(&[3]));
    assert!(!provider(&station).is_suspended());
    assert_eq!(station.radiate_all(), [2, 3]);
    station.pdu(station.block(&[4, 5, 6]));
    assert_eq!(station.radiate_all(), [5, 6], "more than the queue holds");
    assert_eq!(provider(&station).counts().overrun, 2);
}

#[test]
fn active_timely_the_processing_latency_limit() {
    let mut station = Station::buffered(Timely, 9, 5).started();
    station.production(Status::Interrupted);
    station.pdu(Pdu::ProcessData(station.unit(1, 1)));
    station.pass(4 * MS);
    station.pdu(Pdu::ProcessData(station.unit(2, 1)));
    station.pass(2 * MS);
    station.production(Status::Operational);
    assert_eq!(station.radiate_all(), [2], "the first has waited 6 ms");
}

#[test]
fn active_complete_knows_no_latency_limit() {
    let mut station = Station::buffered(Complete, 9, 5).started();
    station.production(Status::Interrupted);
    station.pdu(Pdu::ProcessData(station.unit(1, 1)));
    station.pass(1000 * MS);
    station.production(Status::Operational);
    assert_eq!(station.radiate_all(), [1]);
}

#[test]
fn active_an_interruption_is_told_where_it_holds_something_up() {
    let mut station = Station::buffered(Complete, 9, 0).started();
    assert_eq!(station.production(Status::Interrupted), []);
    assert_eq!(station.production(Status::Operational), []);
    station.pdu(station.block(&[1, 2]));
    assert_eq!(station.radiates(), Some(1));
    let told = station.production(Status::Interrupted);
    let [(event, said)] = &events(&told)[..] else { panic!("{told:?}") };
    assert_eq!(*event, SVC_PRODUCTION_STATUS_CHANGE);
    assert_eq!(said.production, None, "the event says it");
    let last = said.last_processed.as_ref().unwrap();
    assert!(matches!(last.status, ProcessingStatus::ProcessingInterrupted(_)), "{last:?}");
    assert_eq!(names(&station.production(Status::Operational)), [SVC_PRODUCTION_STATUS_CHANGE]);
    assert_eq!(station.radiate_all(), [2]);
}

#[test]
fn active_halt_and_configuration_are_told() {
    let mut station = Station::buffered(Complete, 9, 0).started();
    for status in [Status::Halted, Status::Configured, Status::Operational] {
        let told = names(&station.production(status));
        assert_eq!(told, [SVC_PRODUCTION_STATUS_CHANGE], "{status:?}");
    }
    assert_eq!(station.state(), ProcedureState::Active);
}

#[test]
fn inactive_nothing_is_told() {
    let mut station = Station::buffered(Complete, 9, 0).started();
    station.pdu(station.block(&[1, 2]));
    assert_eq!(station.radiates(), Some(1));
    station.stop();
    station.pass(MS);
    assert_eq!(station.radiates(), None, "what waited is discarded");
    assert_eq!(station.told(), []);
    assert_eq!(station.start(0), Ok(()));
    assert_eq!(station.told(), [], "of what was on the air before");
    assert_eq!(station.production(Status::Interrupted), []);
}

#[test]
fn unbound_the_queue_is_discarded() {
    let mut station = Station::buffered(Complete, 2, 0).started();
    station.pdu(station.block(&[1, 2, 3]));
    if let Provider::Buffered(provider) = &mut station.provider {
        provider.unbound();
    }
    assert_eq!(station.pdu(station.start_pdu(1)), []);
    assert!(station.radiate_all().is_empty());
}
