//! The user's side: states, window, invoke ids, and what is made of what comes.

use crate::station::{DAY_NS, S};
use bytes::Bytes;
use chronoscope_sle::pdu::{
    BufferNotification, CltuAsyncNotify, CltuLastOk, CltuLastProcessed, CltuNotification,
    CltuProductionStatus, CltuStatus, CltuTransferDataReturn, Diagnostic, ParameterName, Pdu,
    PeerAbortDiagnostic, PositiveStartReturn, ReportRequest, StartRequest, UplinkStatus,
};
use chronoscope_sle::service::fcltu::{
    CltuFate, CltuRange, CltuTransfer, FcltuUser, SettledCltus, UseError, UserEvent, UserState,
    diagnostic,
};
use chronoscope_sle::time::{Now, Time};

const NOW: Now = Now { monotonic_ns: 0, utc_ns: DAY_NS };

fn ready(window: usize) -> FcltuUser {
    let mut user = FcltuUser::new(window);
    user.bound();
    user
}

fn active(window: usize, first: u32) -> FcltuUser {
    let mut user = ready(window);
    start(&mut user, first);
    user
}

fn started() -> Result<PositiveStartReturn, Diagnostic> {
    Ok(PositiveStartReturn::Cltu {
        start_radiation: Time::from_utc_ns(DAY_NS),
        stop_radiation: None,
    })
}

fn start(user: &mut FcltuUser, first: u32) -> UserEvent {
    let Pdu::Start { invoke_id, start } = user.start(first).unwrap() else { panic!() };
    assert_eq!(start, StartRequest::Cltu { first_cltu: first });
    assert_eq!(user.state(), UserState::StartPending);
    let event = user.pdu(Pdu::StartReturn { invoke_id, result: started() }, NOW).unwrap();
    assert_eq!(user.state(), UserState::Active);
    event
}

/// Sends one; its invoke id.
fn send(user: &mut FcltuUser) -> Result<u16, UseError> {
    let data = Bytes::from_static(b"x");
    match user.transfer(CltuTransfer { data, ..CltuTransfer::default() })? {
        Pdu::CltuTransferData(sent) => Ok(sent.invoke_id),
        other => panic!("{other:?}"),
    }
}

fn answer(invoke_id: u16, next_cltu: u32, result: Result<(), Diagnostic>) -> Pdu {
    let buffer_available = 1000;
    Pdu::CltuTransferDataReturn(CltuTransferDataReturn {
        invoke_id,
        next_cltu,
        buffer_available,
        result,
    })
}

fn at(s: u64) -> Time {
    Time::from_utc_ns(DAY_NS + s * S)
}

fn notify(
    notification: CltuNotification,
    last_processed: Option<CltuLastProcessed>,
    last_ok: Option<(u32, Time)>,
) -> Pdu {
    Pdu::CltuAsyncNotify(CltuAsyncNotify {
        notification,
        last_processed,
        last_ok: last_ok.map(|(cltu, stop_radiation)| CltuLastOk { cltu, stop_radiation }),
        production: CltuProductionStatus::Operational,
        uplink: UplinkStatus::Nominal,
    })
}

fn settled(user: &mut FcltuUser, pdu: Pdu) -> Vec<(u32, u32, CltuFate)> {
    match user.pdu(pdu, NOW).unwrap() {
        UserEvent::Notified { settled, .. } | UserEvent::Report { settled, .. } => flat(&settled),
        other => panic!("{other:?}"),
    }
}

fn flat(settled: &[SettledCltus]) -> Vec<(u32, u32, CltuFate)> {
    settled.iter().map(|s| (s.cltus.first, s.cltus.count, s.fate)).collect()
}

/// Sends and acknowledges CLTUs from `first` on.
fn take(user: &mut FcltuUser, first: u32, count: u32) {
    for number in first..first + count {
        let id = send(user).unwrap();
        user.pdu(answer(id, number + 1, Ok(())), NOW).unwrap();
    }
}

#[test]
fn states_of_a_user() {
    let mut user = FcltuUser::new(4);
    let unbound = UseError::State { state: UserState::Unbound };
    assert_eq!(user.start(1).unwrap_err(), unbound);
    assert_eq!(user.get_parameter(ParameterName::BUFFER_SIZE).unwrap_err(), unbound);
    user.bound();
    let in_ready = UseError::State { state: UserState::Ready };
    assert_eq!(user.stop().unwrap_err(), in_ready);
    assert_eq!(send(&mut user).unwrap_err(), in_ready);

    let Pdu::Start { invoke_id, .. } = user.start(1).unwrap() else { panic!() };
    let result = Err(diagnostic::START_OUT_OF_SERVICE);
    let refused = user.pdu(Pdu::StartReturn { invoke_id, result }, NOW).unwrap();
    assert_eq!(refused, UserEvent::StartRefused(diagnostic::START_OUT_OF_SERVICE));
    assert_eq!(user.state(), UserState::Ready);
    start(&mut user, 1);

    let Pdu::Stop { invoke_id } = user.stop().unwrap() else { panic!() };
    assert_eq!(user.state(), UserState::StopPending);
    assert!(send(&mut user).is_err());
    let result = Err(Diagnostic::OtherReason);
    let refused = user.pdu(Pdu::StopReturn { invoke_id, result }, NOW).unwrap();
    assert_eq!(refused, UserEvent::StopRefused(Diagnostic::OtherReason));
    assert_eq!(user.state(), UserState::Active);
    let Pdu::Stop { invoke_id } = user.stop().unwrap() else { panic!() };
    let stopped = user.pdu(Pdu::StopReturn { invoke_id, result: Ok(()) }, NOW).unwrap();
    assert_eq!(stopped, UserEvent::Stopped);
    assert_eq!(user.state(), UserState::Ready);
    user.ended();
    assert_eq!(user.state(), UserState::Unbound);
}

#[test]
fn the_window_closes_and_opens() {
    let mut user = active(2, 1);
    let first = send(&mut user).unwrap();
    send(&mut user).unwrap();
    assert_eq!(send(&mut user).unwrap_err(), UseError::WindowFull { window: 2 });
    let event = user.pdu(answer(first, 2, Ok(())), NOW).unwrap();
    let cltus = CltuRange { first: 1, count: 1 };
    assert_eq!(event, UserEvent::Acknowledged { cltus, buffer_available: 1000 });
    assert_eq!(user.buffer_available(), Some(1000));
    assert!(send(&mut user).is_ok());
    assert_eq!(user.unacknowledged(), 2);
}

#[test]
fn invoke_ids_wrap_past_those_that_are_open() {
    let mut user = active(10, 0);
    let Pdu::GetParameter { invoke_id: open, .. } =
        user.get_parameter(ParameterName::BUFFER_SIZE).unwrap()
    else {
        panic!()
    };
    for number in 0..70_000 {
        let id = send(&mut user).unwrap();
        assert_ne!(id, open);
        user.pdu(answer(id, number + 1, Ok(())), NOW).unwrap();
    }
}

#[test]
fn after_a_refusal_the_expected_number_is_sent_when_all_are_answered() {
    let mut user = active(10, 1);
    let ids: Vec<u16> = (0..3).map(|_| send(&mut user).unwrap()).collect();
    user.pdu(answer(ids[0], 2, Ok(())), NOW).unwrap();
    let diagnostic = diagnostic::TRANSFER_UNABLE_TO_STORE;
    let refused = user.pdu(answer(ids[1], 2, Err(diagnostic)), NOW).unwrap();
    let cltus = CltuRange { first: 2, count: 1 };
    assert_eq!(
        refused,
        UserEvent::Refused { cltus, taken: None, diagnostic, expected: 2, buffer_available: 1000 }
    );
    assert_eq!(send(&mut user).unwrap_err(), UseError::Refused { open: 1, expected: 2 });
    assert_eq!(user.next_cltu(), 2);
    let diagnostic = diagnostic::TRANSFER_OUT_OF_SEQUENCE;
    user.pdu(answer(ids[2], 2, Err(diagnostic)), NOW).unwrap();
    let Pdu::CltuTransferData(again) = user.transfer(CltuTransfer::default()).unwrap() else {
        panic!()
    };
    assert_eq!(again.cltu, 2);
}

#[test]
fn of_a_refused_buffer_the_first_ones_may_be_taken() {
    let mut user = active(10, 1);
    let none = user.transfer_buffer(Vec::new(), BufferNotification::None);
    assert_eq!(none.unwrap_err(), UseError::BufferCount { count: 0 });
    let cltus = vec![Bytes::from_static(b"x"); 5];
    let Pdu::CltuTransferBuffer(sent) =
        user.transfer_buffer(cltus, BufferNotification::Last).unwrap()
    else {
        panic!()
    };
    assert_eq!(sent.cltus.iter().map(|(id, _)| *id).collect::<Vec<_>>(), [1, 2, 3, 4, 5]);
    let diagnostic = diagnostic::TRANSFER_UNABLE_TO_STORE;
    let event = user.pdu(answer(sent.invoke_id, 3, Err(diagnostic)), NOW).unwrap();
    let expected = UserEvent::Refused {
        cltus: CltuRange { first: 3, count: 3 },
        taken: Some(CltuRange { first: 1, count: 2 }),
        diagnostic,
        expected: 3,
        buffer_available: 1000,
    };
    assert_eq!(event, expected);
    assert_eq!(flat(&user.ended()), [(1, 2, CltuFate::Acknowledged)]);
}

#[test]
fn a_radiated_cltu_stands_for_those_before_it() {
    let mut user = active(10, 10);
    take(&mut user, 10, 5);
    let status = CltuStatus::Radiated;
    let last = CltuLastProcessed { cltu: 12, start_radiation: Some(at(1)), status };
    let radiated = notify(CltuNotification::CltuRadiated, Some(last), Some((12, at(2))));
    assert_eq!(settled(&mut user, radiated.clone()), [(10, 3, CltuFate::Radiated)]);
    assert_eq!(settled(&mut user, radiated), []);
    assert_eq!(flat(&user.ended()), [(13, 2, CltuFate::Acknowledged)]);
}

#[test]
fn a_report_stands_for_those_that_were_radiated() {
    let mut user = active(10, 1);
    take(&mut user, 1, 3);
    let report = chronoscope_sle::pdu::CltuStatusReport {
        last_processed: Some(CltuLastProcessed {
            cltu: 3,
            start_radiation: Some(at(2)),
            status: CltuStatus::RadiationStarted,
        }),
        last_ok: Some(CltuLastOk { cltu: 2, stop_radiation: at(2) }),
        production: CltuProductionStatus::Operational,
        uplink: UplinkStatus::Nominal,
        received: 3,
        processed: 3,
        radiated: 2,
        buffer_available: 77,
    };
    assert_eq!(settled(&mut user, Pdu::CltuStatusReport(report)), [(1, 2, CltuFate::Radiated)]);
    assert_eq!(user.buffer_available(), Some(77));
}

#[test]
fn an_expired_cltu_takes_those_behind_it_along() {
    let mut user = active(10, 1);
    take(&mut user, 1, 5);
    let status = CltuStatus::Expired;
    let last = CltuLastProcessed { cltu: 3, start_radiation: None, status };
    let expired = notify(CltuNotification::SlduExpired, Some(last), Some((2, at(1))));
    let expected =
        [(1, 2, CltuFate::Radiated), (3, 1, CltuFate::Expired), (4, 2, CltuFate::Discarded)];
    assert_eq!(settled(&mut user, expired), expected);
    assert_eq!(flat(&user.ended()), []);
}

/// It was told as expired and, in the next notification, as radiated.
#[test]
fn a_radiation_after_a_loss_is_contradicted_and_not_believed() {
    let contradicted = |user: &mut FcltuUser, pdu| match user.pdu(pdu, NOW).unwrap() {
        UserEvent::Notified { contradicted, settled, .. } => {
            assert_eq!(flat(&settled), []);
            contradicted
        }
        other => panic!("{other:?}"),
    };
    let last = |cltu, status| CltuLastProcessed { cltu, start_radiation: Some(at(1)), status };
    let mut user = active(10, 1);
    take(&mut user, 1, 5);
    let lost = CltuLastProcessed { cltu: 3, start_radiation: None, status: CltuStatus::Expired };
    let expired = notify(CltuNotification::SlduExpired, Some(lost), Some((2, at(1))));
    settled(&mut user, expired);
    for cltu in [3, 5] {
        let radiated = Some(last(cltu, CltuStatus::Radiated));
        let told = notify(CltuNotification::CltuRadiated, radiated, Some((cltu, at(2))));
        assert_eq!(contradicted(&mut user, told), Some(cltu));
    }
    let radiated = Some(last(2, CltuStatus::Radiated));
    let known = notify(CltuNotification::BufferEmpty, radiated, Some((2, at(1))));
    assert_eq!(contradicted(&mut user, known), None, "2 was radiated");
}

#[test]
fn an_interruption_ends_all_that_is_open() {
    let mut user = active(10, 1);
    take(&mut user, 1, 3);
    let status = CltuStatus::Interrupted;
    let last = CltuLastProcessed { cltu: 1, start_radiation: Some(at(1)), status };
    let interrupted = notify(CltuNotification::ProductionInterrupted, Some(last), None);
    let expected = [(1, 1, CltuFate::Interrupted), (2, 2, CltuFate::Discarded)];
    assert_eq!(settled(&mut user, interrupted), expected);
}

#[test]
fn what_an_earlier_session_radiated_is_not_of_this_one() {
    let mut user = active(10, 1);
    take(&mut user, 1, 3);
    let status = CltuStatus::Radiated;
    let before = Time::from_utc_ns(DAY_NS - S);
    let last = CltuLastProcessed { cltu: 2, start_radiation: Some(before), status };
    let earlier = notify(CltuNotification::BufferEmpty, Some(last), Some((2, before)));
    assert_eq!(settled(&mut user, earlier), []);
    // It began before this session, and ended in it.
    let ended = notify(CltuNotification::CltuRadiated, Some(last), Some((2, at(1))));
    assert_eq!(settled(&mut user, ended), []);
    // The first of this one is on the air, and the last good one has a higher number.
    let status = CltuStatus::RadiationStarted;
    let last = CltuLastProcessed { cltu: 1, start_radiation: Some(at(1)), status };
    let other = notify(CltuNotification::ProductionOperational, Some(last), Some((2, at(1))));
    assert_eq!(settled(&mut user, other), []);
}

#[test]
fn a_start_gives_up_what_was_not_told_before() {
    let mut user = active(10, 1);
    take(&mut user, 1, 3);
    let Pdu::Stop { invoke_id } = user.stop().unwrap() else { panic!() };
    user.pdu(Pdu::StopReturn { invoke_id, result: Ok(()) }, NOW).unwrap();
    let UserEvent::Started { settled, .. } = start(&mut user, 50) else { panic!() };
    assert_eq!(flat(&settled), [(1, 3, CltuFate::Acknowledged)]);
    assert_eq!(user.next_cltu(), 50);
}

#[test]
fn the_end_lists_what_was_not_answered() {
    let mut user = active(10, 1);
    take(&mut user, 1, 2);
    send(&mut user).unwrap();
    user.transfer_buffer(vec![Bytes::new(); 4], BufferNotification::None).unwrap();
    let expected =
        [(1, 2, CltuFate::Acknowledged), (3, 1, CltuFate::Unknown), (4, 4, CltuFate::Unknown)];
    assert_eq!(flat(&user.ended()), expected);
    assert_eq!(user.unacknowledged(), 0);
}

#[test]
fn numbers_wrap_in_fates() {
    let mut user = active(10, u32::MAX - 1);
    for next in [u32::MAX, 0, 1, 2] {
        let id = send(&mut user).unwrap();
        user.pdu(answer(id, next, Ok(())), NOW).unwrap();
    }
    let radiated = notify(CltuNotification::CltuRadiated, None, Some((0, at(1))));
    assert_eq!(settled(&mut user, radiated), [(u32::MAX - 1, 3, CltuFate::Radiated)]);
    assert_eq!(flat(&user.ended()), [(1, 1, CltuFate::Acknowledged)]);
}

#[test]
fn returns_that_nobody_waits_for() {
    let mut user = active(10, 1);
    let unsolicited = Err(PeerAbortDiagnostic::UnsolicitedInvokeId);
    assert_eq!(user.pdu(answer(999, 1, Ok(())), NOW), unsolicited);
    assert_eq!(user.pdu(Pdu::StopReturn { invoke_id: 999, result: Ok(()) }, NOW), unsolicited);
    let protocol_error = Err(PeerAbortDiagnostic::ProtocolError);
    let id = send(&mut user).unwrap();
    let of_another = Pdu::StopReturn { invoke_id: id, result: Ok(()) };
    assert_eq!(user.pdu(of_another, NOW), protocol_error);
    let Pdu::ScheduleStatusReport { invoke_id, .. } =
        user.schedule(ReportRequest::Immediately).unwrap()
    else {
        panic!()
    };
    assert_eq!(user.pdu(answer(invoke_id, 1, Ok(())), NOW), protocol_error);
    assert_eq!(user.pdu(Pdu::Stop { invoke_id: 1 }, NOW), protocol_error);
    let id = Pdu::ScheduleStatusReportReturn { invoke_id, result: Ok(()) };
    assert_eq!(user.pdu(id, NOW), Ok(UserEvent::Scheduled(Ok(()))));
}

#[test]
fn one_event_at_a_time_with_the_number_that_is_expected() {
    let mut user = ready(1);
    let qualifier = Bytes::from_static(&[1]);
    for (number, next, result) in [
        (0, 5, Err(diagnostic::EVENT_INVOC_ID_OUT_OF_SEQUENCE)),
        (5, 6, Ok(())),
        (6, 6, Err(diagnostic::EVENT_NO_SUCH_EVENT)),
        (6, 7, Ok(())),
    ] {
        let Pdu::ThrowEvent(thrown) = user.throw_event(1, qualifier.clone()).unwrap() else {
            panic!()
        };
        assert_eq!(thrown.event_invocation_id, number);
        assert_eq!(user.throw_event(1, qualifier.clone()).unwrap_err(), UseError::TooManyOpen);
        let invoke_id = thrown.invoke_id;
        let answer = Pdu::ThrowEventReturn { invoke_id, event_invocation_id: next, result };
        let event = user.pdu(answer, NOW).unwrap();
        assert_eq!(event, UserEvent::Thrown { event_invocation_id: number, result });
    }
}
