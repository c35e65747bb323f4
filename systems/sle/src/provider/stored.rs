//! The frame store of a return instance: what its source gives is kept for offline delivery.

use super::log::ProviderLog;
use super::sle::{SleMachine, SleServed};
use super::trouble::Trouble;
use crate::frame::ReceivedFrame;
use crate::pdu::ReturnProductionStatus;
use crate::source::{ArchiveLimits, FrameArchive};
use crate::time::Now;
use std::io;
use std::sync::Arc;
use std::sync::atomic::Ordering;

/// The store of one instance.
pub(super) struct FrameKeeper {
    served: Arc<SleServed>,
    archive: FrameArchive,
    trouble: Trouble,
}

impl FrameKeeper {
    /// Opens the store of an instance; `None`: it has none.
    pub(super) fn open(served: &Arc<SleServed>, log: &ProviderLog) -> io::Result<Option<Self>> {
        let Some(returns) = &served.own.returns else { return Ok(None) };
        let Some(folder) = &returns.store else { return Ok(None) };
        let limits = ArchiveLimits {
            octets: returns.store_octets,
            age_ns: returns.store_age_s.map(|seconds| seconds.saturating_mul(1_000_000_000)),
        };
        let archive = FrameArchive::open(folder, limits).map_err(io::Error::other)?;
        let (name, octets) = (&served.name, archive.octets());
        log.say(&format!("{name}: frame store {} with {octets} octets", folder.display()));
        let served = Arc::clone(served);
        Ok(Some(Self { served, archive, trouble: Trouble::default() }))
    }

    /// Keeps frames, if the instance's production is running: any other are not delivered either. It
    /// is to be called once a second, also without frames, because of the store's limits.
    pub(super) fn keep(&mut self, frames: &[ReceivedFrame], log: &ProviderLog) {
        let is_running = match &self.served.lock().machine {
            SleMachine::Return(provider) => {
                provider.status_report().production == ReturnProductionStatus::Running
            }
            SleMachine::Forward(_) => false,
        };
        let frames = if is_running { frames } else { &[] };
        let said = match self.archive.write(frames, Now::read()) {
            Ok(()) => {
                self.served.own.stored.fetch_add(frames.len() as u64, Ordering::Relaxed);
                if frames.is_empty() { None } else { self.trouble.is_over() }
            }
            Err(error) => {
                self.trouble.failed(&format!("{error}; frames are delivered and not stored"))
            }
        };
        if let Some(said) = said {
            log.say(&format!("{}: frame store: {said}", self.served.name));
        }
    }
}
