//! A user's state table: what each event does in each state.

use chronoscope_sle::association::AssociationState;
use chronoscope_sle::csts::association::{AssociationEnd, AssociationEvent, SendError};
use chronoscope_sle::csts::pdu::*;

use crate::link::*;

#[test]
fn bind_pending_positive_return_is_bound() {
    let mut alone = Alone::binding();
    assert_eq!(alone.association.state(), AssociationState::BindPending);
    alone.say(bind_return(0, PROVIDER, Ok(())));
    assert!(matches!(alone.events[..], [AssociationEvent::Bound { version: 1, .. }]));
    assert_eq!(alone.association.state(), AssociationState::Bound);
}

#[test]
fn bind_pending_negative_return_is_the_end() {
    let mut alone = Alone::binding();
    let diagnostic = Diagnostic::Bind(BindDiagnostic::AlreadyBound("by OTHER".into()));
    alone.say(bind_return(0, PROVIDER, Err(diagnostic.clone())));
    assert_eq!(
        alone.events,
        [
            AssociationEvent::BindRefused(diagnostic),
            AssociationEvent::Ended(AssociationEnd::Closed)
        ]
    );
    assert!(alone.output.close && alone.output.urgent.is_none());
}

#[test]
fn bind_pending_other_returns_are_aborted() {
    let mut alone = Alone::binding();
    alone.say(bind_return(0, "OTHER", Ok(())));
    assert_eq!(alone.aborted(), PeerAbortDiagnostic::UnexpectedResponderId);
    let mut alone = Alone::binding();
    alone.say(bind_return(1, PROVIDER, Ok(())));
    assert_eq!(alone.aborted(), PeerAbortDiagnostic::UnsolicitedInvokeId);
    for pdu in [Pdu::StartReturn(answer(0)), Pdu::UnbindReturn(answer(0)), taken(0)] {
        let mut alone = Alone::binding();
        alone.say(pdu);
        assert_eq!(alone.aborted(), PeerAbortDiagnostic::ProtocolError);
    }
}

#[test]
fn bind_and_unbind_that_are_not_returned_in_time_are_aborted() {
    let mut alone = Alone::binding();
    alone.pass(59);
    assert_eq!(alone.events, []);
    alone.pass(1);
    assert_eq!(alone.aborted(), PeerAbortDiagnostic::ReturnTimeout);
    let mut alone = Alone::bound_user();
    alone.association.unbind(alone.now).unwrap();
    alone.pass(60);
    assert_eq!(alone.aborted(), PeerAbortDiagnostic::ReturnTimeout);
}

#[test]
fn unbind_pending_its_return_is_the_end() {
    let mut alone = Alone::bound_user();
    alone.send(start(8));
    alone.association.unbind(alone.now).unwrap();
    alone.collect();
    let unbind = unbind(1, ProcedureName::association_control());
    assert_eq!(alone.heard(), [start(8), unbind]);
    assert_eq!(alone.association.state(), AssociationState::UnbindPending);
    // A return that was under way.
    alone.say(Pdu::StartReturn(answer(8)));
    alone.say(Pdu::UnbindReturn(answer(1)));
    let expected = [
        AssociationEvent::Pdu(Pdu::StartReturn(answer(8))),
        AssociationEvent::Unbound(()),
        AssociationEvent::Ended(AssociationEnd::Closed),
    ];
    assert_eq!(alone.events, expected);
    assert!(alone.output.close);
}

#[test]
fn unbind_pending_a_return_of_another_is_aborted() {
    let mut alone = Alone::bound_user();
    alone.association.unbind(alone.now).unwrap();
    alone.say(Pdu::UnbindReturn(answer(0)));
    assert_eq!(alone.aborted(), PeerAbortDiagnostic::UnsolicitedInvokeId);
}

#[test]
fn bound_a_return_that_nothing_waits_for_is_aborted() {
    let acknowledgement = Pdu::ExecuteDirectiveAcknowledge(answer(5));
    let returned = Pdu::ExecuteDirectiveReturn(answer(5));
    for pdu in [taken(5), Pdu::StopReturn(answer(5)), acknowledgement, returned] {
        let mut alone = Alone::bound_user();
        alone.send(start(5));
        alone.say(pdu);
        assert_eq!(alone.aborted(), PeerAbortDiagnostic::UnsolicitedInvokeId);
    }
    for pdu in [bind_return(0, PROVIDER, Ok(())), Pdu::UnbindReturn(answer(0))] {
        let mut alone = Alone::bound_user();
        alone.say(pdu);
        assert_eq!(alone.aborted(), PeerAbortDiagnostic::ProtocolError);
    }
}

#[test]
fn bound_the_first_return_that_is_late_is_aborted() {
    let mut alone = Alone::bound_user();
    alone.send(sequenced(1));
    alone.pass(30);
    alone.send(sequenced(2));
    alone.send(buffer(&[3, 4]));
    alone.say(taken(1));
    alone.pass(59);
    assert_eq!(alone.association.waiting(), 1);
    assert_eq!(alone.association.due(), Some(at(90).monotonic_ns), "of the second alone");
    alone.pass(1);
    assert_eq!(alone.aborted(), PeerAbortDiagnostic::ReturnTimeout);
}

#[test]
fn a_directives_time_begins_anew_with_its_acknowledgement() {
    let mut alone = Alone::bound_user();
    alone.send(directive(1));
    alone.pass(50);
    alone.say(Pdu::ExecuteDirectiveAcknowledge(answer(1)));
    assert_eq!(alone.association.due(), Some(at(110).monotonic_ns));
    alone.say(Pdu::ExecuteDirectiveReturn(answer(1)));
    assert_eq!(alone.association.waiting(), 0);
    alone.pass(100);
    assert_eq!(alone.events.len(), 2, "{:?}", alone.events);
}

#[test]
fn ids_have_32_bits_and_are_none_that_are_open() {
    let mut alone = Alone::bound_user();
    assert_eq!(alone.association.invoke_id(), 1, "BIND had the first");
    alone.send(start(2));
    assert_eq!(alone.association.invoke_id(), 3);
    let duplicate = alone.association.send(sequenced(2), alone.now);
    assert_eq!(duplicate, Err(SendError::DuplicateInvokeId(2)));
    let duplicate = alone.association.send(buffer(&[9, 2]), alone.now);
    assert_eq!(duplicate, Err(SendError::DuplicateInvokeId(2)));
    alone.send(sequenced(u32::MAX));
    assert_eq!(alone.association.waiting(), 2);
}

#[test]
fn what_a_user_cannot_send() {
    let mut alone = Alone::bound_user();
    let mut send = |pdu| alone.association.send(pdu, at(0)).unwrap_err();
    assert!(matches!(send(Pdu::StartReturn(answer(1))), SendError::NotOurs { role: "user", .. }));
    assert!(matches!(send(Pdu::Bind(bind())), SendError::NotOurs { .. }));
    let operation = "BIND";
    let state = AssociationState::Bound;
    assert_eq!(alone.association.bind(at(0)), Err(SendError::State { operation, state }));
    let mut alone = Alone::binding();
    let error = alone.association.unbind(at(0));
    let state = AssociationState::BindPending;
    assert_eq!(error, Err(SendError::State { operation: "UNBIND", state }));
    let unencodable = Pdu::Stop(PlainInvocation {
        invoke_id: 1,
        procedure: ProcedureName::secondary(names::DATA_PROCESSING, 0),
        extension: None,
    });
    let mut alone = Alone::bound_user();
    assert!(matches!(alone.association.send(unencodable, at(0)), Err(SendError::Encode(_))));
    assert_eq!((alone.heard(), alone.association.waiting()), (vec![], 0));
}
