//! UTL as provider of our user.

use crate::peer::{LONG, Peer, Session, hex, utl};
use crate::station::{Auth, LEVELS, cltu, frame, levels, of_peer, user};
use chronoscope_sle::client::{
    AssociationEnd, CltuFate, CltuTransfer, FrameSink, SleOccurrence, User,
};
use chronoscope_sle::pdu::{
    AntennaId, CltuNotification, CltuProductionStatus, ControlWordType, DeliveryMode,
    FrameOrNotification, FrameQuality, GvcId, LockStatus, Parameter, ParameterName,
    PeerAbortDiagnostic, ReportRequest, RequestedFrameQuality, ReturnNotification,
    ReturnProductionStatus, ReturnSelection, ReturnStart, UnbindReason, UpdateMode,
};
use serde_json::json;
use std::sync::mpsc;

fn listening(peer: &'static Peer, service: &str, auth: Auth, version: u16) -> (Session, u64) {
    eprintln!("{service}, version {version}, {auth:?}");
    let theirs = peer.session(&format!("provider {service} frames=5 {}", of_peer(auth, version)));
    let port = theirs.event("listening")["port"].as_u64().unwrap();
    (theirs, port)
}

fn notified(user: &User) -> CltuNotification {
    match user.next_occurrence(LONG) {
        Some(SleOccurrence::Notified(notify)) => notify.notification,
        other => panic!("{other:?}"),
    }
}

#[test]
fn fcltu() {
    let Some(peer) = utl("UTL as provider of FCLTU") else { return };
    for (auth, version) in levels() {
        let (theirs, port) = listening(peer, "fcltu", auth, version);
        let ours = user("fcltu", auth, version, port, None);
        assert_eq!(ours.bind().unwrap(), version);
        assert_eq!(
            ours.get_parameter(ParameterName::MAXIMUM_SLDU_LENGTH).unwrap(),
            Parameter::MaximumSlduLength(65_536)
        );
        assert_eq!(
            ours.get_parameter(ParameterName::RETURN_TIMEOUT_PERIOD).unwrap(),
            Parameter::ReturnTimeoutPeriod(60)
        );
        ours.start_forward(1).unwrap();
        theirs.state("ACTIVE");
        for number in 1..=20 {
            let data = cltu(number).into();
            let told =
                CltuTransfer { data, notify_radiated: number == 20, ..CltuTransfer::default() };
            assert_eq!(ours.transfer(told).unwrap(), number);
        }
        ours.drain().unwrap();
        assert_eq!(ours.statistics().acknowledged, 20);
        for number in 1..=20 {
            let taken = theirs.event("cltu");
            assert_eq!(taken["id"], json!(number));
            assert_eq!(taken["notify"], json!(number == 20));
            assert_eq!(taken["octets"], json!(hex(&cltu(number))));
        }
        notifications(&ours, &theirs);
        ours.stop().unwrap();
        ours.unbind(UnbindReason::End).unwrap();
        theirs.state("UNBOUND");
        let fates: Vec<_> =
            ours.fates().iter().map(|one| (one.cltus.first, one.cltus.count, one.fate)).collect();
        assert_eq!(fates.iter().map(|fate| fate.1).sum::<u32>(), 20, "{fates:?}");
        assert_eq!(fates.last().unwrap().2, CltuFate::Radiated, "{fates:?}");
    }
}

fn notifications(ours: &User, theirs: &Session) {
    theirs.done("progress 20 PRODUCTION_STARTED");
    theirs.done("progress 20 RADIATED");
    assert_eq!(notified(ours), CltuNotification::CltuRadiated);
    theirs.done("empty");
    assert_eq!(notified(ours), CltuNotification::BufferEmpty);
    ours.throw_event(3, "x".into()).unwrap();
    let thrown = theirs.event("event");
    assert_eq!((&thrown["id"], &thrown["qualifier"]), (&json!(3), &json!("78")));
    theirs.done("event 0 completed");
    assert_eq!(notified(ours), CltuNotification::ActionListCompleted(0));
    theirs.done("production INTERRUPTED");
    assert_eq!(notified(ours), CltuNotification::ProductionInterrupted);
    theirs.done("production OPERATIONAL");
    assert_eq!(notified(ours), CltuNotification::ProductionOperational);
    ours.schedule(ReportRequest::Immediately).unwrap();
    let Some(SleOccurrence::Report(report)) = ours.next_occurrence(LONG) else {
        panic!("no report")
    };
    assert_eq!((report.received, report.radiated), (20, 1));
    assert_eq!(report.production, CltuProductionStatus::Operational);
}

fn collecting() -> (FrameSink, mpsc::Receiver<FrameOrNotification>) {
    let (to, from) = mpsc::channel();
    let sink = move |parts: Vec<FrameOrNotification>| {
        for part in parts {
            // A test that has failed listens no more.
            let _ = to.send(part);
        }
    };
    (Box::new(sink), from)
}

const CHANNEL: GvcId = GvcId { spacecraft: 1, version: 0, virtual_channel: Some(0) };

fn returned(service: &str, test: &str, select: ReturnSelection) {
    let Some(peer) = utl(test) else { return };
    for (auth, version) in levels() {
        let (theirs, port) = listening(peer, service, auth, version);
        let (sink, from) = collecting();
        let ours = user(service, auth, version, port, Some(sink));
        assert_eq!(ours.bind().unwrap(), version);
        ours.start_return(ReturnStart { start: None, stop: None, select }).unwrap();
        theirs.state("ACTIVE");
        for number in 0..10 {
            theirs.done(&format!("frame {}", hex(&frame(number))));
        }
        for number in 0..10 {
            let FrameOrNotification::Frame(got) = from.recv_timeout(LONG).unwrap() else {
                panic!()
            };
            let sent = frame(number);
            let expected = if service == "rocf" { &sent[60..] } else { &sent[..] };
            assert_eq!(got.data, expected, "frame {number}");
            assert_eq!(got.antenna, AntennaId::Local(vec![0x41, 0x4e, 0x54].into()));
            assert_eq!(got.data_link_continuity, 0);
            let quality = (service == "raf").then_some(FrameQuality::Good);
            assert_eq!(got.quality, quality);
        }
        parameters(&ours, select);
        ours.schedule(ReportRequest::Immediately).unwrap();
        let Some(SleOccurrence::ReturnReport(report)) = ours.next_occurrence(LONG) else {
            panic!("no report")
        };
        assert_eq!(report.delivered, 10);
        assert_eq!(
            (report.frame_sync, report.subcarrier),
            (LockStatus::InLock, LockStatus::NotInUse)
        );
        notices(&theirs, &from);
        ours.stop().unwrap();
        ours.unbind(UnbindReason::End).unwrap();
        theirs.state("UNBOUND");
    }
}

fn parameters(ours: &User, select: ReturnSelection) {
    let of = |name| ours.get_parameter(name).unwrap();
    assert_eq!(
        of(ParameterName::DELIVERY_MODE),
        Parameter::DeliveryMode(DeliveryMode::CompleteOnline)
    );
    assert_eq!(of(ParameterName::BUFFER_SIZE), Parameter::BufferSize(5));
    match select {
        ReturnSelection::Frames(quality) => assert_eq!(
            of(ParameterName::REQUESTED_FRAME_QUALITY),
            Parameter::RequestedFrameQuality(Some(quality))
        ),
        ReturnSelection::Channel(channel) | ReturnSelection::Ocf { channel, .. } => {
            assert_eq!(
                of(ParameterName::REQUESTED_GVCID),
                Parameter::RequestedGvcid(Some(channel))
            );
        }
    }
}

/// What a provider tells in the stream of frames, in its order.
fn notices(theirs: &Session, from: &mpsc::Receiver<FrameOrNotification>) {
    let next = || match from.recv_timeout(LONG).unwrap() {
        FrameOrNotification::Notification(notice) => notice.notification,
        FrameOrNotification::Frame(frame) => panic!("{frame:?}"),
    };
    theirs.done("lose-sync");
    let ReturnNotification::LossFrameSync(lock) = next() else { panic!() };
    assert_eq!((lock.carrier, lock.subcarrier), (LockStatus::InLock, LockStatus::NotInUse));
    theirs.done("production INTERRUPTED");
    let change = ReturnNotification::ProductionStatusChange;
    assert_eq!(next(), change(ReturnProductionStatus::Interrupted));
    theirs.done("production RUNNING");
    assert_eq!(next(), change(ReturnProductionStatus::Running));
    theirs.done("end");
    assert_eq!(next(), ReturnNotification::EndOfData);
}

#[test]
fn raf() {
    returned("raf", "UTL as provider of RAF", ReturnSelection::Frames(RequestedFrameQuality::All));
}

#[test]
fn rcf() {
    returned("rcf", "UTL as provider of RCF", ReturnSelection::Channel(CHANNEL));
}

#[test]
fn rocf() {
    let (control_word, update) = (ControlWordType::Clcw(Some(0)), UpdateMode::Continuous);
    let select = ReturnSelection::Ocf { channel: CHANNEL, control_word, update };
    returned("rocf", "UTL as provider of ROCF", select);
}

/// Its urgent octet ends the association, with its reason; what had not been answered is unknown.
#[test]
fn it_aborts() {
    let Some(peer) = utl("UTL as provider aborts") else { return };
    let (theirs, port) = listening(peer, "fcltu", LEVELS[0], 5);
    let ours = user("fcltu", LEVELS[0], 5, port, None);
    ours.bind().unwrap();
    ours.start_forward(1).unwrap();
    // Its error may come before the order is said to be done.
    theirs.order("abort END_OF_SERVICE_PROVISION_PERIOD");
    assert!(ours.next_occurrence(LONG).is_none(), "ends without one");
    let diagnostic = PeerAbortDiagnostic::EndOfServiceProvisionPeriod;
    assert!(
        matches!(ours.ending(), Some(AssociationEnd::PeerAborted(why)) if why == diagnostic),
        "{:?}",
        ours.ending()
    );
}

/// And ours ends theirs.
#[test]
fn we_abort() {
    let Some(peer) = utl("UTL as provider is aborted") else { return };
    let (theirs, port) = listening(peer, "raf", LEVELS[0], 5);
    let ours = user("raf", LEVELS[0], 5, port, None);
    ours.bind().unwrap();
    theirs.state("READY");
    ours.abort(PeerAbortDiagnostic::OperationalRequirement);
    let why = theirs.failure();
    assert!(why.contains("REMOTE_PEER_ABORT, reason OPERATIONAL_REQUIREMENTS"), "{why}");
}
