//! State of an association.

use std::fmt;

/// States of an association. That a service is started or not is the service's.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum AssociationState {
    /// Connected; BIND was not sent, or has not come.
    Unbound,
    /// A user's: BIND was sent.
    BindPending,
    /// BIND was returned positively.
    Bound,
    /// A user's: UNBIND was sent.
    UnbindPending,
    /// A provider's: UNBIND was returned, or BIND refused, and the initiator is to close.
    Released,
    /// The association has ended.
    Ended,
}

impl fmt::Display for AssociationState {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Unbound => "unbound",
            Self::BindPending => "waiting for the return of BIND",
            Self::Bound => "bound",
            Self::UnbindPending => "waiting for the return of UNBIND",
            Self::Released => "released",
            Self::Ended => "ended",
        })
    }
}
