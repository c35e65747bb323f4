//! Interface between a user's association and its service: the forward and return services of SLE,
//! and forward frames by CSTS.

use crate::association::protocol::AbortDiagnostic;
use crate::association::{AssociationEnd, SendError};
use chronoscope_record::Started;
use std::io;

/// A run of data units with one fate.
pub(super) trait SettledRun: Clone + Send {
    /// Adds the following run, if it begins where this one ends and has the same fate.
    fn join(&mut self, next: &Self) -> bool;
    /// Number of data units.
    fn count(&self) -> u32;
    /// Leaves out the first data units: `count` of them, or all.
    fn skip(&mut self, count: u32);
}

/// The service of a user's association. There are two alone, one for each specification.
pub(super) trait UserService: Sized + Send + 'static {
    /// An operation of the service.
    type Pdu: Send;
    /// Number of an invocation.
    type InvokeId: Send;
    /// The data of a positive BIND return.
    type Bound: Copy + Send;
    /// Why BIND was refused.
    type BindDiagnostic: Clone + Send;
    /// Diagnostic of PEER-ABORT.
    type Abort: AbortDiagnostic + Send;
    /// The reason that UNBIND gives.
    type Unbind: Send;
    /// Commands of this service only to the connection's thread.
    type ServiceCommand: Send;
    /// The return of a call.
    type CallReturn: Send;
    /// A data unit that was refused.
    type Refused: Send;
    /// An event that is not the result of a call.
    type Occurrence: Send;
    /// The fate of data units.
    type Settled: SettledRun;
    /// Why a call did not do what it was to do.
    type Error: From<SendError<Self::InvokeId>>;

    /// The error if the address cannot be connected to.
    fn not_connected(address: String, error: io::Error) -> Self::Error;
    /// BIND was refused.
    fn bind_refused(diagnostic: Self::BindDiagnostic) -> Self::Error;
    /// The association is over: `None` where only the connection is known to be closed.
    fn over(ending: Option<&AssociationEnd<Self::Abort>>) -> Self::Error;
    /// The caller interrupted the call.
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

/// Command of another thread to the connection's thread.
pub(super) enum UserCommand<S: UserService> {
    Bind,
    Unbind(S::Unbind),
    Abort(S::Abort),
    Send(S::Pdu),
    Service(S::ServiceCommand),
}
