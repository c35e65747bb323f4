//! What a user's end of an association asks of its service: SLE's forward and return services on one
//! side, forward frames by CSTS on the other.

use crate::association::machine::AbortDiagnostic;
use crate::association::{AssociationEnd, SendError};
use chronoscope_record::Started;
use std::io;

/// A run of data units with one fate.
pub(super) trait SettledRun: Clone + Send {
    /// Adds the following run, if it begins where this one ends and has the same fate.
    fn join(&mut self, next: &Self) -> bool;
}

/// The service of a user's association. There are two alone, one for each specification.
pub(super) trait UserService: Sized + Send + 'static {
    /// An operation.
    type Pdu: Send;
    /// Number of an invocation.
    type InvokeId: Send;
    /// What a positive BIND return tells.
    type Bound: Copy + Send;
    /// Why BIND was refused.
    type BindDiagnostic: Clone + Send;
    /// Diagnostic of PEER-ABORT.
    type Abort: AbortDiagnostic + Send;
    /// The reason that UNBIND gives.
    type Unbind: Send;
    /// What only this service's calls want of the connection's thread.
    type ServiceCommand: Send;
    /// The return of a call.
    type CallReturn: Send;
    /// A data unit that was refused.
    type Refused: Send;
    /// What happened that nobody asked for.
    type Occurrence: Send;
    /// The fate of data units.
    type Settled: SettledRun;
    /// Why a call did not do what it was to do.
    type Error: From<SendError<Self::InvokeId>>;

    /// There is no connection to the address.
    fn not_connected(address: String, error: io::Error) -> Self::Error;
    /// BIND was refused.
    fn bind_refused(diagnostic: Self::BindDiagnostic) -> Self::Error;
    /// The association is over: `None` where only the connection is known to be closed.
    fn over(ending: Option<&AssociationEnd<Self::Abort>>) -> Self::Error;
    /// Whoever called wanted it no more.
    fn interrupted() -> Self::Error;

    /// The association is over: the fates of all data units that were open.
    fn end(&mut self) -> Vec<Self::Settled>;
    /// Counts data units whose fate is known.
    fn count(&mut self, settled: &Self::Settled);
    /// Octets of an operation on the connection, about; counts it as on its way there.
    fn hand(&mut self, pdu: &Self::Pdu) -> usize;
    /// Begins the transaction of a call, where this service has one.
    fn transaction(pdu: &Self::Pdu) -> Option<Started>;
    /// Whether an answer is positive.
    fn is_positive(answer: &Self::CallReturn) -> bool;
}

/// What other threads want of the connection's thread.
pub(super) enum UserCommand<S: UserService> {
    Bind,
    Unbind(S::Unbind),
    Abort(S::Abort),
    Send(S::Pdu),
    Service(S::ServiceCommand),
}
