//! SCHEDULE-STATUS-REPORT, GET-PARAMETER and THROW-EVENT.

use crate::station::{S, Station, cltu};
use bytes::Bytes;
use chronoscope_sle::codec::Codec;
use chronoscope_sle::pdu::{
    AssociationRole, CltuNotification, CltuProductionStatus, DeliveryMode, Diagnostic, GvcId,
    Message, Parameter, ParameterName as Name, Pdu, ReportRequest, ServiceType,
};
use chronoscope_sle::service::fcltu::{EventAction, FcltuConfig, diagnostic};
use chronoscope_sle::service::{ServiceAction, ServiceState};
use std::collections::BTreeMap;

fn config() -> FcltuConfig {
    FcltuConfig::default()
}

/// The answer, and how many reports came with it.
fn scheduled(actions: &[ServiceAction]) -> (Result<(), Diagnostic>, usize) {
    let ServiceAction::Send(Pdu::ScheduleStatusReportReturn { invoke_id: 4, result }) = &actions[0]
    else {
        panic!("{actions:?}")
    };
    let is_report =
        |action: &ServiceAction| matches!(action, ServiceAction::Send(Pdu::CltuStatusReport(_)));
    assert!(actions[1..].iter().all(is_report));
    (*result, actions.len() - 1)
}

fn reports(station: &mut Station) -> usize {
    let mut out = Vec::new();
    station.provider.tick(station.now, &mut out);
    out.len()
}

#[test]
fn a_report_immediately_is_one_after_the_return() {
    for mut station in [Station::ready(config()), Station::active(config())] {
        let state = station.provider.state();
        assert_eq!(scheduled(&station.schedule(ReportRequest::Immediately)), (Ok(()), 1));
        assert_eq!(station.provider.due(), None);
        assert_eq!(station.provider.state(), state);
    }
}

#[test]
fn periodic_reports_come_in_their_cycle_until_stopped() {
    let mut station = Station::ready(config());
    assert_eq!(scheduled(&station.schedule(ReportRequest::Periodically(2))), (Ok(()), 1));
    assert_eq!(station.provider.due(), Some(station.now.monotonic_ns + 2 * S));
    assert_eq!(reports(&mut station), 0);
    station.pass(2 * S);
    assert_eq!(reports(&mut station), 1);
    assert_eq!(reports(&mut station), 0);
    // Two were missed: they are not made up for, and the rhythm stays.
    station.pass(7 * S);
    assert_eq!(reports(&mut station), 1);
    assert_eq!(station.provider.due(), Some(station.now.monotonic_ns + S));
    assert_eq!(scheduled(&station.schedule(ReportRequest::Stop)), (Ok(()), 0));
    station.pass(100 * S);
    assert_eq!(reports(&mut station), 0);
}

#[test]
fn another_cycle_replaces_the_one_before() {
    let mut station = Station::ready(config());
    station.schedule(ReportRequest::Periodically(2));
    station.schedule(ReportRequest::Periodically(600));
    assert_eq!(station.provider.due(), Some(station.now.monotonic_ns + 600 * S));
    let cycle = Parameter::ReportingCycle(Some(600));
    assert_eq!(station.parameter(Name::REPORTING_CYCLE), Ok(cycle));
}

#[test]
fn stop_without_periodic_reports_is_already_stopped() {
    let mut station = Station::ready(config());
    let refused = (Err(diagnostic::REPORT_ALREADY_STOPPED), 0);
    assert_eq!(scheduled(&station.schedule(ReportRequest::Stop)), refused);
}

#[test]
fn a_cycle_out_of_bounds_is_invalid() {
    let minimum_reporting_cycle_s = 10;
    let mut station = Station::ready(FcltuConfig { minimum_reporting_cycle_s, ..config() });
    let refused = (Err(diagnostic::REPORT_INVALID_REPORTING_CYCLE), 0);
    for cycle in [0, 1, 9, 601, u16::MAX] {
        let answer = station.schedule(ReportRequest::Periodically(cycle));
        assert_eq!(scheduled(&answer), refused, "{cycle}");
    }
    for cycle in [10, 600] {
        let answer = station.schedule(ReportRequest::Periodically(cycle));
        assert_eq!(scheduled(&answer), (Ok(()), 1), "{cycle}");
    }
}

#[test]
fn a_refused_cycle_leaves_the_one_before() {
    let mut station = Station::ready(config());
    station.schedule(ReportRequest::Periodically(5));
    station.schedule(ReportRequest::Periodically(1));
    assert_eq!(station.provider.due(), Some(station.now.monotonic_ns + 5 * S));
}

#[test]
fn a_report_says_what_was_told_before() {
    let mut station = Station::active(config());
    station.transfer(cltu(1, 10)).0.unwrap();
    station.radiate();
    let actions = station.schedule(ReportRequest::Immediately);
    let [
        _,
        ServiceAction::Send(Pdu::CltuAsyncNotify(empty)),
        ServiceAction::Send(Pdu::CltuStatusReport(report)),
    ] = &actions[..]
    else {
        panic!("{actions:?}")
    };
    assert_eq!(empty.notification, CltuNotification::BufferEmpty);
    assert_eq!((report.received, report.processed, report.radiated), (1, 1, 1));
    assert_eq!(report.last_ok.unwrap().cltu, 1);
    assert_eq!(report.buffer_available, config().limits.octets);
}

/// The books' tables of parameters: name and the first version that has it.
const PARAMETERS: [(Name, u16); 20] = [
    (Name::BIT_LOCK_REQUIRED, 1),
    (Name::DELIVERY_MODE, 1),
    (Name::EXPECTED_EVENT_INVOCATION_IDENTIFICATION, 1),
    (Name::EXPECTED_SLDU_IDENTIFICATION, 1),
    (Name::MAXIMUM_SLDU_LENGTH, 1),
    (Name::MODULATION_FREQUENCY, 1),
    (Name::MODULATION_INDEX, 1),
    (Name::PLOP_IN_EFFECT, 1),
    (Name::REPORTING_CYCLE, 1),
    (Name::RETURN_TIMEOUT_PERIOD, 1),
    (Name::RF_AVAILABLE_REQUIRED, 1),
    (Name::SUBCARRIER_TO_BIT_RATE_RATIO, 1),
    (Name::ACQUISITION_SEQUENCE_LENGTH, 4),
    (Name::CLCW_GLOBAL_VCID, 4),
    (Name::CLCW_PHYSICAL_CHANNEL, 4),
    (Name::MINIMUM_DELAY_TIME, 4),
    (Name::NOTIFICATION_MODE, 4),
    (Name::PLOP1_IDLE_SEQUENCE_LENGTH, 4),
    (Name::PROTOCOL_ABORT_MODE, 4),
    (Name::MIN_REPORTING_CYCLE, 5),
];

fn clcw() -> FcltuConfig {
    let channel = GvcId { spacecraft: 123, version: 0, virtual_channel: Some(1) };
    let clcw_physical_channel = Some("CH1".to_owned());
    FcltuConfig { clcw_global_vcid: Some(channel), clcw_physical_channel, ..config() }
}

#[test]
fn every_parameter_is_there_from_its_version_on() {
    for version in 1..=5 {
        let mut station = Station::ready_in(clcw(), version);
        for (name, since) in PARAMETERS {
            let expected =
                if version >= since { Ok(()) } else { Err(diagnostic::PARAMETER_UNKNOWN) };
            assert_eq!(station.parameter(name).map(|_| ()), expected, "{name:?} in {version}");
        }
    }
}

/// What the provider answers in a version, that version can say.
#[test]
fn every_answer_has_a_form_in_its_version() {
    let beyond = FcltuConfig { maximum_cltu_length: 65_536, ..config() };
    for (config, version) in
        [clcw(), beyond].into_iter().flat_map(|c| (1..=5).map(move |v| (c.clone(), v)))
    {
        let mut station = Station::ready_in(config, version);
        station.schedule(ReportRequest::Periodically(30));
        for (name, _) in PARAMETERS {
            let result = station.parameter(name);
            let pdu = Pdu::GetParameterReturn { invoke_id: 3, result };
            let message = Message { credentials: None, pdu };
            let codec = Codec { service: ServiceType::Fcltu, version };
            let mut octets = Vec::new();
            codec.encode(&message, &mut octets).unwrap();
            let back = codec.decode(AssociationRole::Provider, &Bytes::from(octets));
            assert_eq!(back, Ok(message), "{name:?} in {version}");
        }
    }
}

#[test]
fn parameters_of_other_services_are_unknown() {
    let mut station = Station::ready(clcw());
    for number in 0..400 {
        let is_ours = PARAMETERS.iter().any(|(name, _)| name.0 == number);
        let answer = station.parameter(Name(number));
        assert_eq!(answer.is_ok(), is_ours, "{number}");
    }
}

#[test]
fn a_clcw_channel_that_is_not_configured_is_sayable_in_version_5_only() {
    for (name, value) in [
        (Name::CLCW_GLOBAL_VCID, Parameter::ClcwGlobalVcid(None)),
        (Name::CLCW_PHYSICAL_CHANNEL, Parameter::ClcwPhysicalChannel(None)),
    ] {
        assert_eq!(Station::ready_in(config(), 5).parameter(name), Ok(value));
        let refused = Err(diagnostic::PARAMETER_UNKNOWN);
        assert_eq!(Station::ready_in(config(), 4).parameter(name), refused);
    }
}

#[test]
fn parameters_have_the_values_that_were_agreed_or_are_so_now() {
    let events = Some(BTreeMap::from([(1, EventAction::Complete)]));
    let mut station = Station::ready(FcltuConfig {
        events,
        maximum_cltu_length: 8000,
        minimum_delay_us: 5,
        return_timeout_s: 33,
        plop_2: false,
        ..clcw()
    });
    station.start(41).unwrap();
    station.throw(0, 1);
    station.pdu(Pdu::CltuTransferData(chronoscope_sle::pdu::CltuTransferData {
        delay_us: 5,
        ..cltu(41, 10)
    }));
    let mode = Parameter::DeliveryMode(DeliveryMode::ForwardOnline);
    let channel = GvcId { spacecraft: 123, version: 0, virtual_channel: Some(1) };
    for (name, value) in [
        (Name::DELIVERY_MODE, mode),
        (Name::EXPECTED_SLDU_IDENTIFICATION, Parameter::ExpectedSlduIdentification(42)),
        (
            Name::EXPECTED_EVENT_INVOCATION_IDENTIFICATION,
            Parameter::ExpectedEventInvocationIdentification(1),
        ),
        // The type ends there, however much is taken.
        (Name::MAXIMUM_SLDU_LENGTH, Parameter::MaximumSlduLength(4096)),
        (Name::MINIMUM_DELAY_TIME, Parameter::MinimumDelayTime(5)),
        (Name::RETURN_TIMEOUT_PERIOD, Parameter::ReturnTimeoutPeriod(33)),
        (Name::PLOP_IN_EFFECT, Parameter::PlopInEffect2(false)),
        (Name::REPORTING_CYCLE, Parameter::ReportingCycle(None)),
        (Name::CLCW_GLOBAL_VCID, Parameter::ClcwGlobalVcid(Some(channel))),
        (Name::CLCW_PHYSICAL_CHANNEL, Parameter::ClcwPhysicalChannel(Some("CH1".to_owned()))),
        (Name::NOTIFICATION_MODE, Parameter::NotificationModeImmediate(true)),
        (Name::PROTOCOL_ABORT_MODE, Parameter::ProtocolAbortModeContinue(false)),
    ] {
        assert_eq!(station.parameter(name), Ok(value));
    }
}

fn with_events() -> FcltuConfig {
    let events = Some(BTreeMap::from([
        (1, EventAction::Complete),
        (2, EventAction::Fail),
        (3, EventAction::ConditionFalse),
        (4, EventAction::SetProduction(CltuProductionStatus::Interrupted)),
    ]));
    FcltuConfig { events, ..config() }
}

/// The answer with the number that is expected next, and what was told.
fn thrown(actions: &[ServiceAction]) -> (Result<(), Diagnostic>, u32, Vec<CltuNotification>) {
    let ServiceAction::Send(Pdu::ThrowEventReturn { invoke_id: 9, event_invocation_id, result }) =
        &actions[0]
    else {
        panic!("{actions:?}")
    };
    let told = crate::station::notifications(actions[1..].to_vec());
    let told = told.into_iter().map(|notify| notify.notification).collect();
    (*result, *event_invocation_id, told)
}

#[test]
fn throw_event_is_not_supported_without_events() {
    let mut station = Station::ready(config());
    let refused = (Err(diagnostic::EVENT_OPERATION_NOT_SUPPORTED), 0, vec![]);
    assert_eq!(thrown(&station.throw(0, 1)), refused);
}

#[test]
fn throw_event_out_of_sequence_names_the_number_that_is_expected() {
    let mut station = Station::ready(with_events());
    let refused = (Err(diagnostic::EVENT_INVOC_ID_OUT_OF_SEQUENCE), 0, vec![]);
    assert_eq!(thrown(&station.throw(1, 1)), refused);
}

#[test]
fn throw_event_no_such_event() {
    let mut station = Station::ready(with_events());
    let refused = (Err(diagnostic::EVENT_NO_SUCH_EVENT), 0, vec![]);
    assert_eq!(thrown(&station.throw(0, 5)), refused);
}

#[test]
fn throw_event_tells_what_came_of_it() {
    for mut station in [Station::ready(with_events()), Station::active(with_events())] {
        let state = station.provider.state();
        let completed = vec![CltuNotification::ActionListCompleted(0)];
        assert_eq!(thrown(&station.throw(0, 1)), (Ok(()), 1, completed));
        let not_completed = vec![CltuNotification::ActionListNotCompleted(1)];
        assert_eq!(thrown(&station.throw(1, 2)), (Ok(()), 2, not_completed));
        let is_false = vec![CltuNotification::EventConditionEvFalse(2)];
        assert_eq!(thrown(&station.throw(2, 3)), (Ok(()), 3, is_false));
        assert_eq!(station.provider.state(), state);
    }
}

#[test]
fn an_event_changes_production_and_that_is_told_before_its_completion() {
    let mut station = Station::active(with_events());
    let told =
        vec![CltuNotification::ProductionInterrupted, CltuNotification::ActionListCompleted(0)];
    assert_eq!(thrown(&station.throw(0, 4)), (Ok(()), 1, told));
    assert_eq!(station.report_now().production, CltuProductionStatus::Interrupted);
    assert_eq!(station.provider.state(), ServiceState::Active);
}
