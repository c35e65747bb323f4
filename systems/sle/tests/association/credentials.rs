//! Authentication: three levels, two hashes, and credentials that are not right.

use std::sync::Arc;

use bytes::Bytes;
use chronoscope_sle::association::{
    AssociationEnd, AssociationEvent, AssociationState, AuthenticationLevel, BIND_BYTES_MAX,
    Identity, SecuritySettings, UserSettings,
};
use chronoscope_sle::auth::{Credentials, HashAlgorithm, ReplayGuard};
use chronoscope_sle::pdu::{
    AntennaId, BindDiagnostic, BindPdu, BindReturn, FrameOrNotification, FrameQuality, Message,
    Parameter, Pdu, PeerAbortDiagnostic, ReturnNotification, ServiceInstanceId, ServiceType,
    SyncNotify, TransferData, UnbindReason,
};
use chronoscope_sle::time::{Now, Time};

use crate::link::{
    Alone, Link, PROVIDER, Provided, SECOND_NS, USER, at, bind, get, identity, settings,
};
use crate::provider_table::aborted;

const LEVELS: [AuthenticationLevel; 3] =
    [AuthenticationLevel::None, AuthenticationLevel::Bind, AuthenticationLevel::All];
const DELAY_NS: u64 = 180 * SECOND_NS;

fn security(level: AuthenticationLevel, hash: HashAlgorithm) -> SecuritySettings {
    SecuritySettings { level, hash, acceptable_delay_ns: DELAY_NS }
}

fn link(user: SecuritySettings, provider: SecuritySettings) -> Link {
    let settings = UserSettings { security: user, ..settings() };
    Link::with(settings, Provided { security: provider, ..Provided::default() }.directory())
}

fn answer() -> Pdu {
    let result = Ok(Parameter::ReturnTimeoutPeriod(60));
    Pdu::GetParameterReturn { invoke_id: 1, result }
}

/// Credentials of somebody, made at some time.
fn signed(identity: &Identity, hash: HashAlgorithm, now: Now, random: u32) -> Option<Bytes> {
    let time = Time::from_utc_ns(now.utc_ns);
    Some(Credentials::make(hash, &identity.id, &identity.password, time, random))
}

/// A provider that wants all credentials (SHA-256), with the right user bound.
fn bound() -> Alone {
    let mut alone =
        Alone::provider(Provided::default().level(AuthenticationLevel::All).directory());
    let credentials = signed(&identity(USER), HashAlgorithm::Sha256, alone.now, 1);
    alone.say_signed(credentials, Pdu::Bind(bind()));
    assert!(
        matches!(alone.events.pop(), Some(AssociationEvent::Bound { .. })),
        "{:?}",
        alone.events
    );
    assert!(alone.heard()[0].credentials.is_some());
    alone
}

#[test]
fn both_sides_alike_at_every_level_and_hash() {
    for level in LEVELS {
        for hash in [HashAlgorithm::Sha1, HashAlgorithm::Sha256] {
            let mut link = link(security(level, hash), security(level, hash));
            link.bind();
            link.send(get(1));
            link.answer(answer());
            link.user.unbind(UnbindReason::End, link.now).unwrap();
            link.settle();
            let unbound = AssociationEvent::Unbound(UnbindReason::End);
            let ended = AssociationEvent::Ended(AssociationEnd::Closed);
            assert_eq!(
                link.user_events[1..],
                [AssociationEvent::Pdu(answer()), unbound.clone(), ended.clone()]
            );
            assert_eq!(link.provider_events[1..], [AssociationEvent::Pdu(get(1)), unbound, ended]);
        }
    }
}

#[test]
fn the_level_says_which_operations_are_signed() {
    for (level, of_bind, of_others) in [
        (AuthenticationLevel::None, false, false),
        (AuthenticationLevel::Bind, true, false),
        (AuthenticationLevel::All, true, true),
    ] {
        let security = security(level, HashAlgorithm::Sha256);
        let mut alone = Alone::binding(UserSettings { security, ..settings() });
        let sign = |random| signed(&identity(PROVIDER), HashAlgorithm::Sha256, at(0), random);
        let result = Ok(5);
        let bound = Pdu::BindReturn(BindReturn { responder: PROVIDER.into(), result });
        alone.say_signed(sign(1).filter(|_| of_bind), bound);
        alone.association.send(get(1), alone.now).unwrap();
        alone.collect();
        alone.say_signed(sign(2).filter(|_| of_others), answer());
        alone.association.unbind(UnbindReason::End, alone.now).unwrap();
        alone.collect();
        let signed: Vec<_> =
            alone.heard().iter().map(|message| message.credentials.is_some()).collect();
        assert_eq!(signed, [of_bind, of_others, of_others], "{level:?}");
        assert_eq!(alone.events[1..], [AssociationEvent::Pdu(answer())]);
    }
}

#[test]
fn more_credentials_than_the_level_wants_are_not_looked_at() {
    // One implementation signs UNBIND at level bind.
    for level in [AuthenticationLevel::None, AuthenticationLevel::Bind] {
        let mut alone = Alone::provider(Provided::default().level(level).directory());
        let right = signed(&identity(USER), HashAlgorithm::Sha256, alone.now, 1);
        alone.say_signed(right, Pdu::Bind(bind()));
        let whatever = Some(Bytes::from_static(&[7; 40]));
        alone.say_signed(whatever, Pdu::Unbind(UnbindReason::End));
        assert_eq!(
            alone.events.last(),
            Some(&AssociationEvent::Unbound(UnbindReason::End)),
            "{level:?}"
        );
    }
}

#[test]
fn bind_without_credentials_or_with_wrong_ones_is_not_returned() {
    let now = at(0);
    let later = |seconds| at(seconds);
    let wrong_password = Identity { id: USER.into(), password: b"guessed".to_vec() };
    let wrong = [
        ("none", None),
        ("a guessed password", signed(&wrong_password, HashAlgorithm::Sha256, now, 1)),
        ("somebody else", signed(&identity("STRANGER"), HashAlgorithm::Sha256, now, 1)),
        ("another hash", signed(&identity(USER), HashAlgorithm::Sha1, now, 1)),
        ("from the future", signed(&identity(USER), HashAlgorithm::Sha256, later(181), 1)),
        ("no credentials at all", Some(Bytes::from_static(&[0x30; 40]))),
    ];
    for (what, credentials) in wrong {
        let mut alone =
            Alone::provider(Provided::default().level(AuthenticationLevel::Bind).directory());
        alone.say_signed(credentials, Pdu::Bind(bind()));
        assert_eq!(aborted(&alone), PeerAbortDiagnostic::AccessDenied, "{what}");
        assert_eq!(alone.heard(), [], "{what}");
    }
}

#[test]
fn credentials_are_taken_within_the_acceptable_delay_both_ways() {
    for (made, comes, taken) in [(0, 180, true), (0, 181, false), (180, 0, true), (181, 0, false)] {
        let mut alone =
            Alone::provider(Provided::default().level(AuthenticationLevel::Bind).directory());
        let credentials = signed(&identity(USER), HashAlgorithm::Sha256, at(made), 1);
        alone.now.utc_ns = at(comes).utc_ns;
        alone.say_signed(credentials, Pdu::Bind(bind()));
        let bound = matches!(alone.events[..], [AssociationEvent::Bound { .. }]);
        assert_eq!(bound, taken, "made at {made} s, come at {comes} s");
    }
}

#[test]
fn an_unknown_initiator_is_refused_without_credentials() {
    let mut alone =
        Alone::provider(Provided::default().level(AuthenticationLevel::All).directory());
    alone.say(Pdu::Bind(chronoscope_sle::pdu::BindPdu { initiator: "NOBODY".into(), ..bind() }));
    let result = Err(BindDiagnostic::AccessDenied);
    let pdu = Pdu::BindReturn(BindReturn { responder: PROVIDER.into(), result });
    assert_eq!(alone.heard(), [Message { credentials: None, pdu }]);
}

#[test]
fn a_refusal_without_credentials_is_aborted_and_its_words_are_kept() {
    let security = security(AuthenticationLevel::Bind, HashAlgorithm::Sha256);
    let mut provided = Provided::default().level(AuthenticationLevel::Bind);
    provided.instance.initiators = vec!["STRANGER".into()];
    provided.initiators = vec![identity("STRANGER")];
    let mut link = Link::with(UserSettings { security, ..settings() }, provided.directory());
    link.bind();
    let [AssociationEvent::Ended(AssociationEnd::Aborted { diagnostic, why })] =
        &link.user_events[..]
    else {
        panic!("{:?}", link.user_events);
    };
    assert_eq!(*diagnostic, PeerAbortDiagnostic::AccessDenied);
    assert!(why.ends_with("it says AccessDenied"), "{why}");
}

#[test]
fn a_refusal_to_a_known_initiator_is_signed() {
    let mut provided = Provided::default().level(AuthenticationLevel::Bind);
    provided.instance.versions = vec![4];
    let security = security(AuthenticationLevel::Bind, HashAlgorithm::Sha256);
    let mut link = Link::with(UserSettings { security, ..settings() }, provided.directory());
    link.bind();
    let refused = AssociationEvent::BindRefused(BindDiagnostic::VersionNotSupported);
    assert_eq!(link.user_events, [refused, AssociationEvent::Ended(AssociationEnd::Closed)]);
}

#[test]
fn a_bind_return_with_wrong_credentials_is_aborted() {
    let now = at(0);
    let impostor = Identity { id: PROVIDER.into(), password: b"guessed".to_vec() };
    for credentials in [None, signed(&impostor, HashAlgorithm::Sha256, now, 1)] {
        let security = security(AuthenticationLevel::Bind, HashAlgorithm::Sha256);
        let mut alone = Alone::binding(UserSettings { security, ..settings() });
        let result = Ok(5);
        let bound = Pdu::BindReturn(BindReturn { responder: PROVIDER.into(), result });
        alone.say_signed(credentials, bound);
        assert_eq!(aborted(&alone), PeerAbortDiagnostic::AccessDenied);
    }
}

#[test]
fn an_operation_with_wrong_credentials_is_ignored_and_told() {
    let now = at(0);
    let guessed = Identity { id: USER.into(), password: b"guessed".to_vec() };
    let wrong = [
        None,
        signed(&guessed, HashAlgorithm::Sha256, now, 2),
        signed(&identity(USER), HashAlgorithm::Sha256, at(1_000), 3),
    ];
    for credentials in wrong {
        let mut alone = bound();
        alone.say_signed(credentials, get(1));
        let [AssociationEvent::Ignored { why }] = &alone.events[..] else {
            panic!("{:?}", alone.events)
        };
        assert!(why.starts_with("GET-PARAMETER invocation: "), "{why}");
        assert_eq!(alone.association.state(), AssociationState::Bound);
        assert!(alone.output.is_empty(), "nothing is answered");
        // Its invoke id was not used.
        alone.say_signed(signed(&identity(USER), HashAlgorithm::Sha256, now, 4), get(1));
        assert_eq!(alone.events[1..], [AssociationEvent::Pdu(get(1))]);
    }
}

#[test]
fn replayed_credentials_are_ignored() {
    let mut alone = bound();
    let credentials = signed(&identity(USER), HashAlgorithm::Sha256, alone.now, 2);
    alone.say_signed(credentials.clone(), get(1));
    assert_eq!(alone.events, [AssociationEvent::Pdu(get(1))]);
    alone.say_signed(signed(&identity(USER), HashAlgorithm::Sha256, alone.now, 3), get(2));
    assert_eq!(alone.events[1..], [AssociationEvent::Pdu(get(2))]);
    alone.say_signed(credentials, get(3));
    assert!(matches!(alone.events[2..], [AssociationEvent::Ignored { .. }]), "{:?}", alone.events);
}

/// The SLE User Test Library makes credentials from the millisecond alone.
#[test]
fn two_operations_of_one_millisecond_may_have_the_same_credentials() {
    let mut alone = bound();
    let credentials = signed(&identity(USER), HashAlgorithm::Sha256, alone.now, 2);
    alone.say_signed(credentials.clone(), get(1));
    alone.say_signed(credentials, get(2));
    assert_eq!(alone.events, [AssociationEvent::Pdu(get(1)), AssociationEvent::Pdu(get(2))]);
}

#[test]
fn unbind_with_wrong_credentials_is_aborted() {
    let mut alone = bound();
    alone.say(Pdu::Unbind(UnbindReason::End));
    assert_eq!(aborted(&alone), PeerAbortDiagnostic::AccessDenied);
}

#[test]
fn a_return_with_wrong_credentials_is_ignored_until_its_time_is_over() {
    let all = security(AuthenticationLevel::All, HashAlgorithm::Sha256);
    let mut alone = Alone::binding(UserSettings { security: all, ..settings() });
    let result = Ok(5);
    let bound = Pdu::BindReturn(BindReturn { responder: PROVIDER.into(), result });
    alone.say_signed(signed(&identity(PROVIDER), HashAlgorithm::Sha256, at(0), 1), bound);
    alone.association.send(get(1), alone.now).unwrap();
    alone.say(answer());
    assert!(matches!(alone.events[1..], [AssociationEvent::Ignored { .. }]), "{:?}", alone.events);
    alone.pass(60);
    assert_eq!(aborted(&alone), PeerAbortDiagnostic::ReturnTimeout);
}

#[test]
fn an_encoded_peer_abort_needs_no_credentials() {
    let mut alone = bound();
    alone.say(Pdu::PeerAbort(PeerAbortDiagnostic::OperationalRequirement));
    let ending = AssociationEnd::PeerAborted(PeerAbortDiagnostic::OperationalRequirement);
    assert_eq!(alone.events, [AssociationEvent::Ended(ending)]);
}

#[test]
fn levels_that_differ() {
    // What each side is told, and what becomes of BIND.
    let denied = PeerAbortDiagnostic::AccessDenied;
    for (user, provider, outcome) in [
        (AuthenticationLevel::None, AuthenticationLevel::Bind, Some((denied, "provider"))),
        (AuthenticationLevel::None, AuthenticationLevel::All, Some((denied, "provider"))),
        (AuthenticationLevel::Bind, AuthenticationLevel::None, Some((denied, "user"))),
        (AuthenticationLevel::Bind, AuthenticationLevel::All, None),
    ] {
        let [user, provider] = [user, provider].map(|level| security(level, HashAlgorithm::Sha256));
        let mut link = link(user, provider);
        link.bind();
        let ended = |events: &[AssociationEvent]| match events.last() {
            Some(AssociationEvent::Ended(AssociationEnd::Aborted { diagnostic, .. })) => {
                Some(*diagnostic)
            }
            _ => None,
        };
        let told = ended(&link.user_events)
            .map(|diagnostic| (diagnostic, "user"))
            .or(ended(&link.provider_events).map(|diagnostic| (diagnostic, "provider")));
        assert_eq!(told, outcome, "{user:?} {provider:?}");
    }
}

#[test]
fn a_bind_that_was_recorded_does_not_bind_again() {
    let directory = Provided::default().level(AuthenticationLevel::Bind).directory();
    let credentials = signed(&identity(USER), HashAlgorithm::Sha256, at(0), 1);
    let mut first = Alone::provider(Arc::clone(&directory));
    first.say_signed(credentials.clone(), Pdu::Bind(bind()));
    assert!(matches!(first.events[..], [AssociationEvent::Bound { .. }]));
    first.close();
    let mut second = Alone::provider(directory);
    second.say_signed(credentials, Pdu::Bind(bind()));
    assert_eq!(aborted(&second), PeerAbortDiagnostic::AccessDenied);
}

/// A RAF user and its provider, bound, with all credentials.
fn raf() -> Link {
    let mut provided = Provided::default().level(AuthenticationLevel::All);
    provided.instance.service = ServiceType::Raf;
    let security = security(AuthenticationLevel::All, HashAlgorithm::Sha256);
    let settings = UserSettings { security, service: ServiceType::Raf, ..settings() };
    let mut link = Link::with(settings, provided.directory());
    link.bind();
    link.forget();
    link
}

fn frame(number: u8) -> FrameOrNotification {
    FrameOrNotification::Frame(TransferData {
        credentials: None,
        earth_receive_time: Time::from_utc_ns(at(0).utc_ns),
        antenna: AntennaId::Local(Bytes::from_static(b"ANT1")),
        data_link_continuity: 0,
        quality: Some(FrameQuality::Good),
        private_annotation: None,
        data: Bytes::from(vec![number; 100]),
    })
}

fn end_of_data() -> FrameOrNotification {
    FrameOrNotification::Notification(SyncNotify {
        credentials: None,
        notification: ReturnNotification::EndOfData,
    })
}

fn credentials_of(part: &FrameOrNotification) -> Option<&Bytes> {
    match part {
        FrameOrNotification::Frame(frame) => frame.credentials.as_ref(),
        FrameOrNotification::Notification(notification) => notification.credentials.as_ref(),
    }
}

#[test]
fn each_part_of_a_transfer_buffer_is_signed() {
    let mut link = raf();
    for _ in 0..2 {
        link.answer(Pdu::TransferBuffer(vec![frame(1), frame(2), end_of_data()]));
    }
    let [
        AssociationEvent::Pdu(Pdu::TransferBuffer(first)),
        AssociationEvent::Pdu(Pdu::TransferBuffer(second)),
    ] = &link.user_events[..]
    else {
        panic!("{:?}", link.user_events);
    };
    assert_eq!(first.len(), 3);
    assert!(first.iter().all(|part| credentials_of(part).is_some()));
    assert_ne!(credentials_of(&first[0]), credentials_of(&second[0]), "a replay otherwise");
}

#[test]
fn a_transfer_buffer_with_one_part_that_is_not_right_is_ignored() {
    let right = |random| signed(&identity(PROVIDER), HashAlgorithm::Sha256, at(0), random);
    let guessed = Identity { id: PROVIDER.into(), password: b"guessed".to_vec() };
    let wrong = signed(&guessed, HashAlgorithm::Sha256, at(0), 9);
    for (parts, taken) in [
        (vec![right(2), right(2)], true),
        (vec![right(2), right(3)], true),
        (vec![right(2), None], false),
        (vec![None, right(2)], false),
        (vec![right(2), wrong], false),
        (vec![right(2), right(3), right(2)], false),
        // BIND's return had these: the last operation's may come again, others not.
        (vec![right(1)], true),
        (vec![right(2), right(1)], false),
    ] {
        let all = security(AuthenticationLevel::All, HashAlgorithm::Sha256);
        let settings = UserSettings { security: all, service: ServiceType::Raf, ..settings() };
        let mut alone = Alone::binding(settings);
        alone.codec.service = ServiceType::Raf;
        let bound = Pdu::BindReturn(BindReturn { responder: PROVIDER.into(), result: Ok(5) });
        alone.say_signed(right(1), bound);
        let signed = parts.iter().map(|credentials| {
            let mut part = frame(1);
            if let FrameOrNotification::Frame(frame) = &mut part {
                frame.credentials.clone_from(credentials);
            }
            part
        });
        alone.say(Pdu::TransferBuffer(signed.collect()));
        let got = matches!(alone.events[1..], [AssociationEvent::Pdu(_)]);
        let ignored = matches!(alone.events[1..], [AssociationEvent::Ignored { .. }]);
        assert_eq!((got, ignored), (taken, !taken), "{parts:?}");
    }
}

/// A peer whose one association sends so much that the memory of what it sent before is given up
/// loses nothing on its other, whose operations come later than that.
#[test]
fn an_association_that_lags_behind_the_peers_others_is_heard() {
    let mut provided = Provided::default().level(AuthenticationLevel::All);
    let busy_instance = provided.instance.clone();
    provided.instance.id = crate::link::other_instance();
    let mut directory = provided.directory();
    Arc::get_mut(&mut directory).unwrap().add_instance(busy_instance).unwrap();
    let bind_to = |instance: &ServiceInstanceId, random: u32| {
        let mut alone = Alone::provider(Arc::clone(&directory));
        let credentials = signed(&identity(USER), HashAlgorithm::Sha256, alone.now, random);
        alone.say_signed(credentials, Pdu::Bind(BindPdu { instance: instance.clone(), ..bind() }));
        assert!(
            matches!(alone.events.pop(), Some(AssociationEvent::Bound { .. })),
            "{:?}",
            alone.events
        );
        alone
    };
    let mut busy = bind_to(&crate::link::cltu_instance(), 1);
    let mut lagging = bind_to(&crate::link::other_instance(), 2);
    let made = lagging.now;
    let late = signed(&identity(USER), HashAlgorithm::Sha256, made, 3);
    let late_bind = signed(&identity(USER), HashAlgorithm::Sha256, made, 4);
    for number in 0..=u32::try_from(ReplayGuard::ENTRIES_MAX).unwrap() {
        let id = u16::try_from(number % 50_000).unwrap();
        busy.now.utc_ns = made.utc_ns + 1000 + u64::from(number) * 1000;
        let credentials = signed(&identity(USER), HashAlgorithm::Sha256, busy.now, 5);
        busy.say_signed(credentials, get(id));
        assert!(
            matches!(busy.events.pop(), Some(AssociationEvent::Pdu(_))),
            "{number}: {:?}",
            busy.events
        );
        let result = Ok(Parameter::ReturnTimeoutPeriod(60));
        let answer = Pdu::GetParameterReturn { invoke_id: id, result };
        busy.association.send(answer, busy.now).unwrap();
        busy.association.output().octets.clear();
    }
    lagging.say_signed(late.clone(), get(1));
    assert!(matches!(lagging.events.pop(), Some(AssociationEvent::Pdu(_))), "{:?}", lagging.events);
    let later = signed(&identity(USER), HashAlgorithm::Sha256, lagging.now, 6);
    lagging.say_signed(later, get(2));
    assert!(matches!(lagging.events.pop(), Some(AssociationEvent::Pdu(_))), "{:?}", lagging.events);
    lagging.say_signed(late, get(3));
    assert!(
        matches!(lagging.events.pop(), Some(AssociationEvent::Ignored { .. })),
        "it was there before"
    );
    // Of a new association nobody can tell any more whether its BIND is a replay.
    let mut stranger = Alone::provider(directory);
    stranger.say_signed(late_bind, Pdu::Bind(bind()));
    assert_eq!(aborted(&stranger), PeerAbortDiagnostic::AccessDenied);
}

/// Whoever has not bound yet makes no provider keep more than a BIND can be.
#[test]
fn before_bind_no_long_pdu_is_taken() {
    let long = BIND_BYTES_MAX + 1;
    let header = |octets: u32| [&[1, 0, 0, 0][..], &octets.to_be_bytes()].concat();
    let mut alone = Alone::provider(Provided::default().directory());
    alone.octets(&header(long));
    let [AssociationEvent::Ended(AssociationEnd::Transport(fault))] = &alone.events[..] else {
        panic!("{:?}", alone.events)
    };
    assert_eq!(fault.diagnostic(), 129);
    assert_eq!(alone.output.urgent, Some(129));
    let mut alone = Alone::bound();
    alone.octets(&header(long));
    assert!(alone.events.is_empty(), "as the directory has it: {:?}", alone.events);
    alone.octets(&vec![0; long as usize]);
    assert_eq!(aborted(&alone), PeerAbortDiagnostic::EncodingError);
}
