//! One link that is kept up: its sockets, its thread, and the associations that come and go.

use super::backoff::Backoff;
use super::control::{LinkControl, LinkState};
use super::door::LinkDoor;
use super::forward::ForwardLink;
use super::ledger::CltuLedger;
use super::log_file::LinkJournal;
use super::outlets::FrameOutlets;
use super::programs::CltuIntake;
use super::returning::{ReturnLink, lock};
use super::schedule::LinkSchedule;
use super::selection::selection;
use super::session::SessionError;
use crate::client::{ClientError, ClientSettings};
use crate::config::{Config, LinkForwardTable, LinkTable, format_instance};
use crate::provider::ProviderLog;
use serde_json::Value;
use std::io;
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;

/// The part of a link that depends on its service.
enum LinkPort {
    Forward { intake: Arc<CltuIntake>, ledger: Arc<CltuLedger>, door: LinkDoor },
    Return(Arc<Mutex<FrameOutlets>>),
}

/// What the thread of a link works with.
enum LinkService {
    Forward(ForwardLink),
    Return(ReturnLink),
}

/// A link that is kept up.
pub(super) struct KeptLink {
    /// Everything but the passes, in words: a link with the same is the same link.
    pub(super) fingerprint: String,
    pub(super) control: Arc<LinkControl>,
    port: LinkPort,
    thread: JoinHandle<()>,
}

/// The passes of a link.
pub(super) fn schedule(link: &LinkTable) -> LinkSchedule {
    let passes = link.passes.as_ref();
    LinkSchedule::new(passes.map(|all| all.iter().filter_map(|pass| pass.utc_ns()).collect()))
}

/// Everything that a link depends on, but its passes.
pub(super) fn fingerprint(config: &Config, link: &LinkTable) -> String {
    let settings = ClientSettings::of(config, Some(&link.instance));
    let link = LinkTable { passes: None, ..link.clone() };
    let responder = settings.as_ref().map(|settings| settings.association.responder.id.clone());
    let passwords = [
        config.user.as_ref().map(|user| user.password.octets().to_vec()),
        responder.ok().and_then(|id| Some(config.party(&id)?.password.octets().to_vec())),
    ];
    let notify = config.find(Some(&link.instance)).map(|instance| instance.forward().notify);
    format!("{link:?} {:?} {passwords:?} {notify:?} {:?}", config.security, settings)
}

impl KeptLink {
    /// Opens the sockets of a link of a checked configuration, and starts its thread.
    ///
    /// # Errors
    /// A socket, a journal or a store that is not available.
    pub(super) fn start(config: &Config, link: &LinkTable, log: &ProviderLog) -> io::Result<Self> {
        let mut settings =
            ClientSettings::of(config, Some(&link.instance)).map_err(io::Error::other)?;
        let control = Arc::new(LinkControl::new(link.name(), schedule(link), log.clone()));
        settings.interrupt = Arc::clone(&control.interrupt);
        let (port, service) = match &link.forward {
            Some(forward) => Self::forward(config, link, forward, &settings, &control)?,
            None => {
                let returns = link.returns.clone().unwrap_or_default();
                let select =
                    selection(settings.association.service, &returns).map_err(io::Error::other)?;
                let outlets = FrameOutlets::open(link.name(), &returns, log)?;
                let outlets = Arc::new(Mutex::new(outlets));
                let service = ReturnLink { select, outlets: Arc::clone(&outlets) };
                (LinkPort::Return(outlets), LinkService::Return(service))
            }
        };
        let mut seed = [0; 8];
        getrandom::fill(&mut seed).map_err(io::Error::other)?;
        let backoff = Backoff::new(link.reconnect_s, u64::from_ne_bytes(seed));
        let of_thread = Arc::clone(&control);
        let thread = std::thread::Builder::new()
            .name("sle-link".to_owned())
            .spawn(move || service.keep_up(&settings, &of_thread, backoff))?;
        Ok(Self { fingerprint: fingerprint(config, link), control, port, thread })
    }

    fn forward(
        config: &Config,
        link: &LinkTable,
        forward: &LinkForwardTable,
        settings: &ClientSettings,
        control: &LinkControl,
    ) -> io::Result<(LinkPort, LinkService)> {
        let instance = format_instance(&settings.association.instance);
        let journal = LinkJournal::new(&forward.journal, &instance);
        let ledger = Arc::new(CltuLedger::default());
        ledger.restore(&journal.state().map_err(io::Error::other)?);
        let limits = (forward.queue, forward.hold_s);
        let intake = CltuIntake::new(link.name(), limits, Arc::clone(&ledger), control.log());
        let intake = Arc::new(intake);
        let address = forward.listen.parse().map_err(io::Error::other)?;
        let door = intake
            .open(&address)
            .map_err(|error| io::Error::other(format!("listen {}: {error}", forward.listen)))?;
        let notify = config
            .find(Some(&link.instance))
            .map(|instance| instance.forward().notify)
            .unwrap_or_default();
        let service = ForwardLink {
            journal,
            ledger: Arc::clone(&ledger),
            intake: Arc::clone(&intake),
            notify,
            settle_ns: u64::from(forward.settle_s) * 1_000_000_000,
        };
        Ok((LinkPort::Forward { intake, ledger, door }, LinkService::Forward(service)))
    }

    /// Where programs can connect.
    pub(super) fn addresses(&self) -> Vec<String> {
        match &self.port {
            LinkPort::Forward { door, .. } => vec![door.address.to_string()],
            LinkPort::Return(outlets) => lock(outlets).addresses(),
        }
    }

    /// Called every 50 ms.
    pub(super) fn tick(&self) {
        self.control.tick();
        if let LinkPort::Forward { intake, .. } = &self.port {
            intake.tick();
        }
    }

    /// Whether the link's thread has ended, after [`LinkControl::end`].
    pub(super) fn is_finished(&self) -> bool {
        self.thread.is_finished()
    }

    /// Waits for the end of the thread, and closes the sockets.
    pub(super) fn finish(self) {
        // A panic was said where it happened.
        let _ = self.thread.join();
        if let LinkPort::Forward { intake, door, .. } = self.port {
            drop(door);
            intake.end();
        }
    }

    /// State and counters, as JSON.
    pub(super) fn status(&self) -> Value {
        let mut status = self.control.status();
        match &self.port {
            LinkPort::Forward { intake, ledger, door } => {
                status["listen"] = door.address.to_string().into();
                status["intake"] = intake.status();
                status["fates"] = ledger.status();
            }
            LinkPort::Return(outlets) => status["frames"] = lock(outlets).status(),
        }
        status
    }
}

impl LinkService {
    /// Binds again and again, until the link is to end.
    fn keep_up(&self, settings: &ClientSettings, control: &LinkControl, mut backoff: Backoff) {
        while control.wait_for_pass() {
            control.set(LinkState::Connecting, String::new);
            let session = match self {
                Self::Forward(link) => link.session(settings.clone(), control),
                Self::Return(link) => link.session(settings.clone(), control),
            };
            match session {
                Ok(()) => {
                    control.ended();
                    backoff.reset();
                }
                Err(SessionError::Client(ClientError::Interrupted)) => {}
                Err(error) => {
                    let lasted_ns = control.failed(error.to_string());
                    control.pause(backoff.pause(lasted_ns));
                }
            }
        }
        control.set(LinkState::Ended, String::new);
    }
}
