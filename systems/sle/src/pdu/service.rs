//! Services, roles and numbers that operations share.

/// A transfer service.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum ServiceType {
    /// Return all frames, CCSDS 911.1.
    Raf,
    /// Return channel frames, CCSDS 911.2.
    Rcf,
    /// Return operational control fields, CCSDS 911.5.
    Rocf,
    /// Forward CLTU, CCSDS 912.1.
    Fcltu,
}

/// Role in an association. The user binds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum AssociationRole {
    /// Uses the service: a mission control centre.
    User,
    /// Provides it: a ground station.
    Provider,
}

/// Number of an invocation by which its return is known. It wraps.
pub type InvokeId = u16;

/// Number of a CLTU, chosen by the user, one after the other from START's.
pub type CltuId = u32;

/// Number of a THROW-EVENT, one after the other.
pub type EventInvocationId = u32;

/// Why an operation was refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Diagnostic {
    /// Common 100: the invoke id is that of an operation that is still open.
    DuplicateInvokeId,
    /// Common diagnostic 127.
    OtherReason,
    /// One of the operation's own, as numbered in its book.
    Specific(u8),
}
