//! Peers that do not read: nobody waits for them but who has to, and they are let go when told to.

use crate::peer::{Peer, RETURN};
use crate::station::{Neighbour, Station, cltu, until};
use chronoscope_clock as clock;
use chronoscope_sle::client::CltuFate;
use chronoscope_sle::pdu::{
    FrameOrNotification, Pdu, PeerAbortDiagnostic, RequestedFrameQuality, ReturnNotification,
    ReturnSelection, ReturnStart, StartRequest,
};
use chronoscope_sle::provider::RunningProvider;
use std::net::UdpSocket;
use std::sync::{Arc, mpsc};
use std::time::Duration;

/// What does not come about in this time waits for the peer: after a minute he would be cut.
const NOT_WAITING: Duration = Duration::from_secs(40);

/// So that it is full soon.
const NARROW: &str = "[transport]\noutput_max = 65536\nsend_buffer = 16384\n";

/// Whether something is done without the peer's help.
fn is_done(act: impl FnOnce() + Send + 'static) -> bool {
    let (tell, told) = mpsc::channel();
    std::thread::spawn(move || {
        act();
        // Nobody may listen any more.
        let _ = tell.send(());
    });
    told.recv_timeout(NOT_WAITING).is_ok()
}

/// Waits until a number changes no more.
fn until_stuck(mut number: impl FnMut() -> u64) {
    let (mut last, mut same) = (number(), 0);
    until(|| {
        clock::sleep(Duration::from_millis(50));
        let now = number();
        same = if now == last && now > 0 { same + 1 } else { 0 };
        last = now;
        same > 6
    });
}

/// A number in an instance's line, behind a word.
fn count(line: &str, word: &str) -> u64 {
    let mut words = line.split([' ', ',']);
    words.find(|one| *one == word).unwrap();
    words.next().unwrap().parse().unwrap()
}

/// A user who has started RAF and reads nothing more.
fn stuck(station: &Station) -> Peer {
    let mut peer = Peer::narrow(station.address());
    peer.octets(&crate::peer::CONTEXT);
    assert!(
        matches!(peer.bind(&format!("{RETURN}onlc1")), Pdu::BindReturn(answer) if answer.result.is_ok())
    );
    let select = ReturnSelection::Frames(RequestedFrameQuality::All);
    let start = StartRequest::Return(ReturnStart { start: None, stop: None, select });
    peer.say(Pdu::Start { invoke_id: 1, start });
    assert!(matches!(peer.hear(), Pdu::StartReturn { result: Ok(_), .. }));
    peer
}

#[test]
fn an_operator_aborts_a_user_who_does_not_read() {
    let station = Station::with(NARROW, "[instance.return.generator]\noctets = 1000\n");
    let neighbour = Neighbour::start(&station);
    let _peer = stuck(&station);
    until_stuck(|| count(&station.status("onlc1"), "delivered"));
    let station = Arc::new(station);
    let of_operator = Arc::clone(&station);
    assert!(is_done(move || {
        assert_eq!(of_operator.running.order("interrupt onlc1"), "ok");
        assert_eq!(of_operator.running.order("abort onlc1"), "ok");
    }));
    until(|| station.is_free("onlc1"));
    neighbour.noticed_nothing();
}

#[test]
fn a_provider_ends_whatever_users_do_not_read() {
    let station = Station::with(NARROW, "[instance.return.generator]\noctets = 1000\n");
    let _peer = stuck(&station);
    until_stuck(|| count(&station.status("onlc1"), "delivered"));
    let Station { running, .. } = station;
    assert!(is_done(move || RunningProvider::end(&running)));
}

/// What the modem receives is not delayed by one who does not read; what he cannot be given is
/// discarded, and he is told so.
#[test]
fn a_timely_source_does_not_wait_for_its_user() {
    let station = Station::with(
        NARROW,
        "delivery = \"timely\"\nudp = \"127.0.0.1:0\"\nframes_per_buffer = 4",
    );
    let mut peer = stuck(&station);
    let modem = UdpSocket::bind("127.0.0.1:0").unwrap();
    let to = station.running.source("onlc1").unwrap();
    let mut sent = 0;
    let mut send = |octets: &[u8]| {
        modem.send_to(octets, to).unwrap();
        sent += 1;
        // Not more than the socket keeps.
        until(|| count(&station.status("onlc1"), "received") == sent);
        count(&station.status("onlc1"), "discarded")
    };
    // 65 kB wait for the connection and some for the kernel: then it is full.
    let mut discarded = 0;
    for _ in 0..2000 {
        discarded = send(&[7; 1000]);
    }
    assert!(discarded > 0, "{}", station.status("onlc1"));
    let frames = std::thread::spawn(move || {
        let (mut frames, mut is_told) = (0, false);
        loop {
            let Pdu::TransferBuffer(parts) = peer.hear() else { panic!() };
            for part in parts {
                match part {
                    FrameOrNotification::Frame(frame) if frame.data == b"last"[..] => {
                        return (frames, is_told);
                    }
                    FrameOrNotification::Frame(_) => frames += 1,
                    FrameOrNotification::Notification(one) => {
                        is_told |= one.notification == ReturnNotification::ExcessiveDataBacklog;
                    }
                }
            }
        }
    });
    // Until he reads again, and there is room for it.
    while !frames.is_finished() {
        send(b"last");
    }
    let (frames, is_told) = frames.join().unwrap();
    assert!(is_told && frames > 0 && frames < 2000, "{frames}");
}

/// An abort goes out ahead of all that waits, and every CLTU's fate is known.
#[test]
fn a_user_aborts_a_provider_who_does_not_read() {
    let provider = crate::providers::Provider::listen(|mut peer| {
        crate::providers::start(&mut peer);
        peer
    });
    let mut settings = provider.settings();
    settings.window = Some(60_000);
    settings.limits.waiting_bytes_max = 65_536;
    settings.limits.stall_ns = u64::MAX;
    settings.options.send_buffer = Some(16_384);
    let user = Arc::new(provider.connect(settings));
    user.bind().unwrap();
    user.start_forward(0).unwrap();
    let _peer = provider.join();
    let sending = Arc::clone(&user);
    let sender = std::thread::spawn(move || {
        let long = |number: u32| {
            let mut one = cltu(number);
            one.data = vec![1; 4000].into();
            one
        };
        (0..).map_while(|number| sending.transfer(long(number)).ok()).count()
    });
    until_stuck(|| user.statistics().sent);
    let aborting = Arc::clone(&user);
    assert!(is_done(move || aborting.abort(PeerAbortDiagnostic::OperationalRequirement)));
    sender.join().unwrap();
    let unknown: u64 = user
        .fates()
        .iter()
        .inspect(|one| assert_eq!(one.fate, CltuFate::Unknown))
        .map(|one| u64::from(one.cltus.count))
        .sum();
    assert_eq!(unknown, user.statistics().sent);
}
