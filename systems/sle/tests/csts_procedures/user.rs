//! The user's side of the procedures, alone.

use crate::station::{MS, buffered_name, sequenced_name};
use bytes::Bytes;
use chronoscope_sle::csts::pdu::names::P_DP_DATA_PROCESSING_COMPLETED;
use chronoscope_sle::csts::pdu::names::{INFORMATION_QUERY, P_SCDP_LOCKED};
use chronoscope_sle::csts::pdu::{
    DataTransferMode, Diagnostic, EventValue, LastOk, LastProcessed, ListOf, Name, NameOwner,
    NotifyExtension, NotifyPdu, Pdu, PeerAbortDiagnostic, PlainReturn, ProcedureName,
    ProcessDataExtension, ProcessDataReturn, ProcessDataReturnExtension, ProcessingNotification,
    ProcessingStatus, SequenceControlledDiagnostic,
};
use chronoscope_sle::csts::procedure::{
    BlockingLimits, CompletionReports, DataUnit, DataUnitFate, DataUnits, ProcedureKind,
    ProcessingUser, SettledUnits, UseError, UserEvent, UserState,
};
use chronoscope_sle::time::{Now, Time};

const NOW: Now = Now { monotonic_ns: 1_000_000_000, utc_ns: 1_767_225_600_000_000_000 };

fn unit() -> DataUnit {
    DataUnit { data: Bytes::from_static(b"frame"), ..DataUnit::default() }
}

fn blocks_of(units: usize, mode: DataTransferMode) -> ProcessingUser {
    let blocking = BlockingLimits { units, octets: 1000, wait_ns: 10 * MS };
    started(ProcessingUser::new(
        buffered_name(),
        ProcedureName::secondary(INFORMATION_QUERY, 1),
        ProcedureKind::Buffered { mode, blocking, reports: CompletionReports::None },
        100,
    ))
}

fn sequence(window: usize) -> ProcessingUser {
    started(ProcessingUser::new(
        sequenced_name(),
        ProcedureName::secondary(INFORMATION_QUERY, 1),
        ProcedureKind::SequenceControlled { window },
        100,
    ))
}

fn started(mut user: ProcessingUser) -> ProcessingUser {
    user.bound();
    let Ok(Pdu::Start(start)) = user.start(1) else { panic!("inactive") };
    assert_eq!((start.invoke_id, user.session()), (100, 100));
    assert_eq!(user.state(), UserState::StartPending);
    let returned = PlainReturn { invoke_id: 100, result: Ok(()), extension: None };
    assert_eq!(user.pdu(Pdu::StartReturn(returned)), Ok(UserEvent::Started(Ok(()))));
    user
}

fn returned(invoke_id: u32, refused: bool, expected: u32) -> Pdu {
    let why = Diagnostic::SequenceControlled(SequenceControlledDiagnostic::UnableToStore);
    Pdu::ProcessDataReturn(ProcessDataReturn {
        invoke_id,
        result: if refused { Err(why) } else { Ok(()) },
        extension: ProcessDataReturnExtension::SequenceControlled {
            data_unit: expected,
            extension: None,
        },
    })
}

fn told(
    procedure: ProcedureName,
    event: chronoscope_sle::csts::pdu::Oid,
    last: Option<(u32, ProcessingStatus)>,
    ok: Option<u32>,
) -> Pdu {
    let time = Time::from_utc_ns(NOW.utc_ns);
    Pdu::Notify(NotifyPdu {
        invoke_id: 0,
        procedure: procedure.clone(),
        time,
        event: Name { owner: NameOwner::Procedure(procedure), id: event },
        value: EventValue::Empty,
        extension: NotifyExtension::DataProcessing(ProcessingNotification {
            last_processed: last.map(|(data_unit, status)| LastProcessed { data_unit, status }),
            last_ok: ok.map(|data_unit| LastOk { data_unit, stop_time: time }),
            production: None,
            extension: None,
        }),
    })
}

fn settled(event: Result<UserEvent, PeerAbortDiagnostic>) -> Vec<SettledUnits> {
    match event.unwrap() {
        UserEvent::Notified { settled, .. } => settled,
        other => panic!("{other:?}"),
    }
}

fn fate(first: u32, count: u32, fate: DataUnitFate) -> SettledUnits {
    SettledUnits { units: DataUnits { first, count }, fate }
}

#[test]
fn a_buffer_goes_when_it_is_full() {
    let mut user = blocks_of(3, DataTransferMode::Complete);
    assert_eq!(user.process(unit(), NOW), Ok((1, None)));
    assert_eq!(user.process(unit(), NOW), Ok((2, None)));
    assert_eq!(user.due(), Some(NOW.monotonic_ns + 10 * MS));
    let Ok((3, Some(Pdu::ForwardBuffer(parts)))) = user.process(unit(), NOW) else { panic!() };
    let numbers: Vec<u32> = parts.iter().map(|part| part.operation.data_unit).collect();
    assert_eq!(numbers, [1, 2, 3]);
    let ids: Vec<u32> = parts.iter().map(|part| part.operation.invoke_id).collect();
    assert_eq!(ids, [101, 102, 103], "one sequence for all operations");
    assert_eq!((user.due(), user.open()), (None, 3));
}

#[test]
fn a_buffer_goes_when_it_has_the_octets() {
    let mut user = blocks_of(300, DataTransferMode::Complete);
    let big = DataUnit { data: Bytes::from(vec![0; 999]), ..DataUnit::default() };
    assert_eq!(user.process(big, NOW), Ok((1, None)));
    assert!(matches!(user.process(unit(), NOW), Ok((2, Some(Pdu::ForwardBuffer(_))))));
}

#[test]
fn one_alone_goes_as_itself() {
    let mut user = blocks_of(1, DataTransferMode::Complete);
    assert!(matches!(user.process(unit(), NOW), Ok((1, Some(Pdu::ProcessData(_))))));
    let mut user = blocks_of(9, DataTransferMode::Complete);
    user.process(unit(), NOW).unwrap();
    let Some(Pdu::ProcessData(one)) = user.flush(true) else { panic!() };
    assert!(matches!(one.extension, ProcessDataExtension::DataProcessing { report: true, .. }));
    assert_eq!(user.flush(true), None);
}

#[test]
fn a_completion_settles_those_before_it() {
    let event = || {
        let ok = ProcessingStatus::SuccessfullyProcessed(Time::from_utc_ns(NOW.utc_ns));
        told(buffered_name(), P_DP_DATA_PROCESSING_COMPLETED, Some((2, ok)), Some(2))
    };
    for (mode, fates) in [
        (DataTransferMode::Complete, vec![fate(1, 2, DataUnitFate::Processed)]),
        (
            DataTransferMode::Timely,
            vec![fate(1, 1, DataUnitFate::Overtaken), fate(2, 1, DataUnitFate::Processed)],
        ),
    ] {
        let mut user = blocks_of(3, mode);
        for _ in 0..4 {
            user.process(unit(), NOW).unwrap();
        }
        assert_eq!(settled(user.pdu(event())), fates);
        assert_eq!(settled(user.pdu(event())), [], "once");
        let left = [fate(3, 1, DataUnitFate::Unknown), fate(4, 1, DataUnitFate::NotSent)];
        assert_eq!(user.ended(), left);
    }
}

#[test]
fn what_was_cut_short_is_lost_alone() {
    let mut user = blocks_of(3, DataTransferMode::Complete);
    for _ in 0..3 {
        user.process(unit(), NOW).unwrap();
    }
    let cut = ProcessingStatus::ProcessingInterrupted(Time::from_utc_ns(NOW.utc_ns));
    let event = told(
        buffered_name(),
        chronoscope_sle::csts::pdu::names::SVC_PRODUCTION_STATUS_CHANGE,
        Some((2, cut)),
        Some(1),
    );
    let fates = [fate(1, 1, DataUnitFate::Processed), fate(2, 1, DataUnitFate::Interrupted)];
    assert_eq!(settled(user.pdu(event)), fates);
    assert_eq!(user.open(), 1);
}

#[test]
fn a_window_of_open_invocations() {
    let mut user = sequence(2);
    for number in [1, 2] {
        assert!(matches!(user.process(unit(), NOW), Ok((n, Some(_))) if n == number));
    }
    assert_eq!(user.process(unit(), NOW), Err(UseError::WindowFull { window: 2 }));
    assert_eq!(user.pdu(returned(101, false, 2)), Ok(UserEvent::Acknowledged(1)));
    assert!(matches!(user.process(unit(), NOW), Ok((3, Some(_)))));
    let fates = [fate(1, 1, DataUnitFate::Acknowledged), fate(2, 2, DataUnitFate::Unknown)];
    assert_eq!(user.ended(), fates);
}

#[test]
fn after_a_refusal_the_expected_one_is_next() {
    let mut user = sequence(3);
    for _ in 0..3 {
        user.process(unit(), NOW).unwrap();
    }
    user.pdu(returned(101, false, 2)).unwrap();
    assert!(matches!(user.pdu(returned(102, true, 2)), Ok(UserEvent::Refused { unit: 2, .. })));
    assert_eq!(user.process(unit(), NOW), Err(UseError::Refused { open: 1, expected: 2 }));
    user.pdu(returned(103, true, 2)).unwrap();
    assert!(matches!(user.process(unit(), NOW), Ok((2, Some(_)))));
}

#[test]
fn locked_all_behind_the_lost_one_are_discarded() {
    let mut user = sequence(9);
    for number in 1..=4u32 {
        user.process(unit(), NOW).unwrap();
        user.pdu(returned(100 + number, false, number + 1)).unwrap();
    }
    let event =
        told(sequenced_name(), P_SCDP_LOCKED, Some((2, ProcessingStatus::Expired)), Some(1));
    let fates = [
        fate(1, 1, DataUnitFate::Processed),
        fate(2, 1, DataUnitFate::Expired),
        fate(3, 2, DataUnitFate::Discarded),
    ];
    assert_eq!(settled(user.pdu(event)), fates);
    assert_eq!(user.state(), UserState::Locked);
    assert!(user.process(unit(), NOW).is_err());
    let Ok(Pdu::ExecuteDirective(reset)) = user.reset(9) else { panic!("locked") };
    let answer = |result| PlainReturn { invoke_id: reset.invoke_id, result, extension: None };
    user.pdu(Pdu::ExecuteDirectiveAcknowledge(answer(Ok(())))).unwrap();
    user.pdu(Pdu::ExecuteDirectiveReturn(answer(Ok(())))).unwrap();
    assert!(matches!(user.process(unit(), NOW), Ok((9, Some(_)))));
}

#[test]
fn stop_settles_what_is_open() {
    let mut user = blocks_of(2, DataTransferMode::Complete);
    for _ in 0..3 {
        user.process(unit(), NOW).unwrap();
    }
    let Ok(Pdu::Stop(stop)) = user.stop() else { panic!("active") };
    let answer = PlainReturn { invoke_id: stop.invoke_id, result: Ok(()), extension: None };
    assert_eq!(user.pdu(Pdu::StopReturn(answer)), Ok(UserEvent::Stopped(Ok(()))));
    let left = [fate(1, 2, DataUnitFate::Unknown), fate(3, 1, DataUnitFate::NotSent)];
    assert_eq!(user.take_settled(), left);
    assert_eq!(user.state(), UserState::Inactive);
}

#[test]
fn what_nobody_waits_for_aborts() {
    let unsolicited = Err(PeerAbortDiagnostic::UnsolicitedInvokeId);
    let mut user = sequence(2);
    assert_eq!(user.pdu(returned(7, false, 1)), unsolicited);
    let answer = PlainReturn { invoke_id: 7, result: Ok(()), extension: None };
    assert_eq!(user.pdu(Pdu::StopReturn(answer.clone())), unsolicited);
    assert_eq!(user.pdu(Pdu::ExecuteDirectiveReturn(answer)), unsolicited);
    let Ok(Pdu::Get(get)) = user.get(ListOf::Default) else { panic!("bound") };
    let answer = PlainReturn { invoke_id: get.invoke_id, result: Ok(()), extension: None };
    assert_eq!(user.pdu(Pdu::StopReturn(answer)), Err(PeerAbortDiagnostic::ProtocolError));
    let other = told(buffered_name(), P_SCDP_LOCKED, None, None);
    assert_eq!(user.pdu(other), Err(PeerAbortDiagnostic::InvalidProcedureName));
}

#[test]
fn unbound_nothing_can_be_done() {
    let mut user = sequence(2);
    user.ended();
    let unbound = UseError::State { state: UserState::Unbound };
    assert_eq!(user.start(1), Err(unbound));
    assert_eq!(user.stop(), Err(unbound));
    assert_eq!(user.get(ListOf::Default), Err(unbound));
    assert_eq!(user.process(unit(), NOW), Err(unbound));
    assert_eq!(
        blocks_of(1, DataTransferMode::Complete).reset(1),
        Err(UseError::NotOfProcedure("reset"))
    );
}

#[test]
fn the_last_of_each_buffer_is_told_where_that_was_agreed() {
    for (reports, told) in [
        (CompletionReports::None, [false, false]),
        (CompletionReports::Last, [false, true]),
        (CompletionReports::Every, [true, true]),
    ] {
        let blocking = BlockingLimits { units: 2, octets: 1000, wait_ns: 0 };
        let mode = DataTransferMode::Complete;
        let query = ProcedureName::secondary(INFORMATION_QUERY, 1);
        let kind = ProcedureKind::Buffered { mode, blocking, reports };
        let mut user = started(ProcessingUser::new(buffered_name(), query, kind, 100));
        user.process(unit(), NOW).unwrap();
        let Ok((2, Some(Pdu::ForwardBuffer(parts)))) = user.process(unit(), NOW) else { panic!() };
        let asked: Vec<bool> = parts
            .iter()
            .map(|part| {
                matches!(
                    part.operation.extension,
                    ProcessDataExtension::DataProcessing { report: true, .. }
                )
            })
            .collect();
        assert_eq!(asked, told);
        assert_eq!(user.is_drained(), reports == CompletionReports::None);
        let ok = ProcessingStatus::SuccessfullyProcessed(Time::from_utc_ns(NOW.utc_ns));
        let name = P_DP_DATA_PROCESSING_COMPLETED;
        user.pdu(self::told(buffered_name(), name, Some((2, ok)), Some(2))).unwrap();
        assert!(user.is_drained());
    }
}
