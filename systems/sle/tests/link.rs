//! A user and a provider over real sockets, in one process.
#![allow(clippy::unwrap_used)]

use chronoscope_sle::client::{
    AssociationEnd, ClientError, ClientSettings, CltuFate, CltuTransfer, FrameSink, SleOccurrence,
    User,
};
use chronoscope_sle::config::Config;
use chronoscope_sle::frame::crc16;
use chronoscope_sle::pdu::{
    BindDiagnostic, BufferNotification, CltuNotification, CltuProductionStatus, ControlWordType,
    FrameOrNotification, GvcId, Parameter, ParameterName, PeerAbortDiagnostic, ReportRequest,
    RequestedFrameQuality, ReturnNotification, ReturnProductionStatus, ReturnSelection,
    ReturnStart, UnbindReason, UpdateMode,
};
use chronoscope_sle::provider::{self, ProviderLog, RunningProvider};
use std::net::UdpSocket;
use std::sync::mpsc;
use std::time::Duration;

const SOON: Duration = Duration::from_secs(10);

/// A provider of one FCLTU and one RAF instance, and the settings of its user.
struct Link {
    provider: RunningProvider,
    config: Config,
}

impl Link {
    fn with(more: &str) -> Self {
        Self::try_with(more).unwrap()
    }

    /// `None` where the provider cannot run.
    fn try_with(more: &str) -> Option<Self> {
        let text = format!(
            "[provider]\nid = \"STATION\"\npassword = \"station-pw\"\nlisten = [\"127.0.0.1:0\"]\n\
             [user]\nid = \"MCC\"\npassword = \"centre-pw\"\nreturn_timeout_s = 10\n{more}"
        );
        let config = Config::parse(&text).unwrap();
        match provider::run(&config, ProviderLog::new(|said| eprintln!("{said}"))) {
            Ok(provider) => Some(Self { provider, config }),
            Err(error) => {
                eprintln!("{error}");
                None
            }
        }
    }

    fn forward(more: &str) -> Self {
        Self::with(&format!(
            "[[instance]]\nid = \"sagr=1.spack=A.fsl-fg=1.cltu=cltu1\"\n[instance.forward]\n{more}"
        ))
    }

    fn settings(&self, instance: &str) -> ClientSettings {
        let mut settings = ClientSettings::of(&self.config, Some(instance)).unwrap();
        settings.address = self.provider.addresses()[0].to_string();
        settings
    }

    fn user(&self, instance: &str) -> User {
        User::connect(self.settings(instance)).unwrap()
    }

    fn bound(&self, instance: &str) -> User {
        let user = self.user(instance);
        user.bind().unwrap();
        user
    }
}

fn cltu(number: u32) -> CltuTransfer {
    CltuTransfer { data: number.to_be_bytes().repeat(4).into(), ..CltuTransfer::default() }
}

#[test]
fn cltus_are_acknowledged_and_radiated() {
    let link = Link::forward("");
    let user = link.user("cltu1");
    assert_eq!(user.bind().unwrap(), 5);
    user.start_forward(7).unwrap();
    for number in 0..2000 {
        let notify_radiated = number == 1999;
        let id = user.transfer(CltuTransfer { notify_radiated, ..cltu(number) }).unwrap();
        assert_eq!(id, 7 + number);
    }
    user.drain().unwrap();
    let told = std::iter::from_fn(|| user.next_occurrence(SOON));
    let mut radiated = told.filter_map(|one| match one {
        SleOccurrence::Notified(notify) => Some(notify),
        _ => None,
    });
    assert!(radiated.any(|notify| notify.notification == CltuNotification::CltuRadiated));
    assert_eq!(user.statistics().acknowledged, 2000);
    user.stop().unwrap();
    user.unbind(UnbindReason::End).unwrap();
    let fates = user.fates();
    assert_eq!(fates.len(), 1, "{fates:?}");
    let all = fates[0];
    assert_eq!((all.cltus.first, all.cltus.count, all.fate), (7, 2000, CltuFate::Radiated));
}

#[test]
fn parameters_reports_and_events() {
    let link = Link::forward("[[instance.forward.event]]\nid = 3\noutcome = \"completed\"\n");
    let user = link.bound("cltu1");
    let length = user.get_parameter(ParameterName::MAXIMUM_SLDU_LENGTH).unwrap();
    assert_eq!(length, Parameter::MaximumSlduLength(4096));
    let unknown = user.get_parameter(ParameterName::LATENCY_LIMIT).unwrap_err();
    assert_eq!(unknown.to_string(), "GET-PARAMETER was refused: unknown parameter");
    user.schedule(ReportRequest::Immediately).unwrap();
    let Some(SleOccurrence::Report(report)) = user.next_occurrence(SOON) else { panic!() };
    assert_eq!(report.production, CltuProductionStatus::Operational);
    user.throw_event(3, "x".into()).unwrap();
    let Some(SleOccurrence::Notified(notify)) = user.next_occurrence(SOON) else { panic!() };
    assert_eq!(notify.notification, CltuNotification::ActionListCompleted(0));
    let wrong = user.throw_event(4, "x".into()).unwrap_err();
    assert_eq!(wrong.to_string(), "THROW-EVENT was refused: no such event");
    user.unbind(UnbindReason::Suspend).unwrap();
}

#[test]
fn parameters_of_the_uplink_are_reported_as_configured() {
    let link = Link::with(
        "[[instance]]\nid = \"sagr=1.spack=A.fsl-fg=1.cltu=cltu1\"\nreturn_timeout_s = 9\n\
         min_reporting_cycle_s = 7\n[instance.forward]\ncltu_max = 2000\nminimum_delay_us = 5\n\
         continue_after_abort = true\nnotification = \"deferred\"\n[instance.forward.uplink]\n\
         bit_lock_required = true\nrf_available_required = true\n\
         modulation_frequency_dhz = 80000\nmodulation_index_mrad = 1250\n\
         subcarrier_to_bit_rate_ratio = 4\nplop = \"plop-1\"\nacquisition_sequence_octets = 22\n\
         plop1_idle_sequence_octets = 3\nclcw_channel = \"12.0.1\"\n\
         clcw_physical_channel = \"TM-X\"\n",
    );
    let channel = GvcId { spacecraft: 12, version: 0, virtual_channel: Some(1) };
    let user = link.bound("cltu1");
    for value in [
        Parameter::AcquisitionSequenceLength(22),
        Parameter::BitLockRequired(true),
        Parameter::ClcwGlobalVcid(Some(channel)),
        Parameter::ClcwPhysicalChannel(Some("TM-X".to_owned())),
        Parameter::MaximumSlduLength(2000),
        Parameter::MinimumDelayTime(5),
        Parameter::MinReportingCycle(7),
        Parameter::ModulationFrequency(80_000),
        Parameter::ModulationIndex(1250),
        Parameter::NotificationModeImmediate(false),
        Parameter::Plop1IdleSequenceLength(3),
        Parameter::PlopInEffect2(false),
        Parameter::ProtocolAbortModeContinue(true),
        Parameter::ReturnTimeoutPeriod(9),
        Parameter::RfAvailableRequired(true),
        Parameter::SubcarrierToBitRateRatio(4),
    ] {
        assert_eq!(user.get_parameter(value.name()).unwrap(), value);
    }
    // The minimum is also kept to.
    assert!(user.schedule(ReportRequest::Periodically(6)).is_err());
    user.schedule(ReportRequest::Periodically(7)).unwrap();
}

#[test]
fn return_services_report_configured_times() {
    let instance = |service: &str, more: &str| {
        format!(
            "[[instance]]\nid = \"sagr=1.spack=A.rsl-fg=1.{service}=onlc1\"\n\
             return_timeout_s = 11\nmin_reporting_cycle_s = 13\n[instance.return]\n\
             udp = \"127.0.0.1:0\"\nlatency_s = 3\nframes_per_buffer = 17\n{more}"
        )
    };
    let channels = "channels = [\"1.0\"]\n";
    let text = [instance("raf", ""), instance("rcf", channels), instance("rocf", channels)];
    let link = Link::with(&text.concat());
    for service in ["raf", "rcf", "rocf"] {
        let user = link.bound(&format!("{service}=onlc1"));
        for value in [
            Parameter::BufferSize(17),
            Parameter::LatencyLimit(Some(3)),
            Parameter::MinReportingCycle(13),
            Parameter::ReturnTimeoutPeriod(11),
        ] {
            assert_eq!(user.get_parameter(value.name()).unwrap(), value, "{service}");
        }
    }
}

#[test]
fn a_refused_cltu_is_told_once_and_the_next_goes() {
    let link = Link::forward("cltu_max = 100\n");
    let user = link.bound("cltu1");
    user.start_forward(0).unwrap();
    user.transfer(cltu(0)).unwrap();
    let long = CltuTransfer { data: vec![1; 101].into(), ..CltuTransfer::default() };
    user.transfer(long).unwrap();
    let told = user.drain().unwrap_err();
    assert_eq!(told.to_string(), "CLTU 1 was refused: CLTU error; the provider expects 1");
    assert_eq!(user.transfer(cltu(1)).unwrap(), 1);
    user.drain().unwrap();
    user.stop().unwrap();
    user.unbind(UnbindReason::End).unwrap();
    let statistics = user.statistics();
    assert_eq!((statistics.acknowledged, statistics.refused), (2, 1));
}

#[test]
fn blocked_cltus_go_in_one_invocation() {
    let link = Link::forward("blocking = true\n");
    let user = link.bound("cltu1");
    user.start_forward(0).unwrap();
    for _ in 0..10 {
        let buffer = (0..80).map(|number| cltu(number).data).collect();
        user.transfer_buffer(buffer, BufferNotification::Last).unwrap();
    }
    user.drain().unwrap();
    assert_eq!(user.statistics().acknowledged, 800);
    user.stop().unwrap();
    user.unbind(UnbindReason::End).unwrap();
}

#[test]
fn an_operator_interrupts_and_resumes() {
    let link = Link::forward("");
    let user = link.bound("cltu1");
    user.start_forward(0).unwrap();
    assert_eq!(link.provider.order("interrupt cltu1"), "ok");
    let Some(SleOccurrence::Notified(notify)) = user.next_occurrence(SOON) else { panic!() };
    assert_eq!(notify.notification, CltuNotification::ProductionInterrupted);
    user.transfer(cltu(0)).unwrap();
    let told = user.drain().unwrap_err().to_string();
    assert_eq!(told, "CLTU 0 was refused: unable to process; the provider expects 0");
    assert_eq!(link.provider.order("resume"), "ok");
    let Some(SleOccurrence::Notified(notify)) = user.next_occurrence(SOON) else { panic!() };
    assert_eq!(notify.notification, CltuNotification::ProductionOperational);
    assert!(link.provider.order("halt cltu2").starts_with("error: there is no service instance"));
    let status = link.provider.order("status");
    assert!(status.contains("Fcltu Active, MCC bound, version 5"), "{status}");
}

#[test]
fn an_event_sets_production_and_the_interruption_waits_for_a_cltu() {
    let link = Link::forward(
        "notification = \"deferred\"\n\
         [[instance.forward.event]]\nid = 1\nproduction = \"interrupted\"\n",
    );
    let user = link.bound("cltu1");
    let mode = user.get_parameter(ParameterName::NOTIFICATION_MODE).unwrap();
    assert_eq!(mode, Parameter::NotificationModeImmediate(false));
    user.start_forward(0).unwrap();
    user.throw_event(1, "x".into()).unwrap();
    let Some(SleOccurrence::Notified(notify)) = user.next_occurrence(SOON) else { panic!() };
    assert_eq!(notify.notification, CltuNotification::ActionListCompleted(0), "and nothing before");
    assert_eq!(notify.production, CltuProductionStatus::Interrupted);
    user.transfer(cltu(0)).unwrap();
    let told = std::iter::from_fn(|| user.next_occurrence(SOON));
    let mut told = told.filter_map(|one| match one {
        SleOccurrence::Notified(notify) => Some(notify.notification),
        _ => None,
    });
    assert_eq!(told.next(), Some(CltuNotification::ProductionInterrupted));
}

#[test]
fn production_that_is_over_is_not_started() {
    let link = Link::forward("production_until = 2020-01-01T00:00:00Z\n");
    let refused = link.bound("cltu1").start_forward(0).unwrap_err();
    assert_eq!(refused.to_string(), "START was refused: production time expired");
}

#[test]
fn only_what_is_permitted_may_be_asked_for() {
    let link = Link::with(&format!("{RAF}udp = \"127.0.0.1:0\"\nqualities = [\"good\"]\n"));
    let user = link.bound("onlc1");
    let permitted = user.get_parameter(ParameterName::PERMITTED_FRAME_QUALITY).unwrap();
    let good = RequestedFrameQuality::Good;
    assert_eq!(permitted, Parameter::PermittedFrameQuality(vec![good]));
    assert!(user.start_return(all_frames()).is_err());
    let select = ReturnSelection::Frames(good);
    user.start_return(ReturnStart { start: None, stop: None, select }).unwrap();

    let link = Link::with(
        "[[instance]]\nid = \"sagr=1.spack=A.rsl-fg=1.rocf=onlc1\"\n[instance.return]\n\
         udp = \"127.0.0.1:0\"\nchannels = [\"1.0.0\"]\ncontrol_words = [\"clcw\"]\n\
         tc_channels = [3]\nupdate_modes = [\"change-based\"]\n",
    );
    let user = link.bound("onlc1");
    let of = |name| user.get_parameter(name).unwrap();
    let words = of(ParameterName::PERMITTED_CONTROL_WORD_TYPE_SET);
    assert_eq!(words, Parameter::PermittedControlWordTypeSet(vec![1]));
    let channels = of(ParameterName::PERMITTED_TC_VCID_SET);
    assert_eq!(channels, Parameter::PermittedTcVcidSet(Some(vec![3])));
    let modes = of(ParameterName::PERMITTED_UPDATE_MODE_SET);
    assert_eq!(modes, Parameter::PermittedUpdateModeSet(vec![UpdateMode::ChangeBased]));
    let channel = GvcId { spacecraft: 1, version: 0, virtual_channel: Some(0) };
    for (tc_channel, update, is_permitted) in [
        (4, UpdateMode::ChangeBased, false),
        (3, UpdateMode::Continuous, false),
        (3, UpdateMode::ChangeBased, true),
    ] {
        let control_word = ControlWordType::Clcw(Some(tc_channel));
        let select = ReturnSelection::Ocf { channel, control_word, update };
        let started = user.start_return(ReturnStart { start: None, stop: None, select });
        assert_eq!(started.is_ok(), is_permitted, "{select:?}: {started:?}");
    }
}

#[test]
fn one_binding_at_a_time() {
    let link = Link::forward("");
    let first = link.bound("cltu1");
    let refused = link.user("cltu1").bind().unwrap_err();
    assert!(matches!(refused, ClientError::BindRefused(BindDiagnostic::AlreadyBound)));
    first.unbind(UnbindReason::End).unwrap();
    link.bound("cltu1").unbind(UnbindReason::End).unwrap();
}

#[test]
fn an_aborted_user_leaves_the_instance_free() {
    let link = Link::forward("");
    for _ in 0..3 {
        let user = bound_soon(&link);
        user.start_forward(0).unwrap();
        user.transfer(cltu(0)).unwrap();
        user.abort(PeerAbortDiagnostic::OperationalRequirement);
        assert!(matches!(user.ending(), Some(AssociationEnd::Aborted { .. })));
    }
    let user = bound_soon(&link);
    user.start_forward(0).unwrap();
    user.transfer(cltu(0)).unwrap();
    user.reset();
    bound_soon(&link);
}

/// Binds as soon as the provider has seen the end of the one before.
fn bound_soon(link: &Link) -> User {
    for _ in 0..3000 {
        let user = link.user("cltu1");
        match user.bind() {
            Ok(_) => return user,
            Err(ClientError::BindRefused(BindDiagnostic::AlreadyBound)) => {}
            Err(other) => panic!("{other}"),
        }
        chronoscope_clock::sleep(Duration::from_millis(10));
    }
    panic!("still bound");
}

#[test]
fn every_fate_is_known_when_the_provider_aborts() {
    let link = Link::forward("bit_rate = 8000\n");
    let user = link.bound("cltu1");
    user.start_forward(0).unwrap();
    for number in 0..50 {
        user.transfer(CltuTransfer { notify_radiated: true, ..cltu(number) }).unwrap();
    }
    assert_eq!(link.provider.order("abort"), "ok");
    let why = loop {
        match user.transfer(cltu(0)) {
            Ok(_) => {}
            Err(why) => break why,
        }
    };
    assert!(why.to_string().contains("the peer aborted: OperationalRequirement"), "{why}");
    let handed_over = user.statistics().sent;
    let fates = user.fates();
    let known: u64 = fates.iter().map(|one| u64::from(one.cltus.count)).sum();
    assert_eq!(known, handed_over, "{fates:?}");
}

const RAF: &str = "[[instance]]\nid = \"sagr=1.spack=A.rsl-fg=1.raf=onlc1\"\n[instance.return]\n";

/// Frames as they came, by a sink.
fn collecting() -> (FrameSink, mpsc::Receiver<FrameOrNotification>) {
    let (to, from) = mpsc::channel();
    let sink = move |parts: Vec<FrameOrNotification>| {
        for part in parts {
            // Whoever has seen enough listens no more.
            let _ = to.send(part);
        }
    };
    (Box::new(sink), from)
}

fn all_frames() -> ReturnStart {
    ReturnStart {
        start: None,
        stop: None,
        select: ReturnSelection::Frames(RequestedFrameQuality::All),
    }
}

/// 80 frames of 100 octets are one frame of 8000 on the wire, whose octets are the 80 frames.
#[test]
fn concatenated_frames_are_one_data_unit() {
    let link = Link::with(&format!(
        "{RAF}frames_per_buffer = 1\nconcatenated = 80\n\
         [instance.return.generator]\noctets = 100\ncount = 8040\n"
    ));
    let (sink, frames) = collecting();
    let user = User::connect_with(link.settings("onlc1"), sink).unwrap();
    user.bind().unwrap();
    user.start_return(all_frames()).unwrap();
    for unit in 0..=100u64 {
        let FrameOrNotification::Frame(frame) = frames.recv_timeout(SOON).unwrap() else {
            panic!()
        };
        let count = if unit < 100 { 80 } else { 40 };
        assert_eq!(frame.data.len(), count * 100);
        assert_eq!(frame.data_link_continuity, -1, "the header is that of one of the frames");
        for (at, frame) in frame.data.chunks(100).enumerate() {
            let number = unit * 80 + at as u64;
            assert_eq!(frame[6..14], number.to_be_bytes(), "frame {number} in its place");
            assert_eq!(crc16(frame), 0, "frame {number} is whole");
        }
    }
    assert_eq!(user.statistics().returned.frames, 101);
}

#[test]
fn only_raf_online_concatenates() {
    let wrong = |more: &str| Link::try_with(&format!("{RAF}{more}")).is_none();
    assert!(wrong("concatenated = 0\n[instance.return.generator]\n"));
    assert!(wrong("concatenated = 80\n[instance.return.generator]\noctets = 1115\n"));
    assert!(!wrong("concatenated = 58\n[instance.return.generator]\noctets = 1115\n"));
}

#[test]
fn generated_frames_come_in_order_and_end() {
    let link = Link::with(&format!(
        "{RAF}frames_per_buffer = 7\n[instance.return.generator]\noctets = 100\ncount = 5000\n"
    ));
    let (sink, frames) = collecting();
    let user = User::connect_with(link.settings("onlc1"), sink).unwrap();
    user.bind().unwrap();
    user.start_return(all_frames()).unwrap();
    for number in 0..5000u64 {
        let FrameOrNotification::Frame(frame) = frames.recv_timeout(SOON).unwrap() else {
            panic!()
        };
        assert_eq!(frame.data.len(), 100);
        // Of one virtual channel: its count is in the fourth octet.
        assert_eq!(u64::from(frame.data[3]), number % 256);
        assert_eq!(frame.data_link_continuity, if number == 0 { -1 } else { 0 });
    }
    let FrameOrNotification::Notification(last) = frames.recv_timeout(SOON).unwrap() else {
        panic!()
    };
    assert_eq!(last.notification, ReturnNotification::EndOfData);
    assert_eq!(user.statistics().returned.frames, 5000);
    let unknown = user.get_parameter(ParameterName::MAXIMUM_SLDU_LENGTH).unwrap_err();
    assert!(unknown.to_string().contains("unknown parameter"), "{unknown}");
    user.stop().unwrap();
    user.start_return(all_frames()).unwrap();
    let FrameOrNotification::Notification(last) = frames.recv_timeout(SOON).unwrap() else {
        panic!("no frame is left")
    };
    assert_eq!(last.notification, ReturnNotification::EndOfData);
    user.stop().unwrap();
    user.unbind(UnbindReason::End).unwrap();
}

#[test]
fn datagrams_become_frames_within_the_latency_limit() {
    let link = Link::with(&format!("{RAF}udp = \"127.0.0.1:0\"\n"));
    let (sink, frames) = collecting();
    let user = User::connect_with(link.settings("onlc1"), sink).unwrap();
    user.bind().unwrap();
    user.start_return(all_frames()).unwrap();
    let modem = UdpSocket::bind("127.0.0.1:0").unwrap();
    let to = link.provider.source("onlc1").unwrap();
    for octet in 0..3u8 {
        modem.send_to(&[octet; 50], to).unwrap();
    }
    for octet in 0..3u8 {
        let FrameOrNotification::Frame(frame) = frames.recv_timeout(SOON).unwrap() else {
            panic!()
        };
        assert_eq!(frame.data, vec![octet; 50]);
    }
    assert_eq!(link.provider.order("halt onlc1"), "ok");
    let FrameOrNotification::Notification(told) = frames.recv_timeout(SOON).unwrap() else {
        panic!()
    };
    let halted = ReturnNotification::ProductionStatusChange(ReturnProductionStatus::Halted);
    assert_eq!(told.notification, halted);
    user.stop().unwrap();
    user.unbind(UnbindReason::End).unwrap();
}

#[test]
fn credentials_are_wanted_and_given() {
    for (auth, hash) in [("bind", "sha1"), ("all", "sha1"), ("bind", "sha256"), ("all", "sha256")] {
        let link = Link::with(&format!(
            "[security]\nauth = \"{auth}\"\nhash = \"{hash}\"\n\
             [[instance]]\nid = \"sagr=1.spack=A.fsl-fg=1.cltu=cltu1\"\n"
        ));
        let user = link.bound("cltu1");
        user.start_forward(0).unwrap();
        for number in 0..100 {
            user.transfer(cltu(number)).unwrap();
        }
        user.drain().unwrap();
        user.stop().unwrap();
        user.unbind(UnbindReason::End).unwrap();
        let mut wrong = link.settings("cltu1");
        wrong.association.initiator.password = b"another".to_vec();
        let refused = User::connect(wrong).unwrap().bind().unwrap_err().to_string();
        assert!(refused.contains("AccessDenied"), "{auth} {hash}: {refused}");
    }
}

/// As RAF and RCF of one antenna: every frame goes to both, whichever of them is bound.
#[test]
fn instances_share_a_udp_source() {
    // A port that was free a moment ago; another program may have taken it, then another is tried.
    let link = (0..10).find_map(|_| {
        let port = UdpSocket::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
        let of = |id: &str, more: &str| {
            format!(
                "[[instance]]\nid = \"sagr=1.spack=A.rsl-fg=1.{id}\"\n[instance.return]\n\
                 udp = \"{port}\"\n{more}\n"
            )
        };
        let both = of("raf=onlc1", "") + &of("rcf=onlc2", "channels = [\"0.0.7\"]");
        Link::try_with(&both)
    });
    let link = link.expect("one of ten ports is free");
    let start = |instance: &str, select: ReturnSelection| {
        let (sink, frames) = collecting();
        let user = User::connect_with(link.settings(instance), sink).unwrap();
        user.bind().unwrap();
        user.start_return(ReturnStart { start: None, stop: None, select }).unwrap();
        (user, frames)
    };
    let (raf, of_raf) = start("onlc1", ReturnSelection::Frames(RequestedFrameQuality::All));
    let channel = GvcId { spacecraft: 0, version: 0, virtual_channel: Some(7) };
    let (rcf, of_rcf) = start("onlc2", ReturnSelection::Channel(channel));
    let modem = UdpSocket::bind("127.0.0.1:0").unwrap();
    let to = link.provider.source("onlc1").unwrap();
    assert_eq!(link.provider.source("onlc2").unwrap(), to);
    // The virtual channel is in bits 12 to 14 of a TM frame.
    for channel in [7u8, 1, 7] {
        let mut frame = [channel; 50];
        frame[..2].copy_from_slice(&[0, channel << 1]);
        modem.send_to(&frame, to).unwrap();
    }
    let channel_of = |part| match part {
        FrameOrNotification::Frame(frame) => frame.data[49],
        other => panic!("{other:?}"),
    };
    let next = |frames: &mpsc::Receiver<_>| channel_of(frames.recv_timeout(SOON).unwrap());
    assert_eq!([next(&of_raf), next(&of_raf), next(&of_raf)], [7, 1, 7]);
    assert_eq!([next(&of_rcf), next(&of_rcf)], [7, 7]);
    for user in [raf, rcf] {
        user.stop().unwrap();
        user.unbind(UnbindReason::End).unwrap();
    }
}
