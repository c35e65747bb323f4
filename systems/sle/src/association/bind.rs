//! BIND and UNBIND of both sides, and their timers.

use bytes::Bytes;

use crate::codec::decode_bind;
use crate::pdu::{BindDiagnostic, BindPdu, BindReturn, Pdu, PeerAbortDiagnostic, UnbindReason};
use crate::time::Now;

use super::machine::{AssociationSide, end_ns};
use super::{Association, AssociationEnd, AssociationEvent, AssociationState, Codec, SendError};

/// Outcome of a BIND or UNBIND that the state does not allow.
type Unexpected = Result<Option<AssociationEvent>, &'static str>;

impl Association {
    /// User: invokes BIND.
    ///
    /// # Errors
    /// [`SendError`]: a provider, or not [`AssociationState::Unbound`], or the settings have something that no
    /// version can encode.
    pub fn bind(&mut self, now: Now) -> Result<(), SendError> {
        self.now = now;
        let settings = self.user_in(AssociationState::Unbound, "BIND")?;
        let bind = BindPdu {
            initiator: settings.initiator.id.clone(),
            responder_port: settings.responder_port.clone(),
            service: Ok(settings.service),
            version: settings.version,
            instance: settings.instance.clone(),
        };
        self.write(Pdu::Bind(bind))?;
        self.await_return(AssociationState::BindPending);
        Ok(())
    }

    /// User: invokes UNBIND. Returns that are open may still come before its own.
    ///
    /// # Errors
    /// [`SendError`]: a provider, or not [`AssociationState::Bound`], or the service is started.
    pub fn unbind(&mut self, reason: UnbindReason, now: Now) -> Result<(), SendError> {
        self.now = now;
        self.user_in(AssociationState::Bound, "UNBIND")?;
        if self.own.started {
            return Err(SendError::Started);
        }
        self.leave(reason)
    }

    fn leave(&mut self, reason: UnbindReason) -> Result<(), SendError> {
        self.write(Pdu::Unbind(reason))?;
        self.own.reason = reason;
        self.await_return(AssociationState::UnbindPending);
        Ok(())
    }

    /// An operation of the association itself, with right credentials.
    pub(super) fn session(&mut self, pdu: Pdu) -> Option<AssociationEvent> {
        let name = pdu.name();
        let done: Unexpected = match (pdu, self.state) {
            (Pdu::PeerAbort(diagnostic), _) => {
                self.peer_aborted(diagnostic);
                Ok(None)
            }
            (Pdu::BindReturn(answer), AssociationState::BindPending) => {
                Ok(self.bind_return(answer))
            }
            (Pdu::UnbindReturn, AssociationState::UnbindPending) => Ok(self.unbind_return()),
            (Pdu::Unbind(_), AssociationState::Bound) if self.own.started => {
                Err("the service is started")
            }
            (Pdu::Unbind(reason), AssociationState::Bound) => Ok(self.unbind_invocation(reason)),
            _ => Err(""),
        };
        done.unwrap_or_else(|note| {
            let separator = if note.is_empty() { "" } else { ", and " };
            let why = format!("{name} while {}{separator}{note}", self.state);
            self.give_up(PeerAbortDiagnostic::ProtocolError, why);
            None
        })
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
        // What is answered has the version of what was asked, where that is one.
        let version = if (1..=5).contains(&bind.version) { bind.version } else { 5 };
        self.own.codec = Codec { service: bind.service.unwrap_or(self.own.codec.service), version };
        let Some(mut seal) = self.seal_for(&bind.initiator) else {
            return self.refuse(BindDiagnostic::AccessDenied);
        };
        let mut pdu = Pdu::Bind(bind);
        let checked = seal.check(&mut pdu, credentials.as_ref(), self.now);
        if let Err(error) = checked {
            return self.unauthenticated(&pdu, &error.to_string());
        }
        self.seal = Some(seal);
        let (Pdu::Bind(bind), AssociationSide::Provider(provider)) = (pdu, &mut self.side) else {
            return None;
        };
        match provider.directory.bind(&bind, self.now.utc_ns) {
            Ok(binding) => {
                let provision = binding.instance().provision;
                provider.provision_ns = provision.map(|provision| end_ns(provision, self.now));
                provider.binding = Some(binding);
                self.accept(bind)
            }
            Err(diagnostic) => self.refuse(diagnostic),
        }
    }

    /// Provider: the positive return of BIND.
    fn accept(&mut self, bind: BindPdu) -> Option<AssociationEvent> {
        self.state = AssociationState::Bound;
        if let AssociationSide::Provider(provider) = &self.side {
            self.tml.set_pdu_bytes_max(provider.directory.limits().1);
        }
        let result = Ok(bind.version);
        self.answer(Pdu::BindReturn(BindReturn { responder: self.responder_id(), result }));
        if self.state != AssociationState::Bound {
            return None;
        }
        let Codec { service, version } = self.own.codec;
        let (instance, initiator) = (bind.instance, bind.initiator);
        Some(AssociationEvent::Bound { instance, service, version, initiator })
    }

    /// Provider: the negative return of BIND.
    fn refuse(&mut self, diagnostic: BindDiagnostic) -> Option<AssociationEvent> {
        self.release();
        let result = Err(diagnostic);
        self.answer(Pdu::BindReturn(BindReturn { responder: self.responder_id(), result }));
        Some(AssociationEvent::BindRefused(diagnostic))
    }

    /// Provider: UNBIND, when it is allowed.
    fn unbind_invocation(&mut self, reason: UnbindReason) -> Option<AssociationEvent> {
        self.answer(Pdu::UnbindReturn);
        if let AssociationSide::Provider(provider) = &mut self.side {
            if let Some(binding) = &provider.binding
                && reason == UnbindReason::End
            {
                binding.end();
            }
            provider.parting = true;
            provider.provision_ns = None;
        }
        if self.state == AssociationState::Bound {
            self.release();
        }
        Some(AssociationEvent::Unbound(reason))
    }

    /// User: the return of BIND, when it is waited for.
    fn bind_return(&mut self, answer: BindReturn) -> Option<AssociationEvent> {
        let AssociationSide::User(settings) = &self.side else { return None };
        if answer.responder != settings.responder.id {
            let why = format!("{} answers, not {}", answer.responder, settings.responder.id);
            self.give_up(PeerAbortDiagnostic::UnexpectedResponderId, why);
            return None;
        }
        match answer.result {
            Err(diagnostic) => {
                self.output.close = true;
                self.end(AssociationEnd::Closed);
                Some(AssociationEvent::BindRefused(diagnostic))
            }
            Ok(version)
                if version == settings.version || settings.other_versions.contains(&version) =>
            {
                let instance = settings.instance.clone();
                let initiator = settings.initiator.id.clone();
                self.own.codec.version = version;
                self.state = AssociationState::Bound;
                self.until_ns = None;
                Some(AssociationEvent::Bound {
                    instance,
                    service: self.own.codec.service,
                    version,
                    initiator,
                })
            }
            Ok(version) => {
                // UNBIND is the same in all versions.
                if let Err(error) = self.leave(UnbindReason::VersionNotSupported) {
                    let why = format!("version {version} is answered; UNBIND: {error}");
                    self.give_up(PeerAbortDiagnostic::OtherReason, why);
                }
                None
            }
        }
    }

    /// User: the return of UNBIND, when it is waited for.
    fn unbind_return(&mut self) -> Option<AssociationEvent> {
        let reason = self.own.reason;
        self.output.close = true;
        self.end(AssociationEnd::Closed);
        Some(AssociationEvent::Unbound(reason))
    }

    fn responder_id(&self) -> String {
        match &self.side {
            AssociationSide::Provider(provider) => provider.directory.responder().id.clone(),
            AssociationSide::User(settings) => settings.responder.id.clone(),
        }
    }
}
