//! The Python package `sle`, with a BER stack of its own, as user of our provider. It decodes DER
//! only, so what we send has to be definite and minimal.

use crate::peer::{LONG, Session, hex, python};
use crate::station::{cltu, frame, instance, levels, of_peer, provider};
use chronoscope_sle::provider::RunningProvider;
use std::net::UdpSocket;

/// Bound, started, and what was asked for in between.
fn started(service: &str, ours: &RunningProvider, of: &str) -> Option<Session> {
    let peer = python(&format!("the Python package as user of {service}"))?;
    let port = ours.addresses()[0].port();
    let user = peer.session(&format!("user {service} port={port} {of}"));
    user.done("bind");
    user.operation("BIND-RETURN", &["TESTPROV", "positive="]);
    user.state("READY");
    user.done("parameter deliveryMode");
    user.operation("GET-PARAMETER-RETURN", &["positiveResult", "parDeliveryMode"]);
    user.done("start");
    user.operation("START-RETURN", &["positiveResult"]);
    user.state("ACTIVE");
    Some(user)
}

fn finish(user: &Session) {
    user.done("stop");
    user.operation("STOP-RETURN", &["positiveResult"]);
    user.state("READY");
    user.done("unbind");
    user.state("UNBOUND");
}

#[test]
fn fcltu() {
    for (auth, version) in levels() {
        eprintln!("version {version}, {auth:?}");
        let modem = UdpSocket::bind("127.0.0.1:0").unwrap();
        modem.set_read_timeout(Some(LONG)).unwrap();
        let more = format!(
            "[instance.forward]\nmodem = \"{}\"\n\
             [[instance.forward.event]]\nid = 3\noutcome = \"completed\"\n",
            modem.local_addr().unwrap()
        );
        let ours = provider("fcltu", auth, version, &more);
        let Some(user) = started("fcltu", &ours, &of_peer(auth, version)) else { return };
        for number in 1..=20 {
            let notify = if number == 20 { "notify" } else { "-" };
            user.order(&format!("cltu {number} {notify} {}", hex(&cltu(number))));
        }
        for number in 1..=20u32 {
            let next = format!("cltuIdentification={}cltuBufferAvailable=", number + 1);
            user.operation("TRANSFER-DATA-RETURN", &[&next, "positiveResult"]);
            let mut datagram = [0; 100];
            let length = modem.recv(&mut datagram).unwrap();
            assert_eq!(datagram[..length], cltu(number), "CLTU {number}");
        }
        user.operation("NOTIFY", &["cltuRadiated", "cltuIdentification=20"]);
        user.done("report");
        user.operation("SCHEDULE-STATUS-REPORT-RETURN", &["positiveResult"]);
        let counts = ["numberOfCltusReceived=20", "numberOfCltusRadiated=20"];
        user.operation("STATUS-REPORT", &counts);
        user.done("event 0 3 0102");
        user.operation("THROW-EVENT-RETURN", &["positiveResult"]);
        user.operation("NOTIFY", &["actionListCompleted=0"]);
        assert_eq!(ours.order("interrupt"), "ok");
        user.operation("NOTIFY", &["productionInterrupted"]);
        finish(&user);
    }
}

#[test]
fn raf() {
    for (auth, version) in levels() {
        eprintln!("version {version}, {auth:?}");
        let more = "[instance.return]\nudp = \"127.0.0.1:0\"\nframes_per_buffer = 5\n";
        let ours = provider("raf", auth, version, more);
        let Some(user) = started("raf", &ours, &of_peer(auth, version)) else { return };
        let modem = UdpSocket::bind("127.0.0.1:0").unwrap();
        let to = ours.source(&instance("raf")).unwrap();
        for number in 0..50 {
            modem.send_to(&frame(number), to).unwrap();
        }
        for number in 0..50 {
            assert_eq!(user.frame(), frame(number), "frame {number}");
        }
        user.done("report");
        user.operation("STATUS-REPORT", &["deliveredFrameNumber=50"]);
        assert_eq!(ours.order("lose-sync"), "ok");
        user.operation("NOTIFY", &["lossFrameSync"]);
        finish(&user);
    }
}
