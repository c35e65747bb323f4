//! The provider of Sequence-Controlled Data Processing.

use crate::station::{MS, Provider, Station, buffered_name, events, names};
use chronoscope_sle::csts::pdu::SequenceControlledDiagnostic as Refused;
use chronoscope_sle::csts::pdu::names::{
    P_DP_DATA_PROCESSING_COMPLETED, P_SCDP_EXPIRED, P_SCDP_LOCKED, P_SCDP_RESET,
    P_SCDP_RESET_QUALIFIER, SVC_PRODUCTION_STATUS_CHANGE,
};
use chronoscope_sle::csts::pdu::{
    Diagnostic, DirectiveAcknowledgeDiagnostic, DirectiveQualifier, DirectiveReturnDiagnostic,
    ExecuteDirective, Oid, Pdu, PeerAbortDiagnostic, PlainReturn, ProcessData,
    ProcessDataExtension, ProcessDataReturn, ProcessDataReturnExtension, ProcessingStatus,
    QualifierValues, StartDiagnostic, StartExtension, StartPdu,
};
use chronoscope_sle::csts::procedure::{ProcedureAction, ProcedureState, value};
use chronoscope_sle::pdu::CltuProductionStatus as Status;
use chronoscope_sle::time::Time;

/// A data unit's result, and the number that is expected next.
fn give(station: &mut Station, unit: ProcessData) -> (Result<(), Refused>, u32) {
    let id = unit.invoke_id;
    let out = station.pdu(Pdu::ProcessData(unit));
    let Some(ProcedureAction::Send(Pdu::ProcessDataReturn(ProcessDataReturn {
        invoke_id,
        result,
        extension: ProcessDataReturnExtension::SequenceControlled { data_unit, .. },
    }))) = out.first()
    else {
        panic!("{out:?}")
    };
    assert_eq!(*invoke_id, id);
    let result = result.clone().map_err(|diagnostic| match diagnostic {
        Diagnostic::SequenceControlled(refused) => refused,
        other => panic!("{other:?}"),
    });
    (result, *data_unit)
}

/// As [`give`], of a data unit that is nothing but its number and length.
fn send(station: &mut Station, number: u32, octets: usize) -> (Result<(), Refused>, u32) {
    let unit = station.unit(number, octets);
    give(station, unit)
}

fn timed(
    station: &Station,
    number: u32,
    earliest: Option<Time>,
    latest: Option<Time>,
) -> ProcessData {
    let extension = ProcessDataExtension::SequenceControlled {
        report: true,
        earliest,
        latest,
        extension: None,
    };
    ProcessData { extension, ..station.unit(number, 1) }
}

fn directive(station: &Station, directive: Oid, values: QualifierValues) -> Pdu {
    Pdu::ExecuteDirective(ExecuteDirective {
        invoke_id: 9,
        procedure: station.procedure.clone(),
        directive,
        qualifier: DirectiveQualifier::Local(values),
        extension: None,
    })
}

fn reset_to(station: &Station, first: u32) -> Pdu {
    let value = value::integer(P_SCDP_RESET_QUALIFIER, first);
    directive(station, P_SCDP_RESET, QualifierValues::Parameterless(value))
}

fn acknowledged(out: &[ProcedureAction]) -> Result<(), Diagnostic> {
    match out.first() {
        Some(ProcedureAction::Send(Pdu::ExecuteDirectiveAcknowledge(PlainReturn {
            invoke_id: 9,
            result,
            ..
        }))) => result.clone(),
        other => panic!("{other:?}"),
    }
}

/// Result of the directive, where it is there.
fn done(out: &[ProcedureAction]) -> Option<Result<(), Diagnostic>> {
    out.iter().find_map(|action| match action {
        ProcedureAction::Send(Pdu::ExecuteDirectiveReturn(PlainReturn {
            invoke_id: 9,
            result,
            ..
        })) => Some(result.clone()),
        _ => None,
    })
}

/// Locked, because the first of two data units was cut short.
fn locked() -> Station {
    let mut station = Station::sequenced(9).started();
    for number in [1, 2] {
        assert_eq!(send(&mut station, number, 1).0, Ok(()));
    }
    assert_eq!(station.radiates(), Some(1));
    let told = station.production(Status::Interrupted);
    assert_eq!(names(&told), [SVC_PRODUCTION_STATUS_CHANGE, P_SCDP_LOCKED]);
    assert_eq!(station.state(), ProcedureState::Locked);
    station
}

#[test]
fn inactive_start() {
    let mut station = Station::sequenced(9);
    assert_eq!(station.start(4), Ok(()));
    assert_eq!(send(&mut station, 4, 1), (Ok(()), 5));
}

#[test]
fn inactive_start_while_production_stopped() {
    let mut station = Station::sequenced(9);
    station.production(Status::Interrupted);
    let refused = station.start(1).unwrap_err();
    assert!(matches!(refused, Diagnostic::Start(StartDiagnostic::UnableToComply(_))));
    station.production(Status::Halted);
    let refused = station.start(1).unwrap_err();
    assert!(matches!(refused, Diagnostic::Start(StartDiagnostic::OutOfService(_))));
    station.production(Status::Configured);
    assert_eq!(station.start(1), Ok(()));
}

#[test]
fn inactive_start_without_a_first_data_unit() {
    let mut station = Station::sequenced(9);
    let (procedure, extension) = (station.procedure.clone(), StartExtension::NotUsed);
    let out = station.pdu(Pdu::Start(StartPdu { invoke_id: 7, procedure, extension }));
    assert!(format!("{out:?}").contains("UnsupportedOption"), "{out:?}");
    assert_eq!(station.state(), ProcedureState::Inactive);
}

#[test]
fn what_the_state_does_not_allow_is_a_protocol_error() {
    let station = || Station::sequenced(9);
    let error = PeerAbortDiagnostic::ProtocolError;
    for pdu in
        [station().stop_pdu(), Pdu::ProcessData(station().unit(1, 1)), reset_to(&station(), 1)]
    {
        assert_eq!(station().abort(pdu), error);
    }
    let mut started = station().started();
    let buffer = started.block(&[1]);
    assert_eq!(started.abort(buffer), error, "forward buffers are the other procedure's");
    let mut started = station().started();
    let again = started.start_pdu(1);
    assert_eq!(started.abort(again), error);
    let mut locked = locked();
    let again = locked.start_pdu(1);
    assert_eq!(locked.abort(again), error);
}

#[test]
fn active_data_units_follow_each_other() {
    let mut station = Station::sequenced(9).started();
    assert_eq!(send(&mut station, 1, 1), (Ok(()), 2));
    assert_eq!(send(&mut station, 3, 1), (Err(Refused::OutOfSequence), 2));
    assert_eq!(send(&mut station, 1, 1), (Err(Refused::OutOfSequence), 2));
    assert_eq!(send(&mut station, 2, 1), (Ok(()), 3));
    assert_eq!(station.radiate_all(), [1, 2]);
}

#[test]
fn active_numbers_wrap() {
    let mut station = Station::sequenced(9);
    station.start(u32::MAX).unwrap();
    assert_eq!(send(&mut station, u32::MAX, 1), (Ok(()), 0));
    assert_eq!(send(&mut station, 0, 1), (Ok(()), 1));
}

#[test]
fn active_times() {
    let mut station = Station::sequenced(9).started();
    let at = |after_ns| Some(station.at(after_ns));
    let (soon, later) = (at(2 * MS), at(5 * MS));
    let before = Some(Time::from_utc_ns(station.now.utc_ns - MS));
    let no_time = Some(Time::Micro([0xff; 8]));
    let refused = |station: &mut Station, earliest, latest| {
        let unit = timed(station, 1, earliest, latest);
        give(station, unit)
    };
    let range = refused(&mut station, later, soon);
    assert_eq!(range, (Err(Refused::InconsistentTimeRange), 1));
    assert_eq!(refused(&mut station, None, before), (Err(Refused::LateData), 1));
    assert_eq!(refused(&mut station, no_time, None), (Err(Refused::InvalidTime), 1));
    assert_eq!(refused(&mut station, soon, later), (Ok(()), 2));
    assert_eq!(station.radiates(), None, "too early");
    station.pass(2 * MS);
    assert_eq!(station.radiates(), Some(1));
}

#[test]
fn active_what_is_no_data_unit() {
    let mut station = Station::sequenced(9).started();
    for octets in [0, 9] {
        assert_eq!(send(&mut station, 1, octets), (Err(Refused::DataError), 1));
    }
    let other = value::integer(P_SCDP_EXPIRED, 1);
    let unit = ProcessData { extension: ProcessDataExtension::Other(other), ..station.unit(1, 1) };
    assert_eq!(give(&mut station, unit), (Err(Refused::DataError), 1));
}

#[test]
fn active_the_queue_is_full() {
    let mut station = Station::sequenced(1).started();
    assert_eq!(send(&mut station, 1, 1), (Ok(()), 2));
    assert_eq!(send(&mut station, 2, 1), (Err(Refused::UnableToStore), 2));
    assert_eq!(station.radiates(), Some(1));
    assert_eq!(send(&mut station, 2, 1), (Ok(()), 3));
}

#[test]
fn active_a_completion_is_told() {
    let mut station = Station::sequenced(9).started();
    assert_eq!(send(&mut station, 1, 1), (Ok(()), 2));
    assert_eq!(station.radiates(), Some(1));
    station.pass(MS);
    assert_eq!(station.radiates(), None);
    let told = events(&station.told());
    assert_eq!(told[0].0, P_DP_DATA_PROCESSING_COMPLETED);
    assert_eq!(told[0].1.last_ok.unwrap().data_unit, 1);
}

#[test]
fn active_an_expired_data_unit_locks() {
    let mut station = Station::sequenced(9).started();
    let unit = timed(&station, 1, Some(station.at(MS)), Some(station.at(2 * MS)));
    assert_eq!(give(&mut station, unit), (Ok(()), 2));
    assert_eq!(send(&mut station, 2, 1), (Ok(()), 3));
    station.pass(3 * MS);
    assert_eq!(station.radiates(), None);
    let told = events(&station.told());
    let [(expired, said), (is_locked, _)] = &told[..] else { panic!("{told:?}") };
    assert_eq!((expired, is_locked), (&P_SCDP_EXPIRED, &P_SCDP_LOCKED));
    let last = said.last_processed.as_ref().unwrap();
    assert_eq!((last.data_unit, &last.status), (1, &ProcessingStatus::Expired));
    assert_eq!(send(&mut station, 3, 1), (Err(Refused::ServiceInstanceLocked), 3));
    assert!(station.radiate_all().is_empty(), "those behind it go with it");
}

#[test]
fn active_an_interruption_that_hits_nothing_is_not_told() {
    let mut station = Station::sequenced(9).started();
    assert_eq!(station.production(Status::Interrupted), []);
    assert_eq!(station.state(), ProcedureState::Active);
    assert_eq!(send(&mut station, 1, 1), (Ok(()), 2));
    assert_eq!(station.radiates(), None, "its turn is the interruption's");
    assert_eq!(names(&station.told()), [SVC_PRODUCTION_STATUS_CHANGE, P_SCDP_LOCKED]);
}

#[test]
fn active_halted_locks() {
    let mut station = Station::sequenced(9).started();
    let told = station.production(Status::Halted);
    assert_eq!(names(&told), [SVC_PRODUCTION_STATUS_CHANGE, P_SCDP_LOCKED]);
    assert_eq!(station.state(), ProcedureState::Locked);
}

#[test]
fn locked_data_units_are_refused_also_when_production_goes_on() {
    let mut station = locked();
    assert_eq!(send(&mut station, 3, 1), (Err(Refused::ServiceInstanceLocked), 3));
    assert_eq!(names(&station.production(Status::Configured)), [SVC_PRODUCTION_STATUS_CHANGE]);
    assert_eq!(names(&station.production(Status::Operational)), [SVC_PRODUCTION_STATUS_CHANGE]);
    assert_eq!(send(&mut station, 3, 1), (Err(Refused::ServiceInstanceLocked), 3));
}

#[test]
fn locked_stop_and_start_again() {
    let mut station = locked();
    station.production(Status::Operational);
    assert_eq!(station.stop(), []);
    assert_eq!(station.start(1), Ok(()));
    assert_eq!(send(&mut station, 1, 1), (Ok(()), 2));
    assert_eq!(station.radiate_all(), [1]);
}

#[test]
fn locked_reset() {
    let mut station = locked();
    station.production(Status::Operational);
    let out = station.pdu(reset_to(&station, 40));
    assert_eq!(acknowledged(&out), Ok(()));
    assert_eq!(done(&out), Some(Ok(())));
    assert_eq!(station.state(), ProcedureState::Active);
    assert_eq!(send(&mut station, 40, 1), (Ok(()), 41));
    assert_eq!(station.radiate_all(), [40]);
}

#[test]
fn locked_reset_waits_for_production() {
    let mut station = locked();
    let out = station.pdu(reset_to(&station, 40));
    assert_eq!((acknowledged(&out), done(&out)), (Ok(()), None));
    assert_eq!(send(&mut station, 40, 1).0, Err(Refused::ServiceInstanceLocked));
    let again = station.pdu(reset_to(&station, 50));
    assert!(acknowledged(&again).is_err(), "one at a time");
    let out = station.production(Status::Operational);
    assert_eq!(done(&out), Some(Ok(())));
    assert_eq!(send(&mut station, 40, 1), (Ok(()), 41));
}

#[test]
fn active_reset_waits_for_what_is_on_the_air() {
    let mut station = Station::sequenced(9).started();
    for number in [1, 2] {
        assert_eq!(send(&mut station, number, 1).0, Ok(()));
    }
    assert_eq!(station.radiates(), Some(1));
    let out = station.pdu(reset_to(&station, 7));
    assert_eq!((acknowledged(&out), done(&out)), (Ok(()), None));
    station.pass(MS);
    assert_eq!(station.radiates(), None, "the second was discarded");
    let out = station.told();
    assert_eq!(names(&out), [P_DP_DATA_PROCESSING_COMPLETED]);
    assert_eq!(done(&out), Some(Ok(())));
    assert_eq!(send(&mut station, 7, 1), (Ok(()), 8));
}

#[test]
fn stop_ends_a_reset() {
    let mut station = locked();
    station.pdu(reset_to(&station, 40));
    let out = station.stop();
    let why = DirectiveReturnDiagnostic::ActionNotCompleted(None);
    assert_eq!(done(&out), Some(Err(Diagnostic::DirectiveReturn(why))));
    assert_eq!(done(&station.production(Status::Operational)), None);
}

#[test]
fn directives_that_are_none() {
    use DirectiveAcknowledgeDiagnostic::{UnknownDirective, UnknownQualifier};
    let mut station = Station::sequenced(9).started();
    let value = value::integer(P_SCDP_RESET_QUALIFIER, 1);
    let wrong_type = value::integer(P_SCDP_EXPIRED, 1);
    let mut no_number = value.clone();
    no_number.value = bytes::Bytes::from_static(&[4, 1, 1]);
    let cases = [
        (P_SCDP_LOCKED, QualifierValues::Parameterless(value), UnknownDirective),
        (P_SCDP_RESET, QualifierValues::None, UnknownQualifier),
        (P_SCDP_RESET, QualifierValues::Parameterless(wrong_type), UnknownQualifier),
        (P_SCDP_RESET, QualifierValues::Parameterless(no_number), UnknownQualifier),
    ];
    for (name, values, refused) in cases {
        let out = station.pdu(directive(&station, name, values));
        assert_eq!(acknowledged(&out), Err(Diagnostic::DirectiveAcknowledge(refused)));
        assert_eq!(done(&out), None, "a refusal is the end");
        assert_eq!(station.state(), ProcedureState::Active);
    }
}

#[test]
fn unbound_nothing_is_answered() {
    let mut station = locked();
    if let Provider::Sequenced(provider) = &mut station.provider {
        provider.unbound();
    }
    assert_eq!(station.pdu(station.start_pdu(1)), []);
    assert_eq!(station.production(Status::Operational), []);
    assert_ne!(station.procedure, buffered_name());
}
