//! UTL as user of our provider.

use crate::peer::{LONG, Peer, Session, hex, utl};
use crate::station::{Auth, LEVELS, cltu, frame, instance, levels, of_peer, provider};
use chronoscope_sle::provider::RunningProvider;
use std::net::UdpSocket;

/// A session as user of ours, bound. At the level `bind` UTL gives UNBIND credentials too, which its
/// own provider refuses and ours does not look at.
fn bound(
    peer: &'static Peer,
    service: &str,
    ours: &RunningProvider,
    (auth, version): (Auth, u16),
) -> Session {
    eprintln!("{service}, version {version}, {auth:?}");
    let port = ours.addresses()[0].port();
    let user = peer.session(&format!("user {service} port={port} {}", of_peer(auth, version)));
    user.order("bind");
    user.operation("BIND-RETURN", &["TESTPROV", &format!("positive:{version}")]);
    user.state("READY");
    user
}

fn finish(user: &Session) {
    user.order("stop");
    user.operation("STOP-RETURN", &["positiveResult"]);
    user.state("READY");
    user.order("unbind");
    user.state("UNBOUND");
}

fn forward(modem: &UdpSocket) -> String {
    format!(
        "[instance.forward]\nmodem = \"{}\"\ncltu_max = 2000\n\
         [[instance.forward.event]]\nid = 3\noutcome = \"completed\"\n\
         [[instance.forward.event]]\nid = 4\noutcome = \"condition-false\"\n",
        modem.local_addr().unwrap()
    )
}

#[test]
fn fcltu() {
    let Some(peer) = utl("UTL as user of FCLTU") else { return };
    for (auth, version) in levels() {
        let modem = UdpSocket::bind("127.0.0.1:0").unwrap();
        modem.set_read_timeout(Some(LONG)).unwrap();
        let ours = provider("fcltu", auth, version, &forward(&modem));
        let user = bound(peer, "fcltu", &ours, (auth, version));
        parameters(&user, version);
        user.order("start");
        user.operation("START-RETURN", &["positiveResult", "startRadiationTime"]);
        user.state("ACTIVE");
        for number in 1..=20u32 {
            let notify = if number == 20 { "notify" } else { "-" };
            user.order(&format!("cltu {number} {notify} {}", hex(&cltu(number))));
        }
        for number in 1..=20u32 {
            let next = format!("cltuIdentification:{},", number + 1);
            user.operation("TRANSFER-DATA-RETURN", &[&next, "positiveResult"]);
            let mut datagram = [0; 100];
            let length = modem.recv(&mut datagram).unwrap();
            assert_eq!(datagram[..length], cltu(number), "CLTU {number}");
        }
        let last = "cltuIdentification:20,";
        user.operation("NOTIFY", &["cltuRadiated", last, "cltuStatus:0"]);
        user.operation("NOTIFY", &["bufferEmpty", last]);
        user.order("report");
        user.operation("SCHEDULE-STATUS-REPORT-RETURN", &["positiveResult"]);
        user.operation(
            "STATUS-REPORT",
            &[
                last,
                "numberOfCltusReceived:20",
                "numberOfCltusProcessed:20",
                "numberOfCltusRadiated:20",
                "cltuBufferAvailable:8388608",
                "cltuProductionStatus:0",
            ],
        );
        events_and_orders(&user, &ours);
        finish(&user);
    }
}

/// What is asked for before START.
fn parameters(user: &Session, version: u16) {
    let mut asked = vec![
        ("MAXIMUM_SLDU_LENGTH", "parameterValue:2000"),
        ("BIT_LOCK_REQUIRED", "parameterValue:"),
        ("DELIVERY_MODE", "parameterValue:3"),
        ("EXPECTED_SLDU_IDENTIFICATION", "parameterValue:0"),
        ("MODULATION_FREQUENCY", "parameterValue:"),
        ("PLOP_IN_EFFECT", "parameterValue:"),
        ("RETURN_TIMEOUT_PERIOD", "parameterValue:60"),
        ("REPORTING_CYCLE", "periodicReportingOff"),
    ];
    if version >= 4 {
        asked.push(("MINIMUM_DELAY_TIME", "parameterValue:0"));
        asked.push(("NOTIFICATION_MODE", "parameterValue:"));
        asked.push(("ACQUISITION_SEQUENCE_LENGTH", "parameterValue:"));
        asked.push(("PROTOCOL_ABORT_MODE", "parameterValue:"));
    }
    if version == 4 {
        // There is no channel, which this version cannot say.
        user.order("parameter CLCW_GLOBAL_VCID");
        user.operation("GET-PARAMETER-RETURN", &["negativeResult:specific:0"]);
    }
    if version >= 5 {
        asked.push(("CLCW_GLOBAL_VCID", "notConfigured"));
        asked.push(("MIN_REPORTING_CYCLE", "parameterValue:"));
    }
    for (name, value) in asked {
        user.order(&format!("parameter {name}"));
        user.operation("GET-PARAMETER-RETURN", &["positiveResult", value]);
    }
}

fn events_and_orders(user: &Session, ours: &RunningProvider) {
    user.order("event 0 3 010203");
    user.operation("THROW-EVENT-RETURN", &["positiveResult", "eventInvocationIdentification:1,"]);
    user.operation("NOTIFY", &["actionListCompleted:0"]);
    user.order("event 1 4 01");
    user.operation("NOTIFY", &["eventConditionEvFalse:1"]);
    user.order("event 2 5 01");
    user.operation("THROW-EVENT-RETURN", &["negativeResult", "specific:2"]);
    user.order(&format!("cltu 30 - {}", hex(&cltu(30))));
    user.operation(
        "TRANSFER-DATA-RETURN",
        &["negativeResult", "specific:2", "cltuIdentification:21,"],
    );
    assert_eq!(ours.order("interrupt"), "ok");
    user.operation("NOTIFY", &["productionInterrupted", "productionStatus:2"]);
    user.order(&format!("cltu 21 - {}", hex(&cltu(21))));
    user.operation(
        "TRANSFER-DATA-RETURN",
        &["negativeResult", "specific:0", "cltuIdentification:21,"],
    );
    assert_eq!(ours.order("resume"), "ok");
    user.operation("NOTIFY", &["productionOperational", "productionStatus:0"]);
}

/// Frames as datagrams, so that none is there before it is asked for.
fn returned(service: &str, test: &str, permitted: &str) {
    let Some(peer) = utl(test) else { return };
    for (auth, version) in levels() {
        let more =
            format!("[instance.return]\nudp = \"127.0.0.1:0\"\nframes_per_buffer = 5\n{permitted}");
        let ours = provider(service, auth, version, &more);
        let user = bound(peer, service, &ours, (auth, version));
        user.order("start");
        user.operation("START-RETURN", &["positiveResult"]);
        user.state("ACTIVE");
        let modem = UdpSocket::bind("127.0.0.1:0").unwrap();
        let to = ours.source(&instance(service)).unwrap();
        // The latency limit sends what does not fill a buffer.
        let count = if version == 5 { 23 } else { 25 };
        for number in 0..count {
            modem.send_to(&frame(number), to).unwrap();
        }
        for number in 0..count {
            let sent = frame(number);
            let expected = if service == "rocf" { &sent[60..] } else { &sent[..] };
            assert_eq!(user.frame(), expected, "frame {number}");
        }
        // Until version 4 all of them, and RCF always, can say that nothing is requested.
        let channel = "spacecraftId:1,versionNumber:0,vcId:virtualChannel:0";
        let chosen = format!("parameterValue:gvcid:{{{channel}");
        let bare = format!("parameterValue:{{{channel}");
        let of_channel = if service == "rocf" && version == 5 { &bare } else { &chosen };
        let of_channel: (&str, &str) = ("REQUESTED_GVCID", of_channel);
        let asked: &[(&str, &str)] = match service {
            "raf" => &[("REQUESTED_FRAME_QUALITY", "parameterValue:2")],
            "rcf" => &[of_channel],
            _ => &[
                of_channel,
                ("REQUESTED_CONTROL_WORD_TYPE", "parameterValue:1"),
                ("REQUESTED_UPDATE_MODE", "parameterValue:0"),
                ("REQUESTED_TC_VCID", "tcVcid:0"),
            ],
        };
        let of_all = [
            ("BUFFER_SIZE", "parameterValue:5"),
            ("DELIVERY_MODE", "parameterValue:1"),
            ("LATENCY_LIMIT", "online:1"),
        ];
        for (name, value) in of_all.iter().chain(asked) {
            user.order(&format!("parameter {name}"));
            user.operation("GET-PARAMETER-RETURN", &["positiveResult", value]);
        }
        user.order("report");
        user.operation("SCHEDULE-STATUS-REPORT-RETURN", &["positiveResult"]);
        let count =
            format!("delivered{}Number:{count}", if service == "rocf" { "Ocfs" } else { "Frame" });
        user.operation("STATUS-REPORT", &["productionStatus:0", &count, "frameSyncLockStatus:0"]);
        assert_eq!(ours.order("lose-sync"), "ok");
        user.operation("NOTIFY", &["lossFrameSync", "carrierLockStatus:0"]);
        assert_eq!(ours.order("interrupt"), "ok");
        user.operation("NOTIFY", &["productionStatusChange:1"]);
        assert_eq!(ours.order("resume"), "ok");
        user.operation("NOTIFY", &["productionStatusChange:0"]);
        finish(&user);
    }
}

#[test]
fn raf() {
    returned("raf", "UTL as user of RAF", "");
}

#[test]
fn rcf() {
    returned("rcf", "UTL as user of RCF", "channels = [\"1.0.0\", \"1.0\"]\n");
}

#[test]
fn rocf() {
    returned("rocf", "UTL as user of ROCF", "channels = [\"1.0.0\", \"1.0\"]\n");
}

/// Its urgent octet is understood, and its instance is free again.
#[test]
fn it_aborts() {
    let Some(peer) = utl("UTL as user aborts") else { return };
    let ours = provider("fcltu", LEVELS[0], 5, "");
    for _ in 0..2 {
        let user = bound(peer, "fcltu", &ours, (LEVELS[0], 5));
        user.order("start");
        user.state("ACTIVE");
        user.order("abort OPERATIONAL_REQUIREMENTS");
        assert_eq!(user.failure(), "Peer abort requested");
        user.state("UNBOUND");
        while !ours.order("status").contains("no user bound") {
            chronoscope_clock::sleep(std::time::Duration::from_millis(5));
        }
    }
}

/// As user it does not read urgent data in line: it sees the end of the connection, no reason.
#[test]
fn we_abort() {
    let Some(peer) = utl("UTL as user is aborted") else { return };
    let ours = provider("raf", LEVELS[0], 5, "[instance.return]\nudp = \"127.0.0.1:0\"\n");
    let user = bound(peer, "raf", &ours, (LEVELS[0], 5));
    assert_eq!(ours.order("abort"), "ok");
    let why = user.failure();
    assert!(why.contains("REMOTE_DISCONNECT"), "{why}");
}

#[test]
fn it_is_refused() {
    let Some(peer) = utl("UTL as user is refused") else { return };
    let ours = provider("fcltu", LEVELS[0], 4, "");
    let port = ours.addresses()[0].port();
    let refused = |settings: &str, parts: &[&str]| {
        let user = peer.session(&format!("user fcltu port={port} {settings}"));
        user.order("bind");
        user.operation("BIND-RETURN", parts);
    };
    refused(&of_peer(LEVELS[0], 5), &["negative:2"]); // version not supported
    let other = instance("fcltu").replace("cltu1", "cltu2");
    let other = format!("instance={other} {}", of_peer(LEVELS[0], 4));
    refused(&other, &["negative:3"]); // no such service instance
    let stranger = of_peer(LEVELS[0], 4).replace("TESTUSER", "STRANGER");
    refused(&stranger, &["negative:0"]); // access denied
}
