//! Calls: operations, and the wait for their returns.

use super::services::{CallReturn, OVERHEAD, SleService, UserMachine};
use super::state::ClientState;
use super::{ClientError, CltuTransfer, User};
use crate::pdu::{
    BufferNotification, CltuId, Diagnostic, Parameter, ParameterName, Pdu, ReportRequest,
    ReturnStart,
};
use crate::recording::CLTU_TRANSFER_DATA;
use crate::service::fcltu::{CltuRange, FcltuUser, SendPermit, UseError};
use bytes::Bytes;
use std::slice;

/// Most octets of a CLTU on the wire.
const CLTU_MAX: usize = 65_536;

impl User {
    /// FCLTU: starts; the first CLTU will have this number.
    ///
    /// # Errors
    /// [`ClientError`].
    pub fn start_forward(&self, first_cltu: CltuId) -> Result<(), ClientError> {
        self.done("START", |machine| match machine {
            UserMachine::Forward(user) => Ok(user.start(first_cltu)?),
            UserMachine::Return(_) => {
                Err(ClientError::NotOfService("START with a CLTU", self.service))
            }
        })
    }

    /// RAF, RCF, ROCF: starts.
    ///
    /// # Errors
    /// [`ClientError`].
    pub fn start_return(&self, start: ReturnStart) -> Result<(), ClientError> {
        self.done("START", |machine| match machine {
            UserMachine::Return(user) => Ok(user.start(start)?),
            UserMachine::Forward(_) => {
                Err(ClientError::NotOfService("START of frames", self.service))
            }
        })
    }

    /// Stops. What of a forward service's CLTUs waits for radiation is discarded by the provider.
    ///
    /// # Errors
    /// [`ClientError`].
    pub fn stop(&self) -> Result<(), ClientError> {
        self.done("STOP", |machine| match machine {
            UserMachine::Forward(user) => Ok(user.stop()?),
            UserMachine::Return(user) => Ok(user.stop()?),
        })
    }

    /// Asks for status reports, which are [`SleOccurrence`](super::SleOccurrence)s.
    ///
    /// # Errors
    /// [`ClientError`].
    pub fn schedule(&self, request: ReportRequest) -> Result<(), ClientError> {
        self.done("SCHEDULE-STATUS-REPORT", |machine| match machine {
            UserMachine::Forward(user) => Ok(user.schedule(request)?),
            UserMachine::Return(user) => Ok(user.schedule(request)?),
        })
    }

    /// FCLTU: throws an event.
    ///
    /// # Errors
    /// [`ClientError`].
    pub fn throw_event(&self, event: u16, qualifier: Bytes) -> Result<(), ClientError> {
        self.done("THROW-EVENT", |machine| match machine {
            UserMachine::Forward(user) => Ok(user.throw_event(event, qualifier)?),
            UserMachine::Return(_) => Err(ClientError::NotOfService("THROW-EVENT", self.service)),
        })
    }

    /// Asks for a parameter.
    ///
    /// # Errors
    /// [`ClientError`].
    pub fn get_parameter(&self, name: ParameterName) -> Result<Parameter, ClientError> {
        let answer = self.call(|machine| match machine {
            UserMachine::Forward(user) => Ok(user.get_parameter(name)?),
            UserMachine::Return(user) => Ok(user.get_parameter(name)?),
        })?;
        match answer {
            CallReturn::Parameter(Ok(parameter)) => Ok(parameter),
            CallReturn::Parameter(Err(diagnostic)) | CallReturn::Done(Err(diagnostic)) => {
                Err(self.refused("GET-PARAMETER", diagnostic))
            }
            CallReturn::Done(Ok(())) => Err(self.refused("GET-PARAMETER", Diagnostic::OtherReason)),
        }
    }

    /// FCLTU: hands over a CLTU with the next number, which is returned; waits while the window or
    /// the station's buffer is full.
    ///
    /// # Errors
    /// [`ClientError::CltuRefused`] once after a CLTU was refused, when all that was sent with it
    /// is answered: this one was not sent, and the next will have the number that is expected.
    /// Others as they are.
    pub fn transfer(&self, cltu: CltuTransfer) -> Result<CltuId, ClientError> {
        let octets = cltu.data.len();
        if octets == 0 || octets > CLTU_MAX {
            return Err(ClientError::CltuLength(octets));
        }
        let cltus =
            self.hand_over(slice::from_ref(&cltu.data), |user| user.transfer(cltu.clone()))?;
        Ok(cltus.first)
    }

    /// FCLTU: hands over several CLTUs in one invocation, which only our provider takes, and only
    /// where it was told to.
    ///
    /// # Errors
    /// As [`Self::transfer`].
    pub fn transfer_buffer(
        &self,
        cltus: Vec<Bytes>,
        notify: BufferNotification,
    ) -> Result<CltuRange, ClientError> {
        let is_wrong = |data: &&Bytes| data.is_empty() || data.len() > CLTU_MAX;
        if let Some(wrong) = cltus.iter().find(is_wrong) {
            return Err(ClientError::CltuLength(wrong.len()));
        }
        self.hand_over(&cltus, |user| user.transfer_buffer(cltus.clone(), notify))
    }

    /// FCLTU: waits until everything that was handed over is answered.
    ///
    /// # Errors
    /// As [`Self::transfer`].
    pub fn drain(&self) -> Result<(), ClientError> {
        let mut state = self.connection.shared.lock();
        loop {
            let UserMachine::Forward(user) = &state.service.machine else { return Ok(()) };
            let open = user.unacknowledged();
            if state.is_ended() {
                return Err(state.over());
            }
            if open == 0 {
                return refusal(&mut state).map_or(Ok(()), Err);
            }
            state = self.connection.wait(state)?;
        }
    }

    /// FCLTU: the error of a CLTU that was refused, once, when all that was sent with it is answered;
    /// the next CLTU will have the number that is expected. It does not wait.
    #[must_use]
    pub fn refused_cltu(&self) -> Option<ClientError> {
        let mut state = self.connection.shared.lock();
        let UserMachine::Forward(user) = &state.service.machine else { return None };
        if user.unacknowledged() > 0 { None } else { refusal(&mut state) }
    }

    /// Makes a TRANSFER-DATA as soon as there is room for it.
    fn hand_over(
        &self,
        data: &[Bytes],
        make: impl Fn(&mut FcltuUser) -> Result<Pdu, UseError>,
    ) -> Result<CltuRange, ClientError> {
        let (count, octets) = (data.len(), data.iter().map(Bytes::len).sum());
        let _order = self.connection.order();
        let mut state = self.connection.shared.lock();
        let (pdu, cltus) = loop {
            let is_told = state.refusal.is_some();
            let UserMachine::Forward(user) = &state.service.machine else {
                return Err(ClientError::NotOfService("TRANSFER-DATA", self.service));
            };
            let (open, first) = (user.unacknowledged(), user.next_cltu());
            if is_told && open == 0 {
                return refusal(&mut state).map_or(Ok(CltuRange { first, count: 0 }), Err);
            }
            if state.is_ended() {
                return Err(state.over());
            }
            let permit =
                if is_told { SendPermit::AfterReport } else { state.service.permit(octets, open) };
            if permit == SendPermit::Now
                && let UserMachine::Forward(user) = &mut state.service.machine
            {
                match make(user) {
                    Ok(pdu) => {
                        let count = u32::try_from(count).unwrap_or(u32::MAX);
                        break (pdu, CltuRange { first, count });
                    }
                    Err(UseError::WindowFull { .. } | UseError::Refused { .. }) => {}
                    Err(error) => return Err(error.into()),
                }
            }
            state = match permit {
                SendPermit::At(at_ns) => self.connection.wait_until(state, at_ns)?,
                SendPermit::Now | SendPermit::AfterReport => self.connection.wait(state)?,
            };
        };
        state.service.sent(cltus, data.iter().map(Bytes::len));
        if let Some(key) = state.key {
            let invoke_id = match &pdu {
                Pdu::CltuTransferData(invocation) => invocation.invoke_id,
                Pdu::CltuTransferBuffer(invocation) => invocation.invoke_id,
                _ => 0,
            };
            for index in 0..cltus.count {
                let cltu = cltus.first.wrapping_add(index);
                let transaction = key.cltu(cltu).start(&CLTU_TRANSFER_DATA);
                state.service.open.push_back((invoke_id, cltu, transaction));
            }
        }
        drop(state);
        self.connection.hand(pdu, octets + OVERHEAD * count)?;
        Ok(cltus)
    }

    fn done(
        &self,
        operation: &'static str,
        make: impl FnOnce(&mut UserMachine) -> Result<Pdu, ClientError>,
    ) -> Result<(), ClientError> {
        match self.call(make)? {
            CallReturn::Done(Ok(())) | CallReturn::Parameter(Ok(_)) => Ok(()),
            CallReturn::Done(Err(diagnostic)) | CallReturn::Parameter(Err(diagnostic)) => {
                Err(self.refused(operation, diagnostic))
            }
        }
    }

    fn refused(&self, operation: &'static str, diagnostic: Diagnostic) -> ClientError {
        ClientError::Refused { operation, service: self.service, diagnostic }
    }

    fn call(
        &self,
        make: impl FnOnce(&mut UserMachine) -> Result<Pdu, ClientError>,
    ) -> Result<CallReturn, ClientError> {
        self.connection.call(|state| make(&mut state.service.machine))
    }
}

/// The error for a refused CLTU, once.
fn refusal(state: &mut ClientState<SleService>) -> Option<ClientError> {
    state.refusal.take().map(|refusal| ClientError::CltuRefused {
        cltus: refusal.cltus,
        diagnostic: refusal.diagnostic,
        expected: refusal.expected,
    })
}
