//! Providers that are wrong, at our user: he aborts with the book's diagnostic, and knows what
//! became of his CLTUs.

use crate::peer::{CONTEXT, End, FORWARD, Peer, framed};
use crate::station::cltu;
use chronoscope_clock as clock;
use chronoscope_sle::client::{AssociationEnd, ClientError, ClientSettings, CltuFate, User};
use chronoscope_sle::config::Config;
use chronoscope_sle::pdu::{
    AssociationRole, BindReturn, CltuTransferDataReturn, Message, Pdu, PositiveStartReturn,
    UnbindReason,
};
use chronoscope_sle::time::Time;
use std::net::{SocketAddr, TcpListener};
use std::thread::JoinHandle;
use std::time::Duration;

/// Somebody who listens, and does something with the one who connects.
pub(crate) struct Provider<T> {
    address: SocketAddr,
    thread: JoinHandle<T>,
}

impl<T: Send + 'static> Provider<T> {
    pub(crate) fn listen(act: impl FnOnce(Peer) -> T + Send + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        socket2::SockRef::from(&listener).set_recv_buffer_size(16_384).unwrap();
        let address = listener.local_addr().unwrap();
        let thread = std::thread::spawn(move || {
            let (stream, _) = listener.accept().unwrap();
            act(Peer::new(stream, AssociationRole::Provider))
        });
        Self { address, thread }
    }

    pub(crate) fn address(&self) -> SocketAddr {
        self.address
    }

    pub(crate) fn settings(&self) -> ClientSettings {
        let text = format!(
            "[user]\nid = \"MCC\"\naddress = \"{}\"\n[[peer]]\nid = \"STATION\"\n\
             [[instance]]\nid = \"{FORWARD}cltu1\"\n",
            self.address
        );
        let mut settings = ClientSettings::of(&Config::parse(&text).unwrap(), None).unwrap();
        settings.association.return_timeout_ns = 60_000_000_000;
        settings
    }

    pub(crate) fn connect(&self, settings: ClientSettings) -> User {
        User::connect(settings).unwrap()
    }

    /// With returns in so many seconds.
    fn user(&self, return_timeout_s: u64) -> User {
        let mut settings = self.settings();
        settings.association.return_timeout_ns = return_timeout_s * 1_000_000_000;
        self.connect(settings)
    }

    pub(crate) fn join(self) -> T {
        self.thread.join().unwrap()
    }
}

fn bound(responder: &str) -> Pdu {
    Pdu::BindReturn(BindReturn { responder: responder.to_owned(), result: Ok(5) })
}

fn started() -> Pdu {
    let start_radiation = Time::from_utc_ns(chronoscope_sle::time::Now::read().utc_ns);
    let result = Ok(PositiveStartReturn::Cltu { start_radiation, stop_radiation: None });
    Pdu::StartReturn { invoke_id: 0, result }
}

fn taken(invoke_id: u16, next_cltu: u32) -> Pdu {
    let result = Ok(());
    let returned = CltuTransferDataReturn { invoke_id, next_cltu, buffer_available: 9, result };
    Pdu::CltuTransferDataReturn(returned)
}

/// Answers BIND and START as it should be.
pub(crate) fn start(peer: &mut Peer) {
    assert!(matches!(peer.hear(), Pdu::Bind(_)));
    peer.say(bound("STATION"));
    let Pdu::Start { invoke_id, .. } = peer.hear() else { panic!() };
    let Pdu::StartReturn { result, .. } = started() else { panic!() };
    peer.say(Pdu::StartReturn { invoke_id, result });
}

#[test]
fn instead_of_a_bind_return() {
    let octets_of = |pdu: Pdu| {
        let codec = chronoscope_sle::codec::Codec {
            service: chronoscope_sle::pdu::ServiceType::Fcltu,
            version: 5,
        };
        let mut octets = Vec::new();
        codec.encode(&Message { credentials: None, pdu }, &mut octets).unwrap();
        framed(&octets)
    };
    let cases = [
        ("a context message", CONTEXT.to_vec(), End::Abort(128)),
        ("HTTP", b"HTTP/1.1 400 Bad Request\r\n\r\n".to_vec(), End::Abort(129)),
        ("4 GiB", vec![1, 0, 0, 0, 255, 255, 255, 255], End::Abort(129)),
        ("no BER", framed(&[255; 100]), End::Abort(5)),
        ("somebody else", octets_of(bound("ANOTHER")), End::Abort(1)),
        ("a return of START", octets_of(started()), End::Abort(3)),
        ("a return of UNBIND", octets_of(Pdu::UnbindReturn), End::Abort(3)),
    ];
    for (name, octets, end) in cases {
        let provider = Provider::listen(move |mut peer| {
            assert!(matches!(peer.hear(), Pdu::Bind(_)));
            peer.octets(&octets);
            peer.end()
        });
        let user = provider.user(60);
        assert!(user.bind().is_err(), "{name}");
        assert!(user.ending().is_some());
        assert_eq!(provider.join().1, end, "{name}");
    }
}

#[test]
fn a_provider_that_says_nothing_or_too_slowly_is_a_return_timeout() {
    for drips in [false, true] {
        let provider = Provider::listen(move |mut peer| {
            let answer = framed(&peer.encoded(None, bound("STATION")));
            let mut octets = answer.iter().filter(|_| drips);
            while let Some(octet) = octets.next()
                && peer.try_octets(&[*octet])
            {
                clock::sleep(Duration::from_millis(200));
            }
            peer.end().1
        });
        let user = provider.user(1);
        let ended = user.bind().unwrap_err();
        assert!(matches!(ended, ClientError::Ended(_)), "{ended}");
        assert!(matches!(user.ending(), Some(AssociationEnd::Aborted { .. })));
        // Where it still drips when the abort has come, the kernel answers with a reset.
        let end = provider.join();
        assert!(end == End::Abort(6) || drips && end == End::Reset, "{end:?}");
    }
}

#[test]
fn a_provider_that_does_not_answer_unbind_is_a_return_timeout() {
    let provider = Provider::listen(|mut peer| {
        assert!(matches!(peer.hear(), Pdu::Bind(_)));
        peer.say(bound("STATION"));
        assert!(matches!(peer.hear(), Pdu::Unbind(_)));
        peer.end().1
    });
    let user = provider.user(1);
    user.bind().unwrap();
    user.unbind(UnbindReason::End).unwrap_err();
    assert_eq!(provider.join(), End::Abort(6));
}

/// What is said of invocations and their CLTUs.
type Wrong = fn(&[(u16, u32)]) -> Pdu;

/// Of ten CLTUs three are answered; then comes what nobody asked for.
#[test]
fn returns_that_nobody_asked_for_end_it_and_every_fate_is_known() {
    let unsolicited = |cltus: &[(u16, u32)]| taken(cltus[9].0.wrapping_add(1000), 99);
    let twice = |cltus: &[(u16, u32)]| taken(cltus[0].0, 1);
    let of_stop = |cltus: &[(u16, u32)]| Pdu::StopReturn { invoke_id: cltus[5].0, result: Ok(()) };
    let cases: [(&str, Wrong); 3] =
        [("unsolicited", unsolicited), ("twice", twice), ("of another operation", of_stop)];
    for (name, wrong) in cases {
        let provider = Provider::listen(move |mut peer| {
            start(&mut peer);
            let mut cltus = Vec::new();
            while cltus.len() < 10 {
                let Pdu::CltuTransferData(one) = peer.hear() else { panic!() };
                cltus.push((one.invoke_id, one.cltu));
            }
            for (invoke_id, number) in &cltus[..3] {
                peer.say(taken(*invoke_id, number + 1));
            }
            peer.say(wrong(&cltus));
            peer.end().1
        });
        let user = provider.user(60);
        user.bind().unwrap();
        user.start_forward(0).unwrap();
        for number in 0..10 {
            user.transfer(cltu(number)).unwrap();
        }
        user.drain().unwrap_err();
        assert_eq!(provider.join(), End::Abort(8), "{name}");
        let of = |fate: CltuFate| -> u32 {
            let fates = user.fates();
            fates.iter().filter(|one| one.fate == fate).map(|one| one.cltus.count).sum()
        };
        assert_eq!((of(CltuFate::Acknowledged), of(CltuFate::Unknown)), (3, 7), "{name}");
    }
}

/// The stream is gone, in the middle of a message or between two.
#[test]
fn a_provider_that_goes_without_a_word_leaves_no_fate_open() {
    for half in [false, true] {
        let provider = Provider::listen(move |mut peer| {
            start(&mut peer);
            let Pdu::CltuTransferData(one) = peer.hear() else { panic!() };
            let answer = framed(&peer.encoded(None, taken(one.invoke_id, 1)));
            peer.octets(if half { &answer[..11] } else { &answer });
        });
        let user = provider.user(60);
        user.bind().unwrap();
        user.start_forward(0).unwrap();
        user.transfer(cltu(0)).unwrap();
        provider.join();
        let _ended = (1..).map_while(|number| user.transfer(cltu(number)).ok()).last();
        crate::station::until(|| user.ending().is_some());
        let fates = user.fates();
        let known: u32 = fates.iter().map(|one| one.cltus.count).sum();
        assert_eq!(u64::from(known), user.statistics().sent, "{fates:?}");
        let first = if half { CltuFate::Unknown } else { CltuFate::Acknowledged };
        assert!(fates.iter().any(|one| one.cltus.first == 0 && one.fate == first), "{fates:?}");
    }
}
