//! What the operator and the feed ask of an association.

use crate::service::Action;

/// What other threads want of an association.
#[derive(Debug)]
pub(super) enum Command {
    /// Something is in the instance's inbox.
    Inbox,
    /// The connection takes frames again.
    Unblock,
    /// What a machine wanted while another thread had it.
    Actions(Vec<Action>),
    /// Radiation has something to tell.
    Progress,
    /// An operator wants it to end.
    Abort,
}
