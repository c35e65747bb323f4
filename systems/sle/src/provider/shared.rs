//! State that the threads of a provider share.

use super::forward_frame::FrameServed;
use super::log::ProviderLog;
use super::sle::SleServed;
use super::unbound::UnboundConnections;
use crate::association::InstanceDirectory;
use crate::csts;
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// State that all threads of a provider share.
pub(super) struct ProviderState {
    pub(super) log: ProviderLog,
    pub(super) served: Arc<[Arc<SleServed>]>,
    pub(super) directory: Arc<InstanceDirectory>,
    pub(super) unbound: Arc<UnboundConnections>,
    /// Of the Forward Frame service.
    pub(super) frames: Arc<[Arc<FrameServed>]>,
    pub(super) frame_directory: Arc<csts::association::InstanceDirectory>,
    pub(super) stops: AtomicBool,
}

pub(super) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    // Lists that are only added to and emptied.
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
