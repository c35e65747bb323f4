//! A service instance as it is run: its machine, through all the associations that it has, and
//! whoever is bound to it now.

use super::binding::{self, InstanceMachine};
use super::command::Command;
use super::radiate::Waiting;
use crate::config::{
    Config, Delivery, Event, Forward, Generator, Instance, Notification, Production, Quality,
    Return, Update, utc_ns,
};
use crate::frame::ReceivedFrame;
use crate::net::Sender;
use crate::pdu::{
    AntennaId, CltuProductionStatus, DeliveryMode, Pdu, PermittedChannel, RequestedFrameQuality,
    ReturnProductionStatus, Service, ServiceInstanceId, UpdateMode,
};
use crate::recording::ChainKey;
use crate::service::fcltu::{
    self, EventAction, FcltuConfig, FcltuProvider, Limits, NotificationMode, ProtocolAbortMode,
    Queue,
};
use crate::service::returns::{Offer, ReturnConfig, ReturnProduction, ReturnProvider};
use crate::service::{Action, ServiceState};
use crate::time::Now;
use bytes::Bytes;
use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::Duration;

/// State of an instance of SLE.
pub(super) type Live = binding::Live<Machine>;

/// The state machine of an instance.
#[derive(Debug)]
pub(super) enum Machine {
    Forward(Box<FcltuProvider>),
    Return(Box<ReturnProvider>),
}

impl Machine {
    pub(super) fn state(&self) -> ServiceState {
        match self {
            Self::Forward(provider) => provider.state(),
            Self::Return(provider) => provider.state(),
        }
    }

    pub(super) fn pdu(&mut self, pdu: Pdu, now: Now, out: &mut Vec<Action>) {
        match self {
            Self::Forward(provider) => provider.pdu(pdu, now, out),
            Self::Return(provider) => provider.pdu(pdu, now, out),
        }
    }

    pub(super) fn due(&self) -> Option<u64> {
        match self {
            Self::Forward(provider) => provider.due(),
            Self::Return(provider) => provider.due(),
        }
    }

    pub(super) fn tick(&mut self, now: Now, out: &mut Vec<Action>) {
        match self {
            Self::Forward(provider) => provider.tick(now, out),
            Self::Return(provider) => provider.tick(now, out),
        }
    }
}

impl InstanceMachine for Machine {
    type Command = Command;
    type Inbound = Inbound;
    type Action = Action;
    type Version = u16;

    fn inbox_command() -> Command {
        Command::Inbox
    }

    fn progress_command() -> Command {
        Command::Progress
    }

    fn bound(&mut self, version: u16, now: Now) {
        match self {
            Self::Forward(provider) => provider.bound(version, now),
            Self::Return(provider) => provider.bound(version, now),
        }
    }

    fn unbound(&mut self, now: Now) {
        match self {
            Self::Forward(provider) => provider.unbound(now),
            Self::Return(provider) => provider.unbound(now),
        }
    }

    fn inbound(&mut self, event: Inbound, now: Now, out: &mut Vec<Action>) {
        match (self, event) {
            (Self::Return(provider), Inbound::Frames(frames)) => provider.frames(frames, now, out),
            (Self::Return(provider), Inbound::EndOfData) => provider.end_of_data(now, out),
            (Self::Return(provider), Inbound::Return(event)) => {
                provider.production(event, now, out);
            }
            (Self::Forward(provider), Inbound::Forward(event)) => {
                provider.production(event, now, out);
            }
            // Events of the other kind of service are not sent to a machine.
            (Self::Return(_), Inbound::Forward(_))
            | (Self::Forward(_), Inbound::Frames(_) | Inbound::EndOfData | Inbound::Return(_)) => {}
        }
    }
}

/// Event for a machine that does not come from its association.
#[derive(Debug)]
pub(super) enum Inbound {
    /// Frames were received.
    Frames(Vec<ReceivedFrame>),
    /// Nothing more comes of what START asked for.
    EndOfData,
    /// Production of a forward service is different.
    Forward(fcltu::Production),
    /// Production of a return service is different.
    Return(ReturnProduction),
}

/// A service instance.
pub(super) struct Served {
    pub(super) id: ServiceInstanceId,
    /// The identifier as text.
    pub(super) name: String,
    pub(super) service: Service,
    live: Mutex<Live>,
    /// Somebody bound, unbound, started or stopped.
    changed: Condvar,
    /// Of transfer buffers.
    pub(super) key: ChainKey,
    /// What waits for radiation, as transactions.
    pub(super) waiting: Waiting,
    /// Radiation has something to tell.
    pub(super) progress: Arc<AtomicBool>,
    pub(super) forward: Option<(Forward, Arc<Queue>)>,
    pub(super) returns: Option<Return>,
    /// Where a UDP source listens.
    pub(super) source: OnceLock<Option<SocketAddr>>,
}

impl Served {
    /// As the configuration says, which was checked.
    pub(super) fn new(config: &Config, instance: &Instance, id: ServiceInstanceId) -> Option<Self> {
        let service = instance.service()?;
        let (machine, forward, returns) = if service == Service::Fcltu {
            let forward = instance.forward();
            let fcltu = forward_config(config, &forward);
            let queue = Arc::new(Queue::new(&fcltu));
            let provider = Box::new(FcltuProvider::new(fcltu, Arc::clone(&queue)));
            (Machine::Forward(provider), Some((forward, queue)), None)
        } else {
            let returns = instance.returns();
            let mut provider = ReturnProvider::new(return_config(service, &returns));
            let status = ReturnProduction::Status(return_status(returns.production));
            provider.production(status, Now::read(), &mut Vec::new());
            (Machine::Return(Box::new(provider)), None, Some(returns))
        };
        Some(Self {
            key: ChainKey::of_return(&id),
            id,
            name: instance.id.clone(),
            service,
            live: Mutex::new(Live::new(machine)),
            changed: Condvar::new(),
            waiting: Waiting::default(),
            progress: Arc::default(),
            forward,
            returns,
            source: OnceLock::new(),
        })
    }

    /// Whether an operator means it.
    pub(super) fn is_called(&self, wanted: Option<&str>) -> bool {
        wanted.is_none_or(|wanted| {
            self.name == wanted || self.name.rsplit('=').next() == Some(wanted)
        })
    }

    pub(super) fn lock(&self) -> MutexGuard<'_, Live> {
        // Machines do not panic; what one that did left behind is as good as any state.
        self.live.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Sleeps until somebody binds, unbinds, starts or stops, at most so long.
    pub(super) fn wait<'a>(
        &self,
        live: MutexGuard<'a, Live>,
        at_most: Duration,
    ) -> MutexGuard<'a, Live> {
        self.changed.wait_timeout(live, at_most).unwrap_or_else(PoisonError::into_inner).0
    }

    /// Tells sleepers that something changed.
    pub(super) fn notify(&self) {
        self.changed.notify_all();
    }

    /// Somebody has bound; the number of his binding.
    pub(super) fn bind(
        &self,
        initiator: String,
        version: u16,
        sender: Sender<Command>,
        now: Now,
    ) -> u64 {
        let mut live = self.lock();
        if let Some((_, queue)) = &self.forward {
            queue.set_waker(binding::progress_waker::<Machine>(sender.clone(), &self.progress));
        }
        let number = live.bind(initiator, version, sender, now);
        drop(live);
        self.notify();
        number
    }

    /// The association of that binding is over.
    pub(super) fn unbind(&self, number: u64, now: Now) {
        let mut live = self.lock();
        if live.unbind(number, now)
            && let Some((_, queue)) = &self.forward
        {
            queue.clear_waker();
        }
        drop(live);
        self.notify();
    }
}

fn forward_config(config: &Config, forward: &Forward) -> FcltuConfig {
    let action = |event: &Event| match (event.production, event.outcome.as_str()) {
        (Some(production), _) => EventAction::SetProduction(forward_status(production)),
        (None, "completed") => EventAction::Complete,
        (None, "condition-false") => EventAction::ConditionFalse,
        (None, _) => EventAction::Fail,
    };
    let events: BTreeMap<u16, EventAction> =
        forward.event.iter().map(|event| (event.id, action(event))).collect();
    FcltuConfig {
        limits: Limits { octets: forward.buffer, ..Limits::default() },
        maximum_cltu_length: forward.cltu_max,
        check_cltu: forward.check,
        bit_rate: forward.bit_rate,
        minimum_delay_us: forward.minimum_delay_us,
        production: forward_status(forward.production),
        production_start_utc_ns: forward.production_from.as_ref().and_then(utc_ns),
        production_stop_utc_ns: forward.production_until.as_ref().and_then(utc_ns),
        notification_mode: match forward.notification {
            Notification::Immediate => NotificationMode::Immediate,
            Notification::Deferred => NotificationMode::Deferred,
        },
        protocol_abort_mode: if forward.continue_after_abort {
            ProtocolAbortMode::Continue
        } else {
            ProtocolAbortMode::Abort
        },
        transfer_buffers: forward.blocking,
        events: (!events.is_empty()).then_some(events),
        notify_buffer_empty: forward.notify_buffer_empty,
        return_timeout_s: config.user.as_ref().map_or(60, |user| user.return_timeout_s),
        ..fcltu::FcltuConfig::default()
    }
}

pub(super) fn forward_status(production: Production) -> CltuProductionStatus {
    match production {
        Production::Operational => CltuProductionStatus::Operational,
        Production::Configured => CltuProductionStatus::Configured,
        Production::Interrupted => CltuProductionStatus::Interrupted,
        Production::Halted => CltuProductionStatus::Halted,
    }
}

pub(super) fn return_status(production: Production) -> ReturnProductionStatus {
    match production {
        Production::Operational | Production::Configured => ReturnProductionStatus::Running,
        Production::Interrupted => ReturnProductionStatus::Interrupted,
        Production::Halted => ReturnProductionStatus::Halted,
    }
}

fn return_config(service: Service, returns: &Return) -> ReturnConfig {
    let channels = || {
        let mut all: Vec<PermittedChannel> = Vec::new();
        for channel in returns.channels.iter().map(|text| text.0) {
            let list = channel.virtual_channel.map(|one| vec![one]);
            let same = all.iter_mut().find(|known| {
                (known.spacecraft, known.version) == (channel.spacecraft, channel.version)
                    && known.virtual_channels.is_some() == list.is_some()
            });
            match (same.and_then(|known| known.virtual_channels.as_mut()), list) {
                (Some(known), Some(list)) => known.extend(list),
                (_, list) => all.push(PermittedChannel {
                    spacecraft: channel.spacecraft,
                    version: channel.version,
                    virtual_channels: list,
                }),
            }
        }
        all
    };
    let offer = offer(service, returns, channels);
    let generator =
        returns.generator.clone().unwrap_or(Generator { fecf: false, ..Generator::default() });
    ReturnConfig {
        offer,
        delivery: match returns.delivery {
            Delivery::Timely => DeliveryMode::TimelyOnline,
            Delivery::Complete => DeliveryMode::CompleteOnline,
            Delivery::Offline => DeliveryMode::Offline,
        },
        buffer_size: returns.frames_per_buffer,
        latency_limit_s: returns.latency_s,
        antenna: AntennaId::Local(Bytes::copy_from_slice(returns.antenna.as_bytes())),
        trailer: crate::frame::Trailer {
            fecf: returns.fecf.unwrap_or(generator.fecf),
            aos_ocf: false,
        },
        backlog_octets: returns.backlog,
        ..ReturnConfig::raf()
    }
}

/// What may be asked for; all where nothing is said.
fn offer(
    service: Service,
    returns: &Return,
    channels: impl FnOnce() -> Vec<PermittedChannel>,
) -> Offer {
    match service {
        Service::Rcf => Offer::Rcf { channels: channels() },
        Service::Rocf => Offer::Rocf {
            channels: channels(),
            control_words: returns.control_words.as_ref().map_or_else(
                || vec![0, 1, 2],
                |words| words.iter().map(|word| *word as u8).collect(),
            ),
            tc_channels: match &returns.tc_channels {
                None => Some((0..64).collect()),
                Some(list) => Some(list.clone()).filter(|list| !list.is_empty()),
            },
            updates: returns.update_modes.as_ref().map_or_else(
                || vec![UpdateMode::Continuous, UpdateMode::ChangeBased],
                |modes| modes.iter().map(|mode| update_mode(*mode)).collect(),
            ),
        },
        Service::Raf | Service::Fcltu => Offer::Raf {
            permitted: returns.qualities.as_ref().map_or_else(
                || {
                    vec![
                        RequestedFrameQuality::Good,
                        RequestedFrameQuality::Erred,
                        RequestedFrameQuality::All,
                    ]
                },
                |qualities| qualities.iter().map(|quality| frame_quality(*quality)).collect(),
            ),
        },
    }
}

fn update_mode(mode: Update) -> UpdateMode {
    match mode {
        Update::Continuous => UpdateMode::Continuous,
        Update::ChangeBased => UpdateMode::ChangeBased,
    }
}

fn frame_quality(quality: Quality) -> RequestedFrameQuality {
    match quality {
        Quality::Good => RequestedFrameQuality::Good,
        Quality::Erred => RequestedFrameQuality::Erred,
        Quality::All => RequestedFrameQuality::All,
    }
}
