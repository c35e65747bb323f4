//! A provider's state table: what each event does in each state.

use chronoscope_sle::association::{AssociationState, AuthenticationLevel, ProvisionPeriod};
use chronoscope_sle::csts::association::{AssociationEnd, AssociationEvent, SendError};
use chronoscope_sle::csts::pdu::*;
use chronoscope_sle::tml::TmlFault;

use crate::link::*;

/// What is answered to a BIND that is other than the right one.
fn refusal(change: impl FnOnce(&mut BindPdu)) -> BindDiagnostic {
    let mut alone = Alone::provider(directory(AuthenticationLevel::None, None));
    let mut bind = bind();
    change(&mut bind);
    let id = bind.invoke_id;
    alone.say(Pdu::Bind(bind));
    let [Pdu::BindReturn(BindReturn { answer, responder })] = &alone.heard()[..] else {
        panic!("{:?}", alone.events);
    };
    assert_eq!((responder.as_str(), answer.invoke_id), (PROVIDER, id));
    let Err(diagnostic) = answer.result.clone() else { panic!("accepted") };
    assert_eq!(alone.events, [AssociationEvent::BindRefused(diagnostic.clone())]);
    assert_eq!(alone.association.state(), AssociationState::Released);
    assert!(!alone.output.close, "the initiator closes");
    let Diagnostic::Bind(diagnostic) = diagnostic else { panic!("{diagnostic:?}") };
    diagnostic
}

#[test]
fn unbound_bind_allowed_is_bound() {
    let directory = directory(AuthenticationLevel::None, None);
    let mut alone = Alone::provider(directory.clone());
    alone.say(Pdu::Bind(BindPdu { invoke_id: 77, version: 2, ..bind() }));
    assert_eq!(alone.heard(), [bind_return(77, PROVIDER, Ok(()))]);
    let bound = AssociationEvent::Bound {
        instance: instance(1),
        service: instance(1).service_type,
        version: 2,
        initiator: USER.into(),
    };
    assert_eq!(alone.events, [bound]);
    assert_eq!(alone.association.state(), AssociationState::Bound);
    assert_eq!(directory.is_bound(&instance(1)), Ok(true));
    assert_eq!(directory.is_bound(&instance(2)), Ok(false));
}

#[test]
fn unbound_bind_that_is_not_allowed_is_refused() {
    use BindDiagnostic as D;
    let denied = refusal(|bind| bind.initiator = "NOBODY".into());
    assert!(matches!(denied, D::AccessDenied(_)));
    let service = refusal(|bind| bind.service_type = names::SERVICES.child(&[9]));
    assert!(matches!(service, D::ServiceTypeNotSupported(_)));
    assert!(matches!(refusal(|bind| bind.version = 3), D::VersionNotSupported(_)));
    let none = refusal(|bind| bind.instance = instance(3));
    assert!(matches!(none, D::NoSuchServiceInstance(_)));
    let port = refusal(|bind| bind.responder_port = "PORT-2".into());
    assert!(matches!(port, D::NoSuchServiceInstance(_)));
    let other = refusal(|bind| bind.instance = instance(2));
    assert!(matches!(other, D::SiNotAccessibleToThisInitiator(_)));
    let mixed = refusal(|bind| bind.service_type = names::SERVICES.child(&[5]));
    assert!(matches!(mixed, D::InconsistentServiceType(_)));
}

/// BIND to instance 1 of this directory.
fn try_bind(
    directory: &std::sync::Arc<chronoscope_sle::csts::association::InstanceDirectory>,
) -> Alone {
    let mut alone = Alone::provider(directory.clone());
    alone.say(Pdu::Bind(bind()));
    alone
}

#[test]
fn an_instance_has_one_binding_which_the_end_gives_back() {
    let directory = directory(AuthenticationLevel::None, None);
    let mut first = try_bind(&directory);
    assert!(matches!(first.events[..], [AssociationEvent::Bound { .. }]));
    let second = try_bind(&directory);
    let [AssociationEvent::BindRefused(Diagnostic::Bind(BindDiagnostic::AlreadyBound(_)))] =
        second.events[..]
    else {
        panic!("{:?}", second.events);
    };
    drop(second);
    assert_eq!(directory.is_bound(&instance(1)), Ok(true), "the refused one holds nothing");
    first.association.urgent(42, first.now);
    assert_eq!(directory.is_bound(&instance(1)), Ok(true), "not before it was told");
    first.collect();
    assert_eq!(directory.is_bound(&instance(1)), Ok(false));
    assert!(matches!(try_bind(&directory).events[..], [AssociationEvent::Bound { .. }]));
}

#[test]
fn out_of_service_and_outside_of_the_provision_period_nobody_binds() {
    let out = |alone: &Alone| {
        matches!(
            alone.events[..],
            [AssociationEvent::BindRefused(Diagnostic::Bind(BindDiagnostic::OutOfService(_)))]
        )
    };
    let shut = directory(AuthenticationLevel::None, None);
    shut.set_out_of_service(&instance(1), true).unwrap();
    assert!(out(&try_bind(&shut)));
    shut.set_out_of_service(&instance(1), false).unwrap();
    assert!(!out(&try_bind(&shut)));
    let later = ProvisionPeriod { start_utc_ns: at(1).utc_ns, end_utc_ns: at(60).utc_ns };
    assert!(out(&try_bind(&directory(AuthenticationLevel::None, Some(later)))));
}

#[test]
fn bound_at_the_end_of_the_provision_period_is_aborted() {
    let provision = ProvisionPeriod { start_utc_ns: at(0).utc_ns, end_utc_ns: at(60).utc_ns };
    let mut alone = try_bind(&directory(AuthenticationLevel::None, Some(provision)));
    alone.events.clear();
    alone.pass(59);
    assert_eq!(alone.events, []);
    assert_eq!(alone.association.due(), Some(at(60).monotonic_ns));
    alone.pass(1);
    assert_eq!(alone.aborted(), PeerAbortDiagnostic::EndOfServiceProvisionPeriod);
}

#[test]
fn unbound_anything_but_bind_is_aborted() {
    for pdu in [start(1), buffer(&[1]), unbind(1, ProcedureName::association_control())] {
        let mut alone = Alone::provider(directory(AuthenticationLevel::None, None));
        alone.say(pdu);
        assert_eq!(alone.aborted(), PeerAbortDiagnostic::ProtocolError);
    }
    let mut alone = Alone::provider(directory(AuthenticationLevel::None, None));
    alone.say_pdu(b"no operation");
    assert_eq!(alone.aborted(), PeerAbortDiagnostic::EncodingError);
}

#[test]
fn bind_and_unbind_of_another_procedure_are_aborted() {
    let mut alone = Alone::provider(directory(AuthenticationLevel::None, None));
    let procedure = ProcedureName::prime(names::ASSOCIATION_CONTROL);
    alone.say(Pdu::Bind(BindPdu { procedure, ..bind() }));
    assert_eq!(alone.aborted(), PeerAbortDiagnostic::InvalidProcedureName);
    let mut alone = Alone::bound_provider();
    let role = ProcedureRole::AssociationControl;
    alone.say(unbind(5, ProcedureName { procedure: names::DATA_PROCESSING, role }));
    assert_eq!(alone.aborted(), PeerAbortDiagnostic::InvalidProcedureName);
}

#[test]
fn bound_bind_again_is_aborted() {
    let mut alone = Alone::bound_provider();
    alone.say(Pdu::Bind(bind()));
    assert_eq!(alone.aborted(), PeerAbortDiagnostic::ProtocolError);
}

#[test]
fn bound_unbind_ends_it_whatever_is_open() {
    let mut alone = Alone::bound_provider();
    alone.say(start(1));
    alone.say(unbind(9, ProcedureName::association_control()));
    assert_eq!(alone.heard(), [Pdu::UnbindReturn(answer(9))]);
    assert_eq!(alone.events, [AssociationEvent::Pdu(start(1)), AssociationEvent::Unbound(())]);
    assert_eq!(
        (alone.association.state(), alone.association.waiting()),
        (AssociationState::Released, 0)
    );
    alone.association.closed(None, alone.now);
    alone.collect();
    assert_eq!(alone.events.pop(), Some(AssociationEvent::Ended(AssociationEnd::Closed)));
}

#[test]
fn released_and_not_closed_by_the_initiator_it_is_closed_here() {
    let mut alone = Alone::bound_provider();
    alone.say(unbind(9, ProcedureName::association_control()));
    alone.pass(9);
    assert!(!alone.output.close);
    alone.pass(1);
    assert_eq!(
        alone.events,
        [AssociationEvent::Unbound(()), AssociationEvent::Ended(AssociationEnd::Closed)]
    );
    assert!(alone.output.close && alone.output.urgent.is_none());
}

#[test]
fn released_an_operation_is_aborted() {
    let mut alone = Alone::bound_provider();
    alone.say(unbind(9, ProcedureName::association_control()));
    alone.say(start(10));
    assert_eq!(alone.aborted(), PeerAbortDiagnostic::ProtocolError);
}

#[test]
fn bound_invocations_come_and_their_returns_go() {
    let mut alone = Alone::bound_provider();
    for (invocation, returned) in [
        (start(1), Pdu::StartReturn(answer(1))),
        (stop(2), Pdu::StopReturn(answer(2))),
        (sequenced(3), taken(3)),
    ] {
        alone.say(invocation.clone());
        assert_eq!(alone.events.pop(), Some(AssociationEvent::Pdu(invocation)));
        assert_eq!(alone.association.waiting(), 1);
        alone.send(returned.clone());
        assert_eq!(alone.heard(), [returned]);
        assert_eq!(alone.association.waiting(), 0);
    }
    // Nobody returns these.
    for invocation in [buffer(&[4, 5]), Pdu::ProcessData(data(6, names::BUFFERED_DATA_PROCESSING))]
    {
        alone.say(invocation.clone());
        assert_eq!(alone.events.pop(), Some(AssociationEvent::Pdu(invocation)));
        assert_eq!(alone.association.waiting(), 0);
    }
}

#[test]
fn an_open_invoke_id_is_aborted_whichever_the_procedure() {
    let unreturned = Pdu::ProcessData(data(7, names::BUFFERED_DATA_PROCESSING));
    let unbind = unbind(7, ProcedureName::association_control());
    for again in [start(7), sequenced(7), directive(7), buffer(&[6, 7]), unreturned, unbind] {
        let mut alone = Alone::bound_provider();
        alone.say(start(7));
        alone.say(again);
        assert_eq!(alone.aborted(), PeerAbortDiagnostic::DuplicateInvokeId);
    }
    // Returned, it is free.
    let mut alone = Alone::bound_provider();
    alone.say(start(7));
    alone.send(Pdu::StartReturn(answer(7)));
    alone.say(buffer(&[7, 7]));
    assert_eq!(alone.events.pop(), Some(AssociationEvent::Pdu(buffer(&[7, 7]))));
}

#[test]
fn a_directive_is_open_until_refused_or_returned() {
    let refused =
        Diagnostic::DirectiveAcknowledge(DirectiveAcknowledgeDiagnostic::UnknownDirective);
    let refused = PlainReturn { result: Err(refused), ..answer(1) };
    let mut alone = Alone::bound_provider();
    alone.say(directive(1));
    let early = Pdu::ExecuteDirectiveReturn(answer(1));
    let error = alone.association.send(early.clone(), alone.now);
    assert_eq!(error, Err(SendError::NoSuchInvocation(1)), "acknowledged first");
    alone.send(Pdu::ExecuteDirectiveAcknowledge(answer(1)));
    assert_eq!(alone.association.waiting(), 1);
    alone.send(early);
    assert_eq!(alone.association.waiting(), 0);
    alone.say(directive(1));
    alone.send(Pdu::ExecuteDirectiveAcknowledge(refused));
    assert_eq!(alone.association.waiting(), 0);
    let again = Pdu::ExecuteDirectiveAcknowledge(answer(1));
    assert_eq!(alone.association.send(again, alone.now), Err(SendError::NoSuchInvocation(1)));
}

#[test]
fn what_a_provider_cannot_send() {
    let mut alone = Alone::provider(directory(AuthenticationLevel::None, None));
    let mut send = |pdu| alone.association.send(pdu, at(0)).unwrap_err();
    let operation = "START return";
    let state = AssociationState::Unbound;
    assert_eq!(send(Pdu::StartReturn(answer(1))), SendError::State { operation, state });
    let mut alone = Alone::bound_provider();
    let mut send = |pdu| alone.association.send(pdu, at(0)).unwrap_err();
    assert_eq!(send(Pdu::StartReturn(answer(1))), SendError::NoSuchInvocation(1));
    assert!(matches!(send(start(1)), SendError::NotOurs { role: "provider", .. }));
    assert!(matches!(send(Pdu::UnbindReturn(answer(1))), SendError::NotOurs { .. }));
    assert!(matches!(alone.association.bind(at(0)), Err(SendError::NotOurs { .. })));
    assert!(matches!(alone.association.unbind(at(0)), Err(SendError::NotOurs { .. })));
}

#[test]
fn too_many_open_invocations_are_aborted() {
    let mut alone = Alone::bound_provider();
    for id in 0..65_536 {
        alone.say(start(id));
        alone.events.clear();
    }
    assert_eq!(alone.association.waiting(), 65_536);
    alone.say(start(65_536));
    assert_eq!(alone.aborted(), PeerAbortDiagnostic::OtherReason);
}

#[test]
fn loss_peer_abort_and_garbage_end_it_once() {
    let mut alone = Alone::bound_provider();
    alone.association.closed(None, alone.now);
    alone.collect();
    assert_eq!(alone.events, [AssociationEvent::Ended(AssociationEnd::Lost)]);

    let mut alone = Alone::bound_provider();
    alone.association.urgent(70, alone.now);
    alone.collect();
    alone.association.urgent(43, alone.now);
    alone.association.closed(Some(TmlFault::NoContext), alone.now);
    alone.collect();
    let diagnostic = PeerAbortDiagnostic::ForwardBufferTooLarge;
    assert_eq!(alone.events, [AssociationEvent::Ended(AssociationEnd::PeerAborted(diagnostic))]);
    assert!(alone.output.close && alone.output.urgent.is_none());

    let mut alone = Alone::bound_provider();
    alone.say(Pdu::PeerAbort(PeerAbortDiagnostic::OperationalRequirement));
    let diagnostic = PeerAbortDiagnostic::OperationalRequirement;
    assert_eq!(
        alone.events,
        [AssociationEvent::Ended(AssociationEnd::PeerAborted(diagnostic))],
        "as an operation"
    );

    let mut alone = Alone::bound_provider();
    alone.say_pdu(&[0xbf, 0x3c, 0x84, 0xff, 0xff, 0xff, 0xff]);
    assert_eq!(alone.aborted(), PeerAbortDiagnostic::EncodingError);

    let mut alone = Alone::bound_provider();
    alone.association.abort(PeerAbortDiagnostic::ForwardBufferTooLarge);
    alone.collect();
    assert_eq!(alone.aborted(), PeerAbortDiagnostic::ForwardBufferTooLarge);
}
