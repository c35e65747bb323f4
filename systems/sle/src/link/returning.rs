//! A link of a return service: one association, from the connection to its end.

use super::control::{LinkControl, LinkState};
use super::outlets::FrameOutlets;
use super::session::SessionError;
use crate::client::{ClientError, ClientSettings, SleOccurrence, User, notation};
use crate::pdu::{
    FrameOrNotification, ReturnNotification, ReturnSelection, ReturnStart, UnbindReason,
};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// Interval of the looks at the schedule.
const LOOK: Duration = Duration::from_millis(50);

/// A link that receives frames.
#[derive(Debug)]
pub(super) struct ReturnLink {
    pub(super) select: ReturnSelection,
    pub(super) outlets: Arc<Mutex<FrameOutlets>>,
}

/// The outlets of a link.
pub(super) fn lock(outlets: &Mutex<FrameOutlets>) -> MutexGuard<'_, FrameOutlets> {
    // Lock poisoning is ignored: every update is a single step.
    outlets.lock().unwrap_or_else(PoisonError::into_inner)
}

impl ReturnLink {
    /// Binds, starts, and receives until the pass or the association ends.
    pub(super) fn session(
        &self,
        settings: ClientSettings,
        control: &LinkControl,
    ) -> Result<(), SessionError> {
        let outlets = Arc::clone(&self.outlets);
        let sink = move |parts: Vec<FrameOrNotification>| lock(&outlets).take(&parts);
        let user = User::connect_with(settings, Box::new(sink))?;
        let version = user.bind()?;
        let start = ReturnStart { start: None, stop: None, select: self.select };
        if let Err(error) = user.start_return(start) {
            // The instance is to be free for the next attempt.
            drop(user.unbind(UnbindReason::End));
            return Err(error.into());
        }
        control.started(version);
        while user.ending().is_none() && !control.is_over() {
            if let Some(happened) = user.next_occurrence(LOOK) {
                say(&happened, control);
            }
            lock(&self.outlets).keep(&[]);
        }
        if let Some(ending) = user.ending() {
            return Err(ClientError::Ended(notation::ending(&ending)).into());
        }
        control.set(LinkState::Ending, String::new);
        let stopped = user.stop();
        user.unbind(UnbindReason::End)?;
        Ok(stopped?)
    }
}

/// Logs what changes; what may come often is counted only.
fn say(happened: &SleOccurrence, control: &LinkControl) {
    match happened {
        SleOccurrence::SyncNotified(notify) => match notify.notification {
            ReturnNotification::LossFrameSync(_)
            | ReturnNotification::ProductionStatusChange(_)
            | ReturnNotification::EndOfData => {
                control.say(&notation::sync_notify(notify).to_string());
            }
            ReturnNotification::ExcessiveDataBacklog => {}
        },
        SleOccurrence::Ignored(why) => control.say(why),
        SleOccurrence::Notified(_) | SleOccurrence::Report(_) | SleOccurrence::ReturnReport(_) => {}
    }
}
