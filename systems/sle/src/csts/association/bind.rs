//! BIND and UNBIND of both sides, and their timers.

use bytes::Bytes;

use crate::association::AssociationState;
use crate::association::machine::{AssociationSide, ProviderSide, end_ns};
use crate::csts::codec::decode_bind;
use crate::csts::pdu::{
    BindDiagnostic, BindPdu, BindReturn, Diagnostic, InvokeId, Pdu, PeerAbortDiagnostic,
    PlainInvocation, PlainReturn, ProcedureName, ProcedureRole, names,
};
use crate::time::Now;

use super::{Association, AssociationEnd, AssociationEvent, SendError};

impl Association {
    /// User: invokes BIND.
    ///
    /// # Errors
    /// [`SendError`]: a provider, or not [`AssociationState::Unbound`], or the settings have something that
    /// cannot be encoded.
    pub fn bind(&mut self, now: Now) -> Result<(), SendError> {
        self.now = now;
        let invoke_id = self.invoke_id();
        let settings = self.user_in(AssociationState::Unbound, "BIND")?;
        let bind = BindPdu {
            invoke_id,
            procedure: ProcedureName::association_control(),
            initiator: settings.initiator.id.clone(),
            responder_port: settings.responder_port.clone(),
            service_type: settings.instance.service_type.clone(),
            version: settings.version,
            instance: settings.instance.clone(),
            extension: None,
        };
        self.own.session_id = invoke_id;
        self.write(Pdu::Bind(bind))?;
        self.await_return(AssociationState::BindPending);
        Ok(())
    }

    /// User: invokes UNBIND, which terminates all procedures. Returns that are open may still come
    /// before its own.
    ///
    /// # Errors
    /// [`SendError`]: a provider, or not [`AssociationState::Bound`].
    pub fn unbind(&mut self, now: Now) -> Result<(), SendError> {
        self.now = now;
        let invoke_id = self.invoke_id();
        self.user_in(AssociationState::Bound, "UNBIND")?;
        self.own.session_id = invoke_id;
        let procedure = ProcedureName::association_control();
        self.write(Pdu::Unbind(PlainInvocation { invoke_id, procedure, extension: None }))?;
        self.await_return(AssociationState::UnbindPending);
        Ok(())
    }

    /// An operation of the association itself, with right credentials.
    pub(super) fn session(&mut self, pdu: Pdu) -> Option<AssociationEvent> {
        match (pdu, self.state) {
            (Pdu::PeerAbort(diagnostic), _) => {
                self.peer_aborted(diagnostic);
                None
            }
            (Pdu::BindReturn(answer), AssociationState::BindPending) => self.bind_return(answer),
            (Pdu::UnbindReturn(answer), AssociationState::UnbindPending) => {
                self.unbind_return(&answer)
            }
            (Pdu::Unbind(unbind), AssociationState::Bound) => self.unbind_invocation(&unbind),
            (pdu, _) => self.not_now(&pdu),
        }
    }

    /// Provider: the first PDU.
    pub(super) fn bind_invocation(&mut self, octets: &Bytes) -> Option<AssociationEvent> {
        let (credentials, bind) = match decode_bind(octets) {
            Ok(first) => first,
            Err(error) => {
                self.not_bind(&error);
                return None;
            }
        };
        if self.is_of_another_procedure("BIND", &bind.procedure) {
            return None;
        }
        let invoke_id = bind.invoke_id;
        let Some(mut seal) = self.seal_for(&bind.initiator) else {
            let denied = BindDiagnostic::AccessDenied(String::new());
            return self.refuse(invoke_id, Diagnostic::Bind(denied));
        };
        let mut pdu = Pdu::Bind(bind);
        let checked = seal.check(&mut pdu, credentials.as_ref(), self.now);
        if let Err(error) = checked {
            return self.unauthenticated(&pdu, &error.to_string());
        }
        self.seal = Some(seal);
        let Pdu::Bind(bind) = pdu else { return None };
        let utc_ns = self.now.utc_ns;
        let AssociationSide::Provider(ProviderSide { directory, binding, provision_ns, .. }) =
            &mut self.side
        else {
            return None;
        };
        match directory.bind(&bind, utc_ns) {
            Ok(bound) => {
                *provision_ns =
                    bound.instance().provision.map(|provision| end_ns(provision, self.now));
                *binding = Some(bound);
                self.accept(bind)
            }
            Err(diagnostic) => self.refuse(invoke_id, diagnostic),
        }
    }

    /// Provider: the positive return of BIND.
    fn accept(&mut self, bind: BindPdu) -> Option<AssociationEvent> {
        self.state = AssociationState::Bound;
        if let AssociationSide::Provider(ProviderSide { directory, .. }) = &self.side {
            self.tml.set_pdu_bytes_max(directory.limits().1);
        }
        self.bind_answer(bind.invoke_id, Ok(()));
        if self.state != AssociationState::Bound {
            return None;
        }
        let BindPdu { instance, service_type, version, initiator, .. } = bind;
        Some(AssociationEvent::Bound { instance, service: service_type, version, initiator })
    }

    /// Provider: the negative return of BIND.
    fn refuse(&mut self, invoke_id: InvokeId, diagnostic: Diagnostic) -> Option<AssociationEvent> {
        self.release();
        self.bind_answer(invoke_id, Err(diagnostic.clone()));
        Some(AssociationEvent::BindRefused(diagnostic))
    }

    fn bind_answer(&mut self, invoke_id: InvokeId, result: Result<(), Diagnostic>) {
        let AssociationSide::Provider(ProviderSide { directory, .. }) = &self.side else { return };
        let responder = directory.responder().id.clone();
        let answer = PlainReturn { invoke_id, result, extension: None };
        self.answer(Pdu::BindReturn(BindReturn { answer, responder }));
    }

    /// Provider: handles UNBIND.
    fn unbind_invocation(&mut self, unbind: &PlainInvocation) -> Option<AssociationEvent> {
        if self.is_of_another_procedure("UNBIND", &unbind.procedure) {
            return None;
        }
        let invoke_id = unbind.invoke_id;
        if self.own.open.operation(invoke_id).is_some() {
            let why = format!("UNBIND has the invoke id {invoke_id}, which is open");
            self.give_up(PeerAbortDiagnostic::DuplicateInvokeId, why);
            return None;
        }
        self.answer(Pdu::UnbindReturn(PlainReturn { invoke_id, result: Ok(()), extension: None }));
        if let AssociationSide::Provider(ProviderSide { parting, provision_ns, .. }) =
            &mut self.side
        {
            *parting = true;
            *provision_ns = None;
        }
        if self.state == AssociationState::Bound {
            self.own.open.clear();
            self.release();
        }
        Some(AssociationEvent::Unbound(()))
    }

    fn is_of_another_procedure(&mut self, operation: &str, name: &ProcedureName) -> bool {
        let right = name.role == ProcedureRole::AssociationControl
            && name.procedure.is_within(&names::ASSOCIATION_CONTROL);
        if !right {
            let why = format!("{operation} of {} {:?}", name.procedure, name.role);
            self.give_up(PeerAbortDiagnostic::InvalidProcedureName, why);
        }
        !right
    }

    /// User: whether a return is that of BIND or UNBIND; it aborts where it is not.
    fn is_unsolicited(&mut self, answer: &PlainReturn) -> bool {
        let session_id = self.own.session_id;
        let unsolicited = answer.invoke_id != session_id;
        if unsolicited {
            let why = format!("invocation {session_id} waits, and {} came", answer.invoke_id);
            self.give_up(PeerAbortDiagnostic::UnsolicitedInvokeId, why);
        }
        unsolicited
    }

    /// User: the return of BIND, when it is waited for.
    fn bind_return(&mut self, answer: BindReturn) -> Option<AssociationEvent> {
        let BindReturn { answer, responder } = answer;
        let AssociationSide::User(settings) = &self.side else { return None };
        if responder != settings.responder.id {
            let why = format!("{responder} answers, not {}", settings.responder.id);
            self.give_up(PeerAbortDiagnostic::UnexpectedResponderId, why);
            return None;
        }
        let bound = AssociationEvent::Bound {
            instance: settings.instance.clone(),
            service: settings.instance.service_type.clone(),
            version: settings.version,
            initiator: settings.initiator.id.clone(),
        };
        if self.is_unsolicited(&answer) {
            return None;
        }
        if let Err(diagnostic) = answer.result {
            self.output.close = true;
            self.end(AssociationEnd::Closed);
            return Some(AssociationEvent::BindRefused(diagnostic));
        }
        self.state = AssociationState::Bound;
        self.until_ns = None;
        Some(bound)
    }

    /// User: the return of UNBIND, when it is waited for.
    fn unbind_return(&mut self, answer: &PlainReturn) -> Option<AssociationEvent> {
        if self.is_unsolicited(answer) {
            return None;
        }
        self.output.close = true;
        self.end(AssociationEnd::Closed);
        Some(AssociationEvent::Unbound(()))
    }
}
