//! Credentials: which operations carry them, and what becomes of those that carry wrong ones.

use chronoscope_sle::association::AuthenticationLevel;
use chronoscope_sle::csts::association::{Association, AssociationEvent};
use chronoscope_sle::csts::pdu::*;

use crate::link::*;

/// What a user of this level sends, as the provider of it takes it: BIND, a buffer, START.
fn sent(level: AuthenticationLevel) -> (Alone, Vec<Message>) {
    let mut alone = Alone::provider(directory(level, None));
    let mut user = Association::user(settings(level), alone.now);
    // Its context message: the provider has had one.
    user.tick(alone.now);
    user.output().octets.clear();
    user.bind(alone.now).unwrap();
    alone.octets(&std::mem::take(&mut user.output().octets));
    user.receive(&std::mem::take(&mut alone.output.octets), alone.now);
    assert!(
        matches!(user.next_event(), Some(AssociationEvent::Bound { .. })),
        "{:?}",
        alone.events
    );
    user.send(buffer(&[6, 7]), alone.now).unwrap();
    user.send(start(5), alone.now).unwrap();
    let octets = std::mem::take(&mut user.output().octets);
    alone.octets(&octets);
    alone.send(Pdu::StartReturn(answer(5)));
    let messages = alone.heard_signed();
    (alone, messages)
}

#[test]
fn all_operations_carry_them_and_each_part_of_a_buffer() {
    for level in [AuthenticationLevel::None, AuthenticationLevel::Bind, AuthenticationLevel::All] {
        let (alone, returned) = sent(level);
        let signed = level == AuthenticationLevel::All;
        let [
            AssociationEvent::Bound { .. },
            AssociationEvent::Pdu(Pdu::ForwardBuffer(parts)),
            AssociationEvent::Pdu(started),
        ] = &alone.events[..]
        else {
            panic!("{:?}", alone.events);
        };
        assert_eq!(*started, start(5));
        assert_eq!(parts.len(), 2);
        assert!(parts.iter().all(|part| part.credentials.is_some() == signed));
        assert!(returned.iter().all(|message| message.credentials.is_some() == signed));
    }
}

#[test]
fn bind_without_credentials_is_aborted() {
    for level in [AuthenticationLevel::Bind, AuthenticationLevel::All] {
        let mut alone = Alone::provider(directory(level, None));
        alone.say(Pdu::Bind(bind()));
        assert_eq!(alone.aborted(), PeerAbortDiagnostic::AccessDenied);
        let mut alone = Alone::provider(directory(level, None));
        alone.say_signed(Some(vec![0; 40].into()), Pdu::Bind(bind()));
        assert_eq!(alone.aborted(), PeerAbortDiagnostic::AccessDenied);
    }
}

#[test]
fn an_operation_with_wrong_credentials_is_ignored_and_a_buffer_wholly() {
    let (mut alone, _) = sent(AuthenticationLevel::All);
    let signed = match &alone.events[1] {
        AssociationEvent::Pdu(pdu) => pdu.clone(),
        other => panic!("{other:?}"),
    };
    alone.events.clear();
    alone.say(start(9));
    assert!(matches!(alone.events[..], [AssociationEvent::Ignored { .. }]));
    assert_eq!(alone.association.waiting(), 0);
    // What was signed once, again; the last of all would be taken as the same.
    alone.say(signed.clone());
    assert!(matches!(alone.events[1..], [AssociationEvent::Ignored { .. }]), "a replay");
    let Pdu::ForwardBuffer(mut parts) = signed else { panic!() };
    parts[1].credentials = None;
    alone.say(Pdu::ForwardBuffer(parts));
    assert!(matches!(alone.events[2..], [AssociationEvent::Ignored { .. }]));
    alone.say(unbind(10, ProcedureName::association_control()));
    assert_eq!(alone.aborted(), PeerAbortDiagnostic::AccessDenied);
}
