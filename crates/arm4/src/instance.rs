//! An instance of an application: what its transactions are started under.

use crate::definitions::Application;

/// An instance of an application.
#[derive(Debug)]
pub(crate) struct Instance {
    pub(crate) application: &'static Application,
    /// Group, instance, context values and address, as context entries.
    pub(crate) identity: Vec<u8>,
}
