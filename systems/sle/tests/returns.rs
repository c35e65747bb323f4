//! State tables of the return services (CCSDS 911.1, 911.2, 911.5, table 4-1), a test per
//! transition, and delivery by mode. Provider and user, without sockets; time is an argument.
#![allow(clippy::unwrap_used)]

use bytes::Bytes;
use chronoscope_sle::frame::{FrameHeader, ReceivedFrame};
use chronoscope_sle::pdu::{
    ControlWordType, DeliveryMode, Diagnostic, FrameOrNotification, FrameQuality, GvcId,
    LockStatus, Parameter, ParameterName, Pdu, PeerAbortDiagnostic, PermittedChannel,
    PositiveStartReturn, ReportRequest, RequestedFrameQuality, ReturnNotification,
    ReturnProductionStatus, ReturnSelection, ReturnStart, ReturnStatusReport, ServiceType,
    StartRequest, UpdateMode,
};
use chronoscope_sle::service::returns::{
    OfflineRange, ReceiverLocks, ReturnConfig, ReturnProduction, ReturnProvider, ReturnUser,
    ServiceOffer, UseError, UserEvent, UserState,
};
use chronoscope_sle::service::{ServiceAction, ServiceState};
use chronoscope_sle::time::{Now, Time};

const UTC_NS: u64 = 1_700_000_000_000_000_000;
const MS: u64 = 1_000_000;
const S: u64 = 1_000_000_000;

fn at(ns: u64) -> Now {
    Now { monotonic_ns: 77 + ns, utc_ns: UTC_NS + ns }
}

/// A frame of spacecraft 100, received at that time.
fn frame(channel: u8, master: u8, count: u8, ns: u64) -> ReceivedFrame {
    let mut data = vec![0xaa; 20];
    FrameHeader {
        version: 0,
        spacecraft: 100,
        virtual_channel: channel,
        master_count: Some(master),
        virtual_count: u32::from(count),
        has_ocf: Some(true),
    }
    .write(&mut data);
    // A CLCW of virtual channel 2 of telecommand, reporting the frame's number.
    data[16..].copy_from_slice(&[0x01, 2 << 2, 0, master]);
    ReceivedFrame {
        data: Bytes::from(data),
        received_utc_ns: UTC_NS + ns,
        quality: FrameQuality::Good,
        annotation: None,
    }
}

/// The n-th frame of one virtual channel, received n milliseconds after the beginning.
fn nth(number: u8) -> ReceivedFrame {
    frame(0, number, number, u64::from(number) * MS)
}

fn raf_start() -> ReturnStart {
    ReturnStart {
        start: None,
        stop: None,
        select: ReturnSelection::Frames(RequestedFrameQuality::All),
    }
}

fn start_of(select: ReturnSelection) -> ReturnStart {
    ReturnStart { select, ..raf_start() }
}

const MASTER: GvcId = GvcId { spacecraft: 100, version: 0, virtual_channel: None };
const VC1: GvcId = GvcId { spacecraft: 100, version: 0, virtual_channel: Some(1) };

fn channels() -> Vec<PermittedChannel> {
    vec![
        PermittedChannel { spacecraft: 100, version: 0, virtual_channels: None },
        PermittedChannel { spacecraft: 100, version: 0, virtual_channels: Some(vec![1, 2]) },
    ]
}

fn rcf() -> ReturnConfig {
    ReturnConfig { offer: ServiceOffer::Rcf { channels: channels() }, ..ReturnConfig::raf() }
}

fn rocf() -> ReturnConfig {
    let offer = ServiceOffer::Rocf {
        channels: channels(),
        control_words: vec![0, 1],
        tc_channels: Some(vec![2, 3]),
        updates: vec![UpdateMode::Continuous, UpdateMode::ChangeBased],
    };
    ReturnConfig { offer, ..ReturnConfig::raf() }
}

fn small(delivery: DeliveryMode) -> ReturnConfig {
    ReturnConfig { delivery, buffer_size: 3, ..ReturnConfig::raf() }
}

/// A provider with its clock.
struct Provider {
    machine: ReturnProvider,
    now: Now,
}

impl Provider {
    fn unbound(config: ReturnConfig) -> Self {
        Self { machine: ReturnProvider::new(config), now: at(0) }
    }

    fn ready(config: ReturnConfig) -> Self {
        let mut provider = Self::unbound(config);
        provider.machine.bound(5, at(0));
        provider
    }

    fn active(config: ReturnConfig, start: ReturnStart) -> Self {
        let mut provider = Self::ready(config);
        assert_eq!(provider.start(start), Ok(PositiveStartReturn::Return));
        provider
    }

    /// RAF, three parts a buffer.
    fn raf(delivery: DeliveryMode) -> Self {
        Self::active(small(delivery), raf_start())
    }

    fn pdu(&mut self, pdu: Pdu) -> Vec<ServiceAction> {
        let mut out = Vec::new();
        self.machine.pdu(pdu, self.now, &mut out);
        out
    }

    fn start(&mut self, start: ReturnStart) -> Result<PositiveStartReturn, Diagnostic> {
        let out = self.pdu(Pdu::Start { invoke_id: 9, start: StartRequest::Return(start) });
        match out.into_iter().next() {
            Some(ServiceAction::Send(Pdu::StartReturn { invoke_id: 9, result })) => result,
            other => panic!("no START return: {other:?}"),
        }
    }

    fn refusal(&mut self, start: ReturnStart) -> u8 {
        match self.start(start) {
            Err(Diagnostic::Specific(number)) => number,
            other => panic!("not refused: {other:?}"),
        }
    }

    fn stop(&mut self) -> Vec<ServiceAction> {
        self.pdu(Pdu::Stop { invoke_id: 3 })
    }

    fn frames(&mut self, frames: impl IntoIterator<Item = ReceivedFrame>) -> Vec<ServiceAction> {
        let mut out = Vec::new();
        self.machine.frames(frames, self.now, &mut out);
        out
    }

    fn numbers(&mut self, numbers: impl IntoIterator<Item = u8>) -> Vec<ServiceAction> {
        self.frames(numbers.into_iter().map(nth))
    }

    fn block(&mut self, blocked: bool) -> Vec<ServiceAction> {
        let mut out = Vec::new();
        self.machine.block(blocked, self.now, &mut out);
        out
    }

    fn production(&mut self, event: ReturnProduction) -> Vec<ServiceAction> {
        let mut out = Vec::new();
        self.machine.production(event, self.now, &mut out);
        out
    }

    fn tick(&mut self, ns: u64) -> Vec<ServiceAction> {
        self.now = at(ns);
        let mut out = Vec::new();
        self.machine.tick(self.now, &mut out);
        out
    }

    fn get(&mut self, name: ParameterName) -> Result<Parameter, Diagnostic> {
        match &self.pdu(Pdu::GetParameter { invoke_id: 1, name })[..] {
            [ServiceAction::Send(Pdu::GetParameterReturn { invoke_id: 1, result })] => {
                result.clone()
            }
            other => panic!("no GET-PARAMETER return: {other:?}"),
        }
    }
}

/// What is in transfer buffers: numbers of frames, and words for notifications; buffers by `|`.
fn told(actions: &[ServiceAction]) -> String {
    let buffers: Vec<String> = actions.iter().map(told_one).collect();
    buffers.join(" | ")
}

fn told_one(action: &ServiceAction) -> String {
    let ServiceAction::Send(Pdu::TransferBuffer(parts)) = action else {
        return format!("{action:?}").split([' ', '(', '{']).nth(1).unwrap().to_owned();
    };
    assert!(!parts.is_empty(), "no buffer is empty");
    let words: Vec<String> = parts
        .iter()
        .map(|part| match part {
            FrameOrNotification::Frame(frame) => frame.data[2].to_string(),
            FrameOrNotification::Notification(said) => match said.notification {
                ReturnNotification::LossFrameSync(_) => "loss".to_owned(),
                ReturnNotification::ProductionStatusChange(status) => format!("{status:?}"),
                ReturnNotification::ExcessiveDataBacklog => "backlog".to_owned(),
                ReturnNotification::EndOfData => "end".to_owned(),
            },
        })
        .collect();
    words.join(" ")
}

fn continuity(actions: &[ServiceAction]) -> Vec<i32> {
    let mut found = Vec::new();
    for action in actions {
        let ServiceAction::Send(Pdu::TransferBuffer(parts)) = action else { continue };
        for part in parts {
            let FrameOrNotification::Frame(frame) = part else { continue };
            found.push(frame.data_link_continuity);
        }
    }
    found
}

const PROTOCOL_ERROR: ServiceAction = ServiceAction::Abort(PeerAbortDiagnostic::ProtocolError);

mod state_table {
    use super::*;

    #[test]
    fn unbound_and_bound_is_ready() {
        let provider = Provider::ready(ReturnConfig::raf());
        assert_eq!(provider.machine.state(), ServiceState::Ready);
        assert_eq!(provider.machine.due(), None);
    }

    #[test]
    fn ready_and_start_positive_is_active() {
        let mut provider = Provider::ready(ReturnConfig::raf());
        let out =
            provider.pdu(Pdu::Start { invoke_id: 7, start: StartRequest::Return(raf_start()) });
        let result = Ok(PositiveStartReturn::Return);
        assert_eq!(out, [ServiceAction::Send(Pdu::StartReturn { invoke_id: 7, result })]);
        assert_eq!(provider.machine.state(), ServiceState::Active);
    }

    #[test]
    fn ready_and_start_negative_is_ready() {
        let mut provider = Provider::ready(rcf());
        assert_eq!(provider.refusal(raf_start()), 1);
        assert_eq!(provider.machine.state(), ServiceState::Ready);
    }

    #[test]
    fn active_and_start_is_a_protocol_error() {
        let mut provider = Provider::raf(DeliveryMode::CompleteOnline);
        let out =
            provider.pdu(Pdu::Start { invoke_id: 8, start: StartRequest::Return(raf_start()) });
        assert_eq!(out, [PROTOCOL_ERROR]);
        assert_eq!(provider.machine.state(), ServiceState::Unbound);
    }

    #[test]
    fn ready_and_stop_is_a_protocol_error() {
        let mut provider = Provider::ready(ReturnConfig::raf());
        assert_eq!(provider.stop(), [PROTOCOL_ERROR]);
        assert_eq!(provider.machine.state(), ServiceState::Unbound);
    }

    #[test]
    fn active_and_stop_is_ready_after_what_was_buffered() {
        let mut provider = Provider::raf(DeliveryMode::CompleteOnline);
        assert_eq!(provider.numbers([1]), []);
        let out = provider.stop();
        assert_eq!(told(&out[..1]), "1");
        assert_eq!(
            out[1..],
            [ServiceAction::Send(Pdu::StopReturn { invoke_id: 3, result: Ok(()) })]
        );
        assert_eq!(provider.machine.state(), ServiceState::Ready);
        assert_eq!(provider.machine.due(), None);
    }

    #[test]
    fn active_and_stop_with_nothing_buffered_sends_no_empty_buffer() {
        let mut provider = Provider::raf(DeliveryMode::TimelyOnline);
        assert_eq!(told(&provider.stop()), "StopReturn");
    }

    #[test]
    fn ready_and_active_answer_reports_and_parameters() {
        for mut provider in
            [Provider::ready(ReturnConfig::raf()), Provider::raf(DeliveryMode::CompleteOnline)]
        {
            let state = provider.machine.state();
            let request = ReportRequest::Immediately;
            let out = provider.pdu(Pdu::ScheduleStatusReport { invoke_id: 1, request });
            assert_eq!(told(&out), "ScheduleStatusReportReturn | ReturnStatusReport");
            assert!(provider.get(ParameterName::BUFFER_SIZE).is_ok());
            assert_eq!(provider.machine.state(), state);
        }
    }

    #[test]
    fn ready_and_active_report_when_the_cycle_is_over() {
        for mut provider in
            [Provider::ready(ReturnConfig::raf()), Provider::raf(DeliveryMode::CompleteOnline)]
        {
            let request = ReportRequest::Periodically(10);
            provider.pdu(Pdu::ScheduleStatusReport { invoke_id: 1, request });
            assert_eq!(provider.machine.due(), Some(at(10 * S).monotonic_ns));
            assert_eq!(provider.tick(10 * S - 1), []);
            assert_eq!(told(&provider.tick(10 * S)), "ReturnStatusReport");
            assert_eq!(
                told(&provider.tick(35 * S)),
                "ReturnStatusReport",
                "missed ones are not made up"
            );
            assert_eq!(provider.machine.due(), Some(at(40 * S).monotonic_ns));
        }
    }

    #[test]
    fn active_and_a_full_transfer_buffer_is_sent() {
        let mut provider = Provider::raf(DeliveryMode::TimelyOnline);
        assert_eq!(told(&provider.numbers(0..7)), "0 1 2 | 3 4 5");
        assert_eq!(provider.machine.state(), ServiceState::Active);
    }

    #[test]
    fn active_and_the_release_timer_sends_what_there_is() {
        let mut provider = Provider::raf(DeliveryMode::TimelyOnline);
        assert_eq!(provider.machine.due(), None, "no timer while nothing is buffered");
        assert_eq!(provider.numbers([1, 2]), []);
        assert_eq!(provider.machine.due(), Some(at(S).monotonic_ns));
        assert_eq!(provider.tick(S - 1), []);
        assert_eq!(told(&provider.tick(S)), "1 2");
        assert_eq!(provider.machine.due(), None);
    }

    #[test]
    fn the_release_timer_begins_anew_with_each_buffer() {
        let mut provider = Provider::raf(DeliveryMode::TimelyOnline);
        provider.numbers([1]);
        provider.now = at(S / 2);
        assert_eq!(told(&provider.numbers([2, 3, 4])), "1 2 3");
        assert_eq!(provider.machine.due(), Some(at(S / 2 + S).monotonic_ns));
    }

    #[test]
    fn active_and_loss_of_frame_sync_is_notified_at_once() {
        let mut provider = Provider::raf(DeliveryMode::TimelyOnline);
        provider.numbers([1]);
        let lost = ReceiverLocks {
            frame_sync: LockStatus::OutOfLock,
            ..ReceiverLocks::all(LockStatus::InLock)
        };
        assert_eq!(told(&provider.production(ReturnProduction::Locks(lost))), "1 loss");
        assert_eq!(provider.production(ReturnProduction::Locks(lost)), [], "only once");
        let locked = ReceiverLocks::all(LockStatus::InLock);
        assert_eq!(provider.production(ReturnProduction::Locks(locked)), []);
    }

    #[test]
    fn active_and_a_production_status_change_is_notified_at_once() {
        use ReturnProductionStatus::{Halted, Interrupted, Running};
        let mut provider = Provider::raf(DeliveryMode::CompleteOnline);
        provider.numbers([1]);
        assert_eq!(provider.production(ReturnProduction::Status(Running)), [], "no change");
        let out = provider.production(ReturnProduction::Status(Interrupted));
        assert_eq!(told(&out), "1 Interrupted");
        assert_eq!(provider.numbers([2, 3, 4]), [], "nothing is produced");
        assert_eq!(provider.machine.counts().unproduced, 3);
        assert_eq!(told(&provider.production(ReturnProduction::Status(Halted))), "Halted");
        assert_eq!(told(&provider.production(ReturnProduction::Status(Running))), "Running");
    }

    #[test]
    fn ready_and_production_is_not_notified() {
        let mut provider = Provider::ready(ReturnConfig::raf());
        let interrupted = ReturnProduction::Status(ReturnProductionStatus::Interrupted);
        assert_eq!(provider.production(interrupted), []);
        assert_eq!(
            provider.start(raf_start()),
            Ok(PositiveStartReturn::Return),
            "interrupted, not halted"
        );
    }

    #[test]
    fn active_and_end_of_data_is_the_last() {
        let mut provider = Provider::raf(DeliveryMode::CompleteOnline);
        provider.numbers([1]);
        let mut out = Vec::new();
        provider.machine.end_of_data(provider.now, &mut out);
        assert_eq!(told(&out), "1 end");
        assert_eq!(provider.numbers([2, 3, 4, 5]), [], "nothing follows");
        assert_eq!(provider.machine.state(), ServiceState::Active, "until STOP");
        assert_eq!(told(&provider.stop()), "StopReturn");
    }

    #[test]
    fn active_and_unbound_discards_the_transfer_buffer() {
        let mut provider = Provider::raf(DeliveryMode::TimelyOnline);
        let request = ReportRequest::Periodically(10);
        provider.pdu(Pdu::ScheduleStatusReport { invoke_id: 1, request });
        provider.numbers([1, 2]);
        provider.machine.unbound(provider.now);
        assert_eq!(provider.machine.state(), ServiceState::Unbound);
        assert_eq!(provider.machine.due(), None, "neither release nor reporting timer");
        provider.machine.bound(4, provider.now);
        assert_eq!(
            provider.get(ParameterName::REPORTING_CYCLE),
            Ok(Parameter::ReportingCycle(None))
        );
        assert_eq!(provider.start(raf_start()), Ok(PositiveStartReturn::Return));
        assert_eq!(told(&provider.stop()), "StopReturn");
    }

    #[test]
    fn any_state_and_an_operation_of_another_role_is_a_protocol_error() {
        for mut provider in
            [Provider::ready(ReturnConfig::raf()), Provider::raf(DeliveryMode::CompleteOnline)]
        {
            let pdu = Pdu::StopReturn { invoke_id: 1, result: Ok(()) };
            assert_eq!(provider.pdu(pdu), [PROTOCOL_ERROR]);
        }
    }

    #[test]
    fn unbound_and_anything_is_a_protocol_error() {
        let get = Pdu::GetParameter { invoke_id: 1, name: ParameterName::BUFFER_SIZE };
        let request = ReportRequest::Immediately;
        let report = Pdu::ScheduleStatusReport { invoke_id: 1, request };
        let start = Pdu::Start { invoke_id: 1, start: StartRequest::Return(raf_start()) };
        for pdu in [get, report, start, Pdu::Stop { invoke_id: 1 }] {
            let mut provider = Provider::unbound(ReturnConfig::raf());
            assert_eq!(provider.pdu(pdu), [PROTOCOL_ERROR]);
        }
    }
}

mod start {
    use super::*;

    #[test]
    fn out_of_service() {
        let mut provider = Provider::ready(ReturnConfig::raf());
        provider.production(ReturnProduction::InService(false));
        assert_eq!(provider.refusal(raf_start()), 0);
        provider.production(ReturnProduction::InService(true));
        provider.production(ReturnProduction::Status(ReturnProductionStatus::Halted));
        assert_eq!(provider.refusal(raf_start()), 0);
        provider.production(ReturnProduction::Status(ReturnProductionStatus::Running));
        assert_eq!(provider.start(raf_start()), Ok(PositiveStartReturn::Return));
    }

    #[test]
    fn unable_to_comply() {
        let mut provider = Provider::ready(small(DeliveryMode::Offline));
        provider.production(ReturnProduction::Store(false));
        assert_eq!(provider.refusal(span(0, 1)), 1);
        let good_only = ServiceOffer::Raf { permitted: vec![RequestedFrameQuality::Good] };
        let mut provider =
            Provider::ready(ReturnConfig { offer: good_only, ..ReturnConfig::raf() });
        assert_eq!(provider.refusal(raf_start()), 1, "this quality is not permitted");
    }

    fn time(ns: u64) -> Option<Time> {
        Some(Time::from_utc_ns(UTC_NS + ns))
    }

    fn span(start_ns: u64, stop_ns: u64) -> ReturnStart {
        ReturnStart { start: time(start_ns), stop: time(stop_ns), ..raf_start() }
    }

    #[test]
    fn times_online_lie_in_the_provision_period() {
        let config = ReturnConfig {
            provision_utc_ns: (UTC_NS + 10 * S, UTC_NS + 20 * S),
            ..ReturnConfig::raf()
        };
        let mut provider = Provider::ready(config);
        assert_eq!(provider.refusal(span(9 * S, 15 * S)), 2);
        assert_eq!(provider.refusal(span(20 * S, 21 * S)), 2);
        assert_eq!(provider.refusal(span(10 * S, 21 * S)), 3);
        assert_eq!(provider.refusal(span(15 * S, 15 * S)), 3, "nothing lies between");
        assert_eq!(provider.refusal(span(15 * S, 14 * S)), 3);
        let no_time = Some(Time::Micro([0xff; 8]));
        assert_eq!(provider.refusal(ReturnStart { start: no_time, ..raf_start() }), 2);
        assert_eq!(provider.refusal(ReturnStart { stop: no_time, ..raf_start() }), 3);
        assert_eq!(provider.start(span(10 * S, 20 * S)), Ok(PositiveStartReturn::Return));
    }

    #[test]
    fn times_offline_are_there_and_past() {
        let mut provider = Provider::ready(small(DeliveryMode::Offline));
        provider.now = at(100 * S);
        assert_eq!(provider.refusal(raf_start()), 4);
        assert_eq!(provider.refusal(ReturnStart { start: time(0), ..raf_start() }), 4);
        assert_eq!(provider.refusal(ReturnStart { stop: time(0), ..raf_start() }), 4);
        assert_eq!(provider.refusal(span(0, 101 * S)), 3);
        assert_eq!(provider.start(span(0, 100 * S)), Ok(PositiveStartReturn::Return));
        let range = OfflineRange { start_utc_ns: UTC_NS, stop_utc_ns: UTC_NS + 100 * S };
        assert_eq!(provider.machine.offline(), Some(range));
    }

    #[test]
    fn channels_of_rcf() {
        let mut provider = Provider::ready(rcf());
        for wrong in [
            GvcId { virtual_channel: Some(3), ..MASTER },
            GvcId { spacecraft: 101, ..MASTER },
            GvcId { version: 1, ..MASTER },
        ] {
            assert_eq!(provider.refusal(start_of(ReturnSelection::Channel(wrong))), 5);
        }
        assert_eq!(
            provider.start(start_of(ReturnSelection::Channel(VC1))),
            Ok(PositiveStartReturn::Return)
        );
    }

    #[test]
    fn choices_of_rocf() {
        let mut provider = Provider::ready(rocf());
        let ocf = |channel, control_word, update| {
            start_of(ReturnSelection::Ocf { channel, control_word, update })
        };
        let all = ControlWordType::All;
        let continuous = UpdateMode::Continuous;
        let other = GvcId { spacecraft: 1, ..MASTER };
        assert_eq!(provider.refusal(ocf(other, all, continuous)), 5);
        assert_eq!(provider.refusal(ocf(MASTER, ControlWordType::NotClcw, continuous)), 6);
        assert_eq!(provider.refusal(ocf(MASTER, ControlWordType::Clcw(Some(4)), continuous)), 7);
        assert_eq!(
            provider.start(ocf(MASTER, ControlWordType::Clcw(None), continuous)),
            Ok(PositiveStartReturn::Return)
        );

        let offer = ServiceOffer::Rocf {
            channels: channels(),
            control_words: vec![0],
            tc_channels: None,
            updates: vec![continuous],
        };
        let mut provider = Provider::ready(ReturnConfig { offer, ..ReturnConfig::raf() });
        assert_eq!(provider.refusal(ocf(MASTER, all, UpdateMode::ChangeBased)), 8);
    }
}

mod delivery {
    use super::*;

    #[test]
    fn timely_frames_before_start_are_gone() {
        let mut provider = Provider::ready(small(DeliveryMode::TimelyOnline));
        assert_eq!(provider.machine.room(20), 0);
        provider.numbers(0..9);
        provider.start(raf_start()).unwrap();
        assert_eq!(provider.machine.room(20), usize::MAX);
        assert_eq!(told(&provider.numbers([9, 10, 11])), "9 10 11");
    }

    #[test]
    fn timely_what_cannot_be_sent_is_discarded_and_said() {
        let mut provider = Provider::raf(DeliveryMode::TimelyOnline);
        assert_eq!(provider.block(true), []);
        assert_eq!(provider.machine.room(20), 3);
        assert_eq!(provider.numbers(0..7), [], "0 1 2 waited and were replaced; 6 is new");
        assert_eq!(told(&provider.block(false)), "backlog 4 5");
        assert_eq!(told(&provider.numbers([7, 8])), "6 7 8");
        let counts = provider.machine.counts();
        assert_eq!((counts.received, counts.delivered, counts.discarded), (9, 5, 4));
    }

    #[test]
    fn timely_a_little_congestion_loses_nothing() {
        let mut provider = Provider::raf(DeliveryMode::TimelyOnline);
        provider.block(true);
        assert_eq!(provider.numbers(0..5), []);
        assert_eq!(told(&provider.block(false)), "0 1 2");
        assert_eq!(told(&provider.numbers([5])), "3 4 5");
        assert_eq!(provider.machine.counts().discarded, 0);
    }

    #[test]
    fn timely_the_release_timer_discards_too() {
        let mut provider = Provider::raf(DeliveryMode::TimelyOnline);
        provider.block(true);
        provider.numbers([1]);
        assert_eq!(provider.tick(S), []);
        assert_eq!(provider.machine.due(), None, "nothing is being filled");
        provider.numbers([2]);
        assert_eq!(provider.tick(2 * S), []);
        assert_eq!(told(&provider.block(false)), "backlog 2");
    }

    #[test]
    fn timely_notifications_survive_a_backlog() {
        let mut provider = Provider::raf(DeliveryMode::TimelyOnline);
        provider.block(true);
        let interrupted = ReturnProduction::Status(ReturnProductionStatus::Interrupted);
        provider.numbers([1]);
        provider.production(interrupted);
        provider.production(ReturnProduction::Status(ReturnProductionStatus::Running));
        assert_eq!(told(&provider.block(false)), "backlog Interrupted Running");
    }

    #[test]
    fn complete_nothing_is_lost_while_the_connection_is_blocked() {
        let mut provider = Provider::raf(DeliveryMode::CompleteOnline);
        provider.block(true);
        assert_eq!(provider.numbers(0..10), []);
        assert_eq!(provider.tick(5 * S), []);
        assert_eq!(provider.machine.due(), None, "what is due waits for the connection");
        assert_eq!(told(&provider.block(false)), "0 1 2 | 3 4 5 | 6 7 8");
        assert_eq!(told(&provider.tick(6 * S)), "9");
        assert_eq!(provider.machine.counts().discarded, 0);
    }

    #[test]
    fn complete_a_due_buffer_goes_out_as_soon_as_it_can() {
        let mut provider = Provider::raf(DeliveryMode::CompleteOnline);
        provider.block(true);
        provider.numbers([1]);
        provider.tick(S);
        assert_eq!(told(&provider.block(false)), "1");
    }

    #[test]
    fn complete_the_backlog_is_bounded_and_its_loss_said() {
        let config = ReturnConfig { backlog_octets: 2000, ..small(DeliveryMode::CompleteOnline) };
        let mut provider = Provider::ready(config);
        let room = u8::try_from(provider.machine.room(20)).unwrap();
        assert!(room > 5);
        provider.numbers(0..room);
        assert_eq!(provider.machine.counts().discarded, 0, "room was promised");
        assert_eq!(provider.machine.room(20), 0);
        provider.numbers([room, room + 1]);
        assert_eq!(provider.machine.counts().discarded, 2);
        let out =
            provider.pdu(Pdu::Start { invoke_id: 1, start: StartRequest::Return(raf_start()) });
        assert!(told(&out).starts_with("StartReturn | backlog 2 3 | 4 5 6"), "{}", told(&out));
        assert!(provider.machine.room(20) >= usize::from(room));
    }

    #[test]
    fn complete_frames_wait_for_the_next_start() {
        let mut provider = Provider::raf(DeliveryMode::CompleteOnline);
        provider.numbers(0..3);
        provider.machine.unbound(provider.now);
        provider.numbers([3, 4, 5, 6]);
        provider.machine.bound(5, provider.now);
        let out =
            provider.pdu(Pdu::Start { invoke_id: 1, start: StartRequest::Return(raf_start()) });
        assert_eq!(told(&out), "StartReturn | 3 4 5");
        assert_eq!(told(&provider.stop()), "6 | StopReturn");
    }

    #[test]
    fn complete_notifications_keep_their_place() {
        let mut provider = Provider::raf(DeliveryMode::CompleteOnline);
        provider.block(true);
        provider.numbers(0..4);
        let interrupted = ReturnProduction::Status(ReturnProductionStatus::Interrupted);
        provider.production(interrupted);
        provider.production(ReturnProduction::Status(ReturnProductionStatus::Running));
        provider.numbers([4]);
        assert_eq!(told(&provider.block(false)), "0 1 2 | 3 Interrupted | Running");
        assert_eq!(told(&provider.stop()), "4 | StopReturn");
    }

    #[test]
    fn start_and_stop_times_choose_frames() {
        let time = |ms| Some(Time::from_utc_ns(UTC_NS + ms * MS));
        let start = ReturnStart { start: time(3), stop: time(5), ..raf_start() };
        let mut provider = Provider::active(small(DeliveryMode::CompleteOnline), start);
        assert_eq!(told(&provider.numbers(0..8)), "3 4 5 | end");
        assert_eq!(told(&provider.stop()), "StopReturn");
        let out =
            provider.pdu(Pdu::Start { invoke_id: 1, start: StartRequest::Return(raf_start()) });
        assert_eq!(told(&out), "StartReturn", "6 and 7 were kept, and are fewer than a buffer");
        assert_eq!(told(&provider.stop()), "6 7 | StopReturn");
    }

    #[test]
    fn the_stop_time_ends_the_data_also_without_frames() {
        let stop = Some(Time::from_utc_ns(UTC_NS + S / 2));
        let start = ReturnStart { stop, ..raf_start() };
        let mut provider = Provider::active(small(DeliveryMode::TimelyOnline), start);
        provider.numbers([1]);
        assert_eq!(provider.machine.due(), Some(at(S / 2).monotonic_ns));
        assert_eq!(told(&provider.tick(S / 2)), "1 end");
        assert_eq!(provider.machine.due(), None);
    }

    #[test]
    fn complete_the_end_waits_for_what_is_before_it() {
        let stop = Some(Time::from_utc_ns(UTC_NS + S / 2));
        let start = ReturnStart { stop, ..raf_start() };
        let mut provider = Provider::active(small(DeliveryMode::CompleteOnline), start);
        provider.block(true);
        provider.numbers(0..5);
        assert_eq!(provider.tick(S), []);
        assert_eq!(provider.machine.due(), None, "nothing to do until the connection takes it");
        assert_eq!(told(&provider.block(false)), "0 1 2 | 3 4 end");
    }

    #[test]
    fn offline_frames_of_the_span_and_the_end() {
        let time = |ms| Some(Time::from_utc_ns(UTC_NS + ms * MS));
        let start = ReturnStart { start: time(1), stop: time(4), ..raf_start() };
        let mut provider = Provider::ready(small(DeliveryMode::Offline));
        provider.now = at(10 * S);
        assert_eq!(provider.machine.room(20), 0, "nothing is asked for");
        provider.start(start).unwrap();
        assert!(provider.machine.room(20) > 0);
        assert_eq!(told(&provider.numbers(1..5)), "1 2 3");
        assert_eq!(provider.machine.due(), None, "no latency limit offline");
        let mut out = Vec::new();
        provider.machine.end_of_data(provider.now, &mut out);
        assert_eq!(told(&out), "4 end");
        assert_eq!(provider.machine.offline(), None);
        assert_eq!(provider.machine.room(20), 0);
        provider.production(ReturnProduction::Status(ReturnProductionStatus::Interrupted));
        assert_eq!(told(&provider.stop()), "StopReturn", "offline tells nothing of production");
    }

    #[test]
    fn a_buffer_of_one() {
        for delivery in [DeliveryMode::TimelyOnline, DeliveryMode::CompleteOnline] {
            let config = ReturnConfig { buffer_size: 1, ..small(delivery) };
            let mut provider = Provider::active(config, raf_start());
            assert_eq!(told(&provider.numbers([1, 2])), "1 | 2");
            provider.block(true);
            assert_eq!(provider.numbers([3, 4, 5]), []);
            let told = told(&provider.block(false));
            let timely = delivery == DeliveryMode::TimelyOnline;
            assert_eq!(told, if timely { "backlog" } else { "3 | 4 | 5" });
        }
    }
}

mod selection {
    use super::*;

    fn with_quality(number: u8, quality: FrameQuality) -> ReceivedFrame {
        ReceivedFrame { quality, ..nth(number) }
    }

    #[test]
    fn frame_qualities_of_raf() {
        use FrameQuality::{Erred, Good, Undetermined};
        for (select, expected) in [
            (RequestedFrameQuality::Good, "0 3"),
            (RequestedFrameQuality::Erred, "1"),
            (RequestedFrameQuality::All, "0 1 2 3"),
        ] {
            let config = ReturnConfig { buffer_size: 9, ..ReturnConfig::raf() };
            let mut provider = Provider::active(config, start_of(ReturnSelection::Frames(select)));
            let mut frames = vec![with_quality(0, Good), with_quality(1, Erred)];
            frames.extend([with_quality(2, Undetermined), with_quality(3, Good)]);
            provider.frames(frames);
            assert_eq!(told(&provider.stop()[..1]), expected);
        }
    }

    #[test]
    fn a_part_says_where_when_and_how_good() {
        let mut provider = Provider::raf(DeliveryMode::CompleteOnline);
        let annotation = Some(Bytes::from_static(b"note"));
        provider.frames([ReceivedFrame { annotation: annotation.clone(), ..nth(5) }]);
        let out = provider.stop();
        let ServiceAction::Send(Pdu::TransferBuffer(parts)) = &out[0] else { panic!("{out:?}") };
        let [FrameOrNotification::Frame(frame)] = &parts[..] else { panic!("{parts:?}") };
        assert_eq!(frame.earth_receive_time.utc_ns(), Some(UTC_NS + 5 * MS));
        assert_eq!(frame.antenna, ReturnConfig::raf().antenna);
        assert_eq!(frame.quality, Some(FrameQuality::Good));
        assert_eq!(frame.private_annotation, annotation);
        assert_eq!((&frame.data, &frame.credentials), (&nth(5).data, &None));
    }

    #[test]
    fn rcf_delivers_one_channel_with_its_own_continuity() {
        let config = ReturnConfig { buffer_size: 9, ..rcf() };
        let mut provider = Provider::active(config, start_of(ReturnSelection::Channel(VC1)));
        let erred = ReceivedFrame { quality: FrameQuality::Erred, ..frame(1, 9, 9, 0) };
        let short = ReceivedFrame { data: Bytes::from_static(b"short"), ..nth(0) };
        provider.frames([frame(1, 1, 1, 0), frame(0, 2, 1, 0), frame(1, 3, 2, 0), erred, short]);
        provider.frames([frame(1, 6, 5, 0)]);
        let out = provider.stop();
        assert_eq!(told(&out[..1]), "1 3 6");
        assert_eq!(continuity(&out), [-1, 0, 2]);
        let ServiceAction::Send(Pdu::TransferBuffer(parts)) = &out[0] else { panic!("{out:?}") };
        let FrameOrNotification::Frame(frame) = &parts[0] else { panic!("{parts:?}") };
        assert_eq!(frame.quality, None, "RCF has none");
    }

    #[test]
    fn rcf_of_a_master_channel() {
        let config = ReturnConfig { buffer_size: 9, ..rcf() };
        let mut provider = Provider::active(config, start_of(ReturnSelection::Channel(MASTER)));
        provider.frames([frame(1, 1, 1, 0), frame(0, 2, 1, 0), frame(1, 5, 2, 0)]);
        let out = provider.stop();
        assert_eq!(told(&out[..1]), "1 2 5");
        assert_eq!(continuity(&out), [-1, 0, 2]);
    }

    fn ocf(channel: u8, number: u8, word: [u8; 4]) -> ReceivedFrame {
        let frame = frame(channel, number, number, 0);
        let mut data = frame.data.to_vec();
        data[16..].copy_from_slice(&word);
        ReceivedFrame { data: Bytes::from(data), ..frame }
    }

    /// Third octets of the control words that are delivered.
    fn words(
        control_word: ControlWordType,
        update: UpdateMode,
        frames: Vec<ReceivedFrame>,
    ) -> Vec<u8> {
        let offer = ServiceOffer::Rocf {
            channels: channels(),
            control_words: vec![0, 1, 2],
            tc_channels: Some(vec![2, 3]),
            updates: vec![UpdateMode::Continuous, UpdateMode::ChangeBased],
        };
        let config = ReturnConfig { offer, buffer_size: 99, ..ReturnConfig::raf() };
        let select = ReturnSelection::Ocf { channel: MASTER, control_word, update };
        let mut provider = Provider::active(config, start_of(select));
        provider.frames(frames);
        let out = provider.stop();
        let ServiceAction::Send(Pdu::TransferBuffer(parts)) = &out[0] else { return Vec::new() };
        parts
            .iter()
            .map(|part| match part {
                FrameOrNotification::Frame(frame) => {
                    assert_eq!(frame.data.len(), 4);
                    frame.data[2]
                }
                FrameOrNotification::Notification(_) => panic!("{part:?}"),
            })
            .collect()
    }

    #[test]
    fn control_word_types_of_rocf() {
        let clcw = |vc: u8, mark| ocf(0, mark, [1, vc << 2, mark, 0]);
        let other = |mark| ocf(0, mark, [0x81, 2 << 2, mark, 0]);
        let frames = vec![clcw(2, 1), other(2), clcw(3, 3), clcw(2, 4)];
        let continuous = UpdateMode::Continuous;
        let select = |control_word| words(control_word, continuous, frames.clone());
        assert_eq!(select(ControlWordType::All), [1, 2, 3, 4]);
        assert_eq!(select(ControlWordType::Clcw(None)), [1, 3, 4]);
        assert_eq!(select(ControlWordType::Clcw(Some(2))), [1, 4]);
        assert_eq!(select(ControlWordType::NotClcw), [2]);
    }

    #[test]
    fn only_changes_of_control_words() {
        let clcw = |vc: u8, mark| ocf(0, 0, [1, vc << 2, mark, 0]);
        let frames = vec![
            clcw(2, 1),
            clcw(2, 1),
            clcw(3, 1),
            clcw(2, 1),
            clcw(2, 5),
            clcw(3, 1),
            clcw(2, 1),
        ];
        assert_eq!(words(ControlWordType::All, UpdateMode::ChangeBased, frames), [1, 1, 5, 1]);
    }

    #[test]
    fn rocf_counts_frames_and_fields() {
        let select = ReturnSelection::Ocf {
            channel: VC1,
            control_word: ControlWordType::All,
            update: UpdateMode::ChangeBased,
        };
        let mut provider = Provider::active(rocf(), start_of(select));
        let word = [1, 2 << 2, 7, 7];
        provider.frames([ocf(1, 1, word), ocf(1, 2, word), ocf(2, 3, word)]);
        provider.stop();
        let counts = provider.machine.counts();
        assert_eq!((counts.processed, counts.delivered), (2, 1));
    }
}

mod reports {
    use super::*;

    fn schedule(provider: &mut Provider, request: ReportRequest) -> Vec<ServiceAction> {
        provider.pdu(Pdu::ScheduleStatusReport { invoke_id: 4, request })
    }

    fn refusal(provider: &mut Provider, request: ReportRequest) -> u8 {
        match schedule(provider, request)[..] {
            [
                ServiceAction::Send(Pdu::ScheduleStatusReportReturn {
                    invoke_id: 4,
                    result: Err(Diagnostic::Specific(number)),
                }),
            ] => number,
            ref other => panic!("not refused: {other:?}"),
        }
    }

    #[test]
    fn diagnostics() {
        let mut offline = Provider::ready(small(DeliveryMode::Offline));
        assert_eq!(refusal(&mut offline, ReportRequest::Immediately), 0);
        let config = ReturnConfig { min_reporting_cycle_s: 5, ..ReturnConfig::raf() };
        let mut provider = Provider::ready(config);
        assert_eq!(refusal(&mut provider, ReportRequest::Stop), 1);
        for cycle in [0, 4, 601] {
            assert_eq!(refusal(&mut provider, ReportRequest::Periodically(cycle)), 2);
        }
        assert_eq!(provider.machine.due(), None);
        assert_eq!(schedule(&mut provider, ReportRequest::Periodically(5)).len(), 2);
        assert_eq!(schedule(&mut provider, ReportRequest::Periodically(600)).len(), 2);
        assert_eq!(schedule(&mut provider, ReportRequest::Immediately).len(), 2);
        assert_eq!(
            provider.get(ParameterName::REPORTING_CYCLE),
            Ok(Parameter::ReportingCycle(Some(600)))
        );
        assert_eq!(schedule(&mut provider, ReportRequest::Stop).len(), 1);
        assert_eq!(provider.machine.due(), None);
        assert_eq!(refusal(&mut provider, ReportRequest::Stop), 1);
    }

    #[test]
    fn what_is_in_one() {
        let mut provider = Provider::raf(DeliveryMode::CompleteOnline);
        provider.frames([ReceivedFrame { quality: FrameQuality::Erred, ..nth(0) }, nth(1), nth(2)]);
        let locks = ReceiverLocks {
            frame_sync: LockStatus::InLock,
            symbol_sync: LockStatus::Unknown,
            subcarrier: LockStatus::NotInUse,
            carrier: LockStatus::OutOfLock,
        };
        provider.production(ReturnProduction::Locks(locks));
        let out = schedule(&mut provider, ReportRequest::Immediately);
        let report = ReturnStatusReport {
            processed: Some(2),
            delivered: 3,
            frame_sync: LockStatus::InLock,
            symbol_sync: LockStatus::Unknown,
            subcarrier: LockStatus::NotInUse,
            carrier: LockStatus::OutOfLock,
            production: ReturnProductionStatus::Running,
        };
        assert_eq!(out[1], ServiceAction::Send(Pdu::ReturnStatusReport(report)));
        let out = schedule(&mut Provider::ready(rcf()), ReportRequest::Immediately);
        let ServiceAction::Send(Pdu::ReturnStatusReport(report)) = out[1] else {
            panic!("{out:?}")
        };
        assert_eq!(report.processed, None);
    }
}

mod parameters {
    use super::*;
    use ParameterName as N;

    fn known(config: ReturnConfig, version: u16) -> Vec<u16> {
        let mut provider = Provider::unbound(config);
        provider.machine.bound(version, at(0));
        (0..400).filter(|number| provider.get(ParameterName(*number)).is_ok()).collect()
    }

    #[test]
    fn which_there_are_by_service_and_version() {
        assert_eq!(known(ReturnConfig::raf(), 4), [4, 6, 15, 26, 27, 29]);
        assert_eq!(known(ReturnConfig::raf(), 5), [4, 6, 15, 26, 27, 29, 301, 302]);
        assert_eq!(known(rcf(), 2), [4, 6, 15, 24, 26, 28, 29]);
        assert_eq!(known(rcf(), 5), [4, 6, 15, 24, 26, 28, 29, 301]);
        let rocf_4 = [4, 6, 15, 24, 26, 28, 29, 101, 102, 103, 104, 105, 106];
        assert_eq!(known(rocf(), 4), rocf_4);
        assert_eq!(known(rocf(), 5), [&rocf_4[..], &[301]].concat());
    }

    #[test]
    fn an_unknown_one_is_said_to_be() {
        let mut provider = Provider::ready(ReturnConfig::raf());
        assert_eq!(provider.get(N::PLOP_IN_EFFECT), Err(Diagnostic::Specific(0)));
    }

    #[test]
    fn values() {
        let mut provider = Provider::ready(ReturnConfig::raf());
        let mut get = |name| provider.get(name).unwrap();
        assert_eq!(get(N::BUFFER_SIZE), Parameter::BufferSize(80));
        let complete = Parameter::DeliveryMode(DeliveryMode::CompleteOnline);
        assert_eq!(get(N::DELIVERY_MODE), complete);
        assert_eq!(get(N::LATENCY_LIMIT), Parameter::LatencyLimit(Some(1)));
        assert_eq!(get(N::REPORTING_CYCLE), Parameter::ReportingCycle(None));
        assert_eq!(get(N::RETURN_TIMEOUT_PERIOD), Parameter::ReturnTimeoutPeriod(60));
        assert_eq!(get(N::MIN_REPORTING_CYCLE), Parameter::MinReportingCycle(2));
        let mut offline = Provider::ready(small(DeliveryMode::Offline));
        assert_eq!(offline.get(N::LATENCY_LIMIT), Ok(Parameter::LatencyLimit(None)));
    }

    #[test]
    fn what_is_requested_before_and_after_start() {
        use RequestedFrameQuality::{All, Good};
        let quality = |version, started| {
            let mut provider = Provider::unbound(ReturnConfig::raf());
            provider.machine.bound(version, at(0));
            if started {
                provider.start(raf_start()).unwrap();
            }
            match provider.get(N::REQUESTED_FRAME_QUALITY) {
                Ok(Parameter::RequestedFrameQuality(quality)) => quality,
                other => panic!("{other:?}"),
            }
        };
        assert_eq!((quality(4, false), quality(4, true)), (None, Some(All)));
        assert_eq!((quality(5, false), quality(5, true)), (Some(Good), Some(All)));
    }

    #[test]
    fn what_rocf_was_asked_for() {
        let select = ReturnSelection::Ocf {
            channel: VC1,
            control_word: ControlWordType::Clcw(Some(3)),
            update: UpdateMode::ChangeBased,
        };
        let mut provider = Provider::active(rocf(), start_of(select));
        let mut get = |name| provider.get(name).unwrap();
        assert_eq!(get(N::REQUESTED_GVCID), Parameter::RequestedGvcid(Some(VC1)));
        let kind = Parameter::RequestedControlWordType(Some(1));
        assert_eq!(get(N::REQUESTED_CONTROL_WORD_TYPE), kind);
        assert_eq!(get(N::REQUESTED_TC_VCID), Parameter::RequestedTcVcid(Some(Some(3))));
        let update = Parameter::RequestedUpdateMode(Some(UpdateMode::ChangeBased));
        assert_eq!(get(N::REQUESTED_UPDATE_MODE), update);
    }
}

mod user {
    use super::*;

    fn bound() -> ReturnUser {
        let mut user = ReturnUser::new(ServiceType::Raf);
        user.bound();
        user
    }

    /// Sends what the user makes to the provider, and what that answers back.
    fn exchange(provider: &mut Provider, user: &mut ReturnUser, pdu: Pdu) -> Vec<UserEvent> {
        let out = provider.pdu(pdu);
        out.into_iter().map(|action| give(user, action)).collect()
    }

    fn give(user: &mut ReturnUser, action: ServiceAction) -> UserEvent {
        match action {
            ServiceAction::Send(pdu) => user.pdu(pdu, at(0)).unwrap(),
            ServiceAction::Abort(why) => panic!("{why:?}"),
        }
    }

    #[test]
    fn a_whole_session() {
        let (mut provider, mut user) =
            (Provider::ready(small(DeliveryMode::CompleteOnline)), bound());
        let start = user.start(raf_start()).unwrap();
        assert_eq!(user.state(), UserState::Starting);
        let events = exchange(&mut provider, &mut user, start);
        assert_eq!(events, [UserEvent::Started(Ok(()))]);
        assert_eq!(user.state(), UserState::Active);
        let erred = ReceivedFrame { quality: FrameQuality::Erred, ..nth(9) };
        for action in provider.frames([nth(0), nth(3), erred]) {
            give(&mut user, action);
        }
        let get = user.get_parameter(ParameterName::BUFFER_SIZE).unwrap();
        let name = ParameterName::BUFFER_SIZE;
        let result = Ok(Parameter::BufferSize(3));
        let events = exchange(&mut provider, &mut user, get);
        assert_eq!(events, [UserEvent::Parameter { name, result }]);
        let report = user.schedule(ReportRequest::Immediately).unwrap();
        let events = exchange(&mut provider, &mut user, report);
        assert_eq!(events[0], UserEvent::ReportScheduled(Ok(())));
        assert!(matches!(events[1], UserEvent::Report(_)));
        provider.numbers([5]);
        let stop = user.stop().unwrap();
        assert_eq!(user.state(), UserState::Stopping);
        let events = exchange(&mut provider, &mut user, stop);
        assert!(matches!(&events[0], UserEvent::Buffer(parts) if parts.len() == 1));
        assert_eq!(events[1], UserEvent::Stopped(Ok(())));
        assert_eq!(user.state(), UserState::Ready);
        let counts = user.counts();
        assert_eq!((counts.buffers, counts.frames, counts.octets, counts.erred), (2, 4, 80, 1));
        assert_eq!(counts.missing, 2, "1 and 2; 4 is the erred one");
    }

    #[test]
    fn a_refused_start_is_ready_again() {
        let (mut provider, mut user) = (Provider::ready(rcf()), bound());
        let start = user.start(raf_start()).unwrap();
        let events = exchange(&mut provider, &mut user, start);
        assert_eq!(events, [UserEvent::Started(Err(Diagnostic::Specific(1)))]);
        assert_eq!(user.state(), UserState::Ready);
        assert!(user.start(raf_start()).is_ok());
    }

    #[test]
    fn a_refused_stop_is_active_still() {
        let mut user = bound();
        user.start(raf_start()).unwrap();
        user.pdu(Pdu::StartReturn { invoke_id: 0, result: Ok(PositiveStartReturn::Return) }, at(0))
            .unwrap();
        user.stop().unwrap();
        let result = Err(Diagnostic::OtherReason);
        user.pdu(Pdu::StopReturn { invoke_id: 1, result }, at(0)).unwrap();
        assert_eq!(user.state(), UserState::Active);
    }

    #[test]
    fn operations_out_of_state_are_not_made() {
        let mut user = ReturnUser::new(ServiceType::Raf);
        let error = user.start(raf_start()).unwrap_err();
        assert_eq!(error.to_string(), "START is not allowed in the state Unbound");
        assert!(user.stop().is_err() && user.schedule(ReportRequest::Stop).is_err());
        assert!(user.get_parameter(ParameterName::BUFFER_SIZE).is_err());
        user.bound();
        assert!(user.stop().is_err());
        let wrong = start_of(ReturnSelection::Channel(VC1));
        assert!(matches!(user.start(wrong), Err(UseError::Select { .. })));
        user.start(raf_start()).unwrap();
        assert!(user.start(raf_start()).is_err() && user.stop().is_err());
    }

    #[test]
    fn open_operations_are_bounded() {
        let mut user = bound();
        for _ in 0..64 {
            user.get_parameter(ParameterName::BUFFER_SIZE).unwrap();
        }
        let error = user.get_parameter(ParameterName::BUFFER_SIZE).unwrap_err();
        assert_eq!(error, UseError::TooManyOpen);
    }

    #[test]
    fn frames_that_were_not_asked_for_are_a_protocol_error() {
        let mut user = bound();
        let pdu = Pdu::TransferBuffer(Vec::new());
        assert_eq!(user.pdu(pdu.clone(), at(0)), Err(PeerAbortDiagnostic::ProtocolError));
        assert_eq!(user.state(), UserState::Unbound);
        user.bound();
        user.start(raf_start()).unwrap();
        assert_eq!(
            user.pdu(pdu, at(0)),
            Err(PeerAbortDiagnostic::ProtocolError),
            "not started yet"
        );
    }

    #[test]
    fn a_return_that_nobody_waits_for() {
        let mut user = bound();
        let pdu = Pdu::StopReturn { invoke_id: 5, result: Ok(()) };
        assert_eq!(user.pdu(pdu, at(0)), Err(PeerAbortDiagnostic::UnsolicitedInvokeId));
        user.bound();
        let Pdu::Start { invoke_id, .. } = user.start(raf_start()).unwrap() else { panic!() };
        let pdu = Pdu::StopReturn { invoke_id, result: Ok(()) };
        assert_eq!(
            user.pdu(pdu, at(0)),
            Err(PeerAbortDiagnostic::ProtocolError),
            "of another operation"
        );
    }
}
