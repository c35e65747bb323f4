//! What the threads of a provider share.

use super::forward_frame::FrameServed;
use super::log::Log;
use super::sle::SleServed;
use super::strangers::Strangers;
use crate::association::Directory;
use crate::csts;
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// What all threads of a provider know.
pub(super) struct ProviderState {
    pub(super) log: Log,
    pub(super) served: Arc<[Arc<SleServed>]>,
    pub(super) directory: Arc<Directory>,
    pub(super) strangers: Arc<Strangers>,
    /// Of the Forward Frame service.
    pub(super) frames: Arc<[Arc<FrameServed>]>,
    pub(super) frame_directory: Arc<csts::association::Directory>,
    pub(super) stops: AtomicBool,
}

pub(super) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    // Lists that are only added to and emptied.
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
