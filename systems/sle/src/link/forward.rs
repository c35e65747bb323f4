//! A link of FCLTU: one association, from the connection to its end.
//!
//! A CLTU is sent in the association in which it was reserved, and in no other: when an association is
//! lost, the fate of a CLTU on its way is unknown, and its program decides whether to give it again.

use super::control::LinkControl;
use super::flight::CltuFlight;
use super::ledger::CltuLedger;
use super::log_file::LinkJournal;
use super::programs::CltuIntake;
use super::sender::{CltuSender, SenderParts};
use super::session::SessionError;
use crate::client::{ClientSettings, FateCursor, User};
use crate::config::NotifySetting;
use crate::pdu::UnbindReason;
use std::sync::Arc;

/// A link that sends CLTUs.
#[derive(Debug)]
pub(super) struct ForwardLink {
    pub(super) journal: LinkJournal,
    pub(super) ledger: Arc<CltuLedger>,
    pub(super) intake: Arc<CltuIntake>,
    pub(super) notify: NotifySetting,
    /// How long reports are waited for before STOP, in ns.
    pub(super) settle_ns: u64,
}

impl ForwardLink {
    fn parts(&self) -> SenderParts<'_> {
        SenderParts {
            intake: &self.intake,
            ledger: &self.ledger,
            notify: self.notify,
            settle_ns: self.settle_ns,
        }
    }

    /// Binds, starts, and sends until the pass or the association ends.
    pub(super) fn session(
        &self,
        settings: ClientSettings,
        control: &LinkControl,
    ) -> Result<(), SessionError> {
        let journal = self.journal.open()?;
        let user = User::connect(settings)?;
        let version = user.bind()?;
        let (writer, first) = self.journal.begin(journal).map_err(|error| unbound(&user, error))?;
        #[allow(clippy::cast_possible_truncation)] // below 2^31
        user.start_forward(first as u32).map_err(|error| unbound(&user, error))?;
        control.started(version);
        let flight = CltuFlight::new(first, &self.ledger);
        let mut sender = CltuSender::new(self.parts(), &user, &writer, &flight, first, control);
        let mut cursor = FateCursor::default();
        self.intake.set_active(true);
        let ended = std::thread::scope(|scope| {
            let writing =
                scope.spawn(|| writer.run(|entries| flight.collect(&user, &mut cursor, entries)));
            let ended = sender.run();
            self.intake.set_active(false);
            sender.give_up();
            writer.close(sender.handed);
            match writing.join() {
                Ok(Ok(())) => {}
                Ok(Err(error)) => control.say(&error.to_string()),
                Err(panic) => std::panic::resume_unwind(panic),
            }
            ended
        });
        flight.end();
        ended
    }
}

/// Unbinds, so that the instance is free for the next attempt.
fn unbound<E>(user: &User, error: E) -> E {
    drop(user.unbind(UnbindReason::End));
    error
}
