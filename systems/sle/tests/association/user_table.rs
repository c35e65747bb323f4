//! A user's state table: what each event does in each state.

use chronoscope_sle::association::{AssociationEnd, AssociationEvent, AssociationState, SendError};
use chronoscope_sle::pdu::{
    BindDiagnostic, BindReturn, Message, Pdu, PeerAbortDiagnostic, UnbindReason,
};
use chronoscope_sle::tml::Heartbeat;

use crate::link::{Alone, Link, PROVIDER, at, bind, cltu_instance, get, settings, start, started};
use crate::provider_table::aborted;

fn answer(result: Result<u16, BindDiagnostic>) -> Pdu {
    Pdu::BindReturn(BindReturn { responder: PROVIDER.into(), result })
}

/// A user that is bound, with a provider that says what the test wants.
fn bound() -> Alone {
    let mut alone = Alone::binding(settings());
    alone.heard();
    alone.say(answer(Ok(5)));
    assert!(matches!(alone.events.pop(), Some(AssociationEvent::Bound { .. })));
    alone
}

fn unbinding() -> Alone {
    let mut alone = bound();
    alone.association.unbind(UnbindReason::End, alone.now).unwrap();
    alone.collect();
    alone.heard();
    alone
}

#[test]
fn unbound_bind_is_sent_behind_the_context_message() {
    let mut alone = Alone::binding(chronoscope_sle::association::UserSettings {
        heartbeat: Heartbeat { interval_s: 30, dead_factor: 4 },
        ..settings()
    });
    let context = [2, 0, 0, 0, 0, 0, 0, 12, b'I', b'S', b'P', b'1', 0, 0, 0, 1, 0, 30, 0, 4];
    assert_eq!(alone.output.octets[..20], context);
    assert_eq!(alone.heard(), [Message { credentials: None, pdu: Pdu::Bind(bind()) }]);
    assert_eq!(alone.association.state(), AssociationState::BindPending);
}

#[test]
fn unbound_nothing_else_is_sent() {
    let mut link = Link::new();
    let state = AssociationState::Unbound;
    let refused = |operation| Err(SendError::State { operation, state });
    assert_eq!(link.user.send(start(1), link.now), refused("START invocation"));
    assert_eq!(link.user.unbind(UnbindReason::End, link.now), refused("UNBIND"));
    link.settle();
    assert_eq!((link.user_events, link.provider_events), (vec![], vec![]));
}

#[test]
fn unbound_an_operation_of_the_provider_is_a_protocol_error() {
    let mut alone = Alone::binding(settings());
    let mut early = chronoscope_sle::association::Association::user(settings(), at(0));
    std::mem::swap(&mut alone.association, &mut early);
    alone.say(answer(Ok(5)));
    assert_eq!(aborted(&alone), PeerAbortDiagnostic::ProtocolError);
}

#[test]
fn bind_pending_positive_return_is_bound() {
    let mut alone = Alone::binding(settings());
    alone.say(answer(Ok(5)));
    let [AssociationEvent::Bound { instance, version: 5, .. }] = &alone.events[..] else {
        panic!("{:?}", alone.events);
    };
    assert_eq!(*instance, cltu_instance());
    assert_eq!(alone.association.state(), AssociationState::Bound);
    assert_eq!(alone.association.due(), None);
}

#[test]
fn bind_pending_negative_return_is_closed() {
    for diagnostic in [BindDiagnostic::AlreadyBound, BindDiagnostic::OtherReason] {
        let mut alone = Alone::binding(settings());
        alone.say(answer(Err(diagnostic)));
        let closed = AssociationEvent::Ended(AssociationEnd::Closed);
        assert_eq!(alone.events, [AssociationEvent::BindRefused(diagnostic), closed]);
        assert!(alone.output.close && alone.output.urgent.is_none());
    }
}

#[test]
fn bind_pending_another_version_that_is_taken() {
    let mut alone = Alone::binding(chronoscope_sle::association::UserSettings {
        other_versions: vec![3, 4],
        ..settings()
    });
    alone.say(answer(Ok(4)));
    assert!(matches!(alone.events[..], [AssociationEvent::Bound { version: 4, .. }]));
    assert_eq!(alone.association.codec().version, 4);
}

#[test]
fn bind_pending_another_version_unbinds() {
    let mut alone = Alone::binding(settings());
    alone.heard();
    alone.say(answer(Ok(2)));
    let reason = UnbindReason::VersionNotSupported;
    assert_eq!(alone.heard(), [Message { credentials: None, pdu: Pdu::Unbind(reason) }]);
    assert_eq!(alone.association.state(), AssociationState::UnbindPending);
    alone.say(Pdu::UnbindReturn);
    assert_eq!(
        alone.events,
        [AssociationEvent::Unbound(reason), AssociationEvent::Ended(AssociationEnd::Closed)]
    );
}

#[test]
fn bind_pending_another_responder_is_unexpected() {
    for result in [Ok(5), Err(BindDiagnostic::OutOfService)] {
        let mut alone = Alone::binding(settings());
        alone.say(Pdu::BindReturn(BindReturn { responder: "IMPOSTOR".into(), result }));
        assert_eq!(aborted(&alone), PeerAbortDiagnostic::UnexpectedResponderId);
    }
}

#[test]
fn bind_pending_anything_else_is_a_protocol_error() {
    for pdu in [started(1), Pdu::UnbindReturn] {
        let mut alone = Alone::binding(settings());
        alone.say(pdu);
        assert_eq!(aborted(&alone), PeerAbortDiagnostic::ProtocolError);
    }
}

#[test]
fn bind_pending_garbage_is_an_encoding_error() {
    let mut alone = Alone::binding(settings());
    alone.say_pdu(&[0xbf, 0x65, 0x01, 0x00]);
    assert_eq!(aborted(&alone), PeerAbortDiagnostic::EncodingError);
}

#[test]
fn bind_pending_silence_is_a_return_timeout() {
    let mut alone = Alone::binding(settings());
    assert_eq!(alone.association.due(), Some(at(60).monotonic_ns));
    alone.pass(59);
    assert_eq!(alone.association.state(), AssociationState::BindPending);
    alone.pass(1);
    assert_eq!(aborted(&alone), PeerAbortDiagnostic::ReturnTimeout);
}

#[test]
fn bind_pending_abort_and_loss_end_it() {
    let mut alone = Alone::binding(settings());
    alone.urgent(0);
    let ending = AssociationEnd::PeerAborted(PeerAbortDiagnostic::AccessDenied);
    assert_eq!(alone.events, [AssociationEvent::Ended(ending)]);
    let mut alone = Alone::binding(settings());
    alone.close();
    assert_eq!(alone.events, [AssociationEvent::Ended(AssociationEnd::Lost)]);
}

#[test]
fn bind_pending_nothing_is_sent() {
    let mut alone = Alone::binding(settings());
    let state = AssociationState::BindPending;
    let refused = |operation| Err(SendError::State { operation, state });
    assert_eq!(alone.association.bind(alone.now), refused("BIND"));
    assert_eq!(alone.association.send(start(1), alone.now), refused("START invocation"));
}

#[test]
fn bound_unbind_is_sent_and_its_return_closes() {
    let mut alone = bound();
    alone.association.unbind(UnbindReason::Suspend, alone.now).unwrap();
    alone.collect();
    let pdu = Pdu::Unbind(UnbindReason::Suspend);
    assert_eq!(alone.heard(), [Message { credentials: None, pdu }]);
    assert_eq!(alone.association.state(), AssociationState::UnbindPending);
    alone.say(Pdu::UnbindReturn);
    let unbound = AssociationEvent::Unbound(UnbindReason::Suspend);
    assert_eq!(alone.events, [unbound, AssociationEvent::Ended(AssociationEnd::Closed)]);
    assert!(alone.output.close && alone.output.urgent.is_none());
}

#[test]
fn bound_unbind_or_bind_of_the_provider_is_an_encoding_error() {
    // Their tags are of operations that only users send.
    for pdu in [Pdu::Unbind(UnbindReason::End), Pdu::Bind(bind())] {
        let mut alone = bound();
        alone.say(pdu);
        assert_eq!(aborted(&alone), PeerAbortDiagnostic::EncodingError);
    }
}

#[test]
fn bound_a_return_of_bind_or_unbind_is_a_protocol_error() {
    for pdu in [answer(Ok(5)), Pdu::UnbindReturn] {
        let mut alone = bound();
        alone.say(pdu);
        assert_eq!(aborted(&alone), PeerAbortDiagnostic::ProtocolError);
    }
}

#[test]
fn bound_abort_and_loss_end_it() {
    let mut alone = bound();
    alone.association.send(get(1), alone.now).unwrap();
    alone.urgent(7);
    let ending = AssociationEnd::PeerAborted(PeerAbortDiagnostic::EndOfServiceProvisionPeriod);
    assert_eq!(alone.events, [AssociationEvent::Ended(ending)]);
    assert_eq!((alone.association.waiting(), alone.association.due()), (0, None));
    let mut alone = bound();
    alone.close();
    assert_eq!(alone.events, [AssociationEvent::Ended(AssociationEnd::Lost)]);
}

#[test]
fn bound_the_operator_aborts_and_nothing_overtakes() {
    let mut alone = bound();
    alone.association.send(get(1), alone.now).unwrap();
    alone.association.abort(PeerAbortDiagnostic::OperationalRequirement);
    alone.output.octets.clear();
    alone.collect();
    assert_eq!(aborted(&alone), PeerAbortDiagnostic::OperationalRequirement);
    assert!(alone.output.octets.is_empty(), "what waited to be sent is dropped");
}

#[test]
fn started_unbind_is_not_sent() {
    let mut link = Link::started();
    assert_eq!(link.user.unbind(UnbindReason::End, link.now), Err(SendError::Started));
    link.send(Pdu::Stop { invoke_id: 2 });
    assert_eq!(link.user.unbind(UnbindReason::End, link.now), Err(SendError::Started));
    link.answer(Pdu::StopReturn { invoke_id: 2, result: Ok(()) });
    assert_eq!(link.user.unbind(UnbindReason::End, link.now), Ok(()));
    link.settle();
    let end = AssociationEvent::Unbound(UnbindReason::End);
    assert_eq!(
        link.user_events[1..],
        [end.clone(), AssociationEvent::Ended(AssociationEnd::Closed)]
    );
    assert_eq!(link.provider_events[1..], [end, AssociationEvent::Ended(AssociationEnd::Closed)]);
}

#[test]
fn unbind_pending_what_was_under_way_still_comes() {
    let mut alone = bound();
    alone.association.send(get(1), alone.now).unwrap();
    alone.association.unbind(UnbindReason::End, alone.now).unwrap();
    let answer = Pdu::GetParameterReturn {
        invoke_id: 1,
        result: Ok(chronoscope_sle::pdu::Parameter::ReturnTimeoutPeriod(60)),
    };
    alone.say(answer.clone());
    assert_eq!(alone.events, [AssociationEvent::Pdu(answer)]);
    alone.say(Pdu::UnbindReturn);
    assert_eq!(alone.events.last(), Some(&AssociationEvent::Ended(AssociationEnd::Closed)));
}

#[test]
fn unbind_pending_another_session_operation_is_a_protocol_error() {
    let mut alone = unbinding();
    alone.say(answer(Ok(5)));
    assert_eq!(aborted(&alone), PeerAbortDiagnostic::ProtocolError);
}

#[test]
fn unbind_pending_silence_is_a_return_timeout() {
    let mut alone = unbinding();
    assert_eq!(alone.association.due(), Some(at(60).monotonic_ns));
    alone.pass(60);
    assert_eq!(aborted(&alone), PeerAbortDiagnostic::ReturnTimeout);
}

#[test]
fn unbind_pending_abort_and_loss_end_it() {
    let mut alone = unbinding();
    alone.urgent(127);
    let ending = AssociationEnd::PeerAborted(PeerAbortDiagnostic::OtherReason);
    assert_eq!(alone.events, [AssociationEvent::Ended(ending)]);
    let mut alone = unbinding();
    alone.close();
    assert_eq!(alone.events, [AssociationEvent::Ended(AssociationEnd::Lost)]);
}

#[test]
fn ended_nothing_is_sent() {
    let mut alone = bound();
    alone.urgent(127);
    let state = AssociationState::Ended;
    let refused = |operation| Err(SendError::State { operation, state });
    assert_eq!(alone.association.bind(alone.now), refused("BIND"));
    assert_eq!(alone.association.unbind(UnbindReason::End, alone.now), refused("UNBIND"));
    assert_eq!(alone.association.send(get(1), alone.now), refused("GET-PARAMETER invocation"));
}

#[test]
fn a_provider_neither_binds_nor_unbinds() {
    let mut link = Link::bound();
    let refused = |operation| Err(SendError::NotOurs { operation, role: "provider" });
    assert_eq!(link.provider.bind(link.now), refused("BIND"));
    assert_eq!(link.provider.unbind(UnbindReason::End, link.now), refused("UNBIND"));
}
