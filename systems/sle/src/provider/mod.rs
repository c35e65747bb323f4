//! A provider as it runs: its ports, a thread for each association, one for the radiation of each
//! FCLTU instance, one for the source of each return instance.
//!
//! ```text
//!  user ─▶ Listener ─▶ driver's thread: Association ─▶ Served (machine, one lock) ─▶ Queue ─▶ radiation's thread ─▶ modem
//!                             ▲                                  ▲
//!                             └── commands: frames, notices ─────┴── source's thread, operator
//! ```
//!
//! A machine works in the thread of whoever is bound to it, so that what it wants sent leaves in
//! its order; others give that thread commands. Where nobody is bound they work it themselves.

mod end;
mod feed;
mod forward_frame;
mod instance;
mod log;
mod operator;
pub mod order;
mod radiate;
mod shared;
mod sle;
mod sle_config;
mod source;
mod stored;
mod trouble;
mod unbound;

use crate::association::{
    self, Association, AuthenticationLevel, DirectoryError, HashAlgorithm, Identity, Initiator,
    InstanceDirectory, ProvisionPeriod, SecuritySettings, ServiceInstance as Provided,
};
use crate::config::{AuthLevelSetting, Config, Finding, HashSetting, PeerSettings, ProviderTable};
use crate::csts;
use crate::csts::forward_frame::ForwardFrameProvider;
use crate::net::{
    AcceptedConnection, CommandSender, ConnectionProtocol, DriverLimits, Listener, ListenerError,
    LocalListener, SocketOptions,
};
use crate::service::fcltu::Modem;
use crate::time::Now;
use crate::tml::HeartbeatLimits;
use end::ProviderEnd;
use forward_frame::FrameServed;
use instance::{InstanceCommand, InstanceMachine, ServedInstance};
pub use log::ProviderLog;
use shared::{ProviderState, lock};
use sle::SleServed;
use std::fmt;
use std::net::SocketAddr;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;
use std::time::Duration;
use stored::FrameKeeper;
use unbound::{UnboundConnection, UnboundConnections};

/// Why a provider does not run.
#[derive(Debug, thiserror::Error)]
pub enum ProviderError {
    /// The configuration has errors: the findings of [`Config::check`].
    #[error("the configuration has errors:\n{}", lines(.0))]
    Config(Vec<Finding>),
    /// The configuration has no `[provider]`.
    #[error("the configuration has no [provider]")]
    NoProvider,
    /// Two service instances or initiators have the same identifier.
    #[error(transparent)]
    Directory(#[from] DirectoryError),
    /// A port cannot be opened.
    #[error(transparent)]
    Listener(#[from] ListenerError),
    /// A modem, a frame source or a thread cannot be started.
    #[error("{what}: {error}")]
    Io {
        /// The resource.
        what: String,
        /// Error of the operating system.
        error: std::io::Error,
    },
}

fn lines(findings: &[Finding]) -> String {
    findings.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n")
}

/// A provider that runs. Dropped, it ends: associations are aborted for operational reasons.
pub struct RunningProvider {
    shared: Arc<ProviderState>,
    addresses: Vec<SocketAddr>,
    addresses_csts: Vec<SocketAddr>,
    listeners: Mutex<Vec<Listener>>,
    local_listeners: Mutex<Vec<LocalListener>>,
    control: Mutex<Option<operator::ControlPort>>,
    threads: Mutex<Vec<JoinHandle<()>>>,
}

impl fmt::Debug for RunningProvider {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RunningProvider")
            .field("addresses", &self.addresses())
            .finish_non_exhaustive()
    }
}

/// Starts a provider.
///
/// # Errors
/// [`ProviderError`]; nothing runs then.
pub fn run(config: &Config, log: ProviderLog) -> Result<RunningProvider, ProviderError> {
    let wrong: Vec<Finding> = config.check().into_iter().filter(Finding::is_wrong).collect();
    if !wrong.is_empty() {
        return Err(ProviderError::Config(wrong));
    }
    let own = config.provider.as_ref().ok_or(ProviderError::NoProvider)?;
    let mut served = Vec::new();
    for instance in config.instance.iter().map(toml::Spanned::get_ref) {
        // Checked above.
        let Ok(id) = instance.identifier() else { continue };
        served.extend(SleServed::configured(config, instance, id).map(Arc::new));
    }
    let frames = config.forward_frame.iter().map(toml::Spanned::get_ref);
    let shared = Arc::new(ProviderState {
        unbound: UnboundConnections::new(own.connections, log.clone()),
        log,
        served: served.into(),
        directory: Arc::new(directory(config)?),
        frames: frames.filter_map(FrameServed::configured).map(Arc::new).collect(),
        frame_directory: Arc::new(frame_directory(config)?),
        stops: AtomicBool::new(false),
    });
    let mut running = RunningProvider {
        shared: Arc::clone(&shared),
        addresses: Vec::new(),
        addresses_csts: Vec::new(),
        listeners: Mutex::default(),
        local_listeners: Mutex::default(),
        control: Mutex::default(),
        threads: Mutex::default(),
    };
    for served in &*shared.served {
        running.radiate("sle-radiation", served)?;
    }
    let groups = feed::fed_together(&shared.served);
    // All stores are there before an instance delivers from one.
    let stores = groups.iter().map(|together| running.stores(together));
    let stores = stores.collect::<Result<Vec<_>, _>>()?;
    for (together, stores) in groups.into_iter().zip(stores) {
        running.feed(together, stores)?;
    }
    for served in &*shared.frames {
        running.radiate("csts-radiation", served)?;
    }
    let limits = DriverLimits {
        waiting_bytes_max: config.transport.output_max as usize,
        write_each: config.transport.write_each,
        ..DriverLimits::default()
    };
    let doors = Doors { options: socket_options(config), limits, connections: own.connections };
    running.listen_sle(own, &doors)?;
    running.listen_csts(own, &doors)?;
    if let Some(address) = own.control {
        let control = operator::ControlPort::start(address, Arc::clone(&shared));
        let what = || format!("control at {address}");
        let control = control.map_err(|error| ProviderError::Io { what: what(), error })?;
        *lock(&running.control) = Some(control);
    }
    Ok(running)
}

/// Settings for accepting and driving connections.
struct Doors {
    options: SocketOptions,
    limits: DriverLimits,
    /// Connections at the most.
    connections: usize,
}

impl RunningProvider {
    /// Opens the ports and the local links of SLE.
    fn listen_sle(&mut self, own: &ProviderTable, doors: &Doors) -> Result<(), ProviderError> {
        let end = |shared: Arc<ProviderState>, sender, who| {
            let association = Association::provider(Arc::clone(&shared.directory), Now::read());
            let instances = (shared.log.clone(), Arc::clone(&shared.served));
            ProviderEnd::<sle::SleMachine>::new(association, instances, sender, who, Now::read())
        };
        for address in &own.listen {
            self.addresses.push(self.listen(*address, "sle", doors, end)?);
        }
        for path in &own.listen_local {
            let accept = self.acceptor("sle-local", doors.limits, end);
            let listener = LocalListener::start(path, doors.connections, accept)?;
            lock(&self.local_listeners).push(listener);
        }
        Ok(())
    }

    /// Opens the ports and the local links of CSTS.
    fn listen_csts(&mut self, own: &ProviderTable, doors: &Doors) -> Result<(), ProviderError> {
        let end = |shared: Arc<ProviderState>, sender, who| {
            let directory = Arc::clone(&shared.frame_directory);
            let association = csts::association::Association::provider(directory, Now::read());
            let frames = (shared.log.clone(), Arc::clone(&shared.frames));
            ProviderEnd::<ForwardFrameProvider>::new(association, frames, sender, who, Now::read())
        };
        for address in &own.listen_csts {
            self.addresses_csts.push(self.listen(*address, "csts", doors, end)?);
        }
        for path in &own.listen_csts_local {
            let accept = self.acceptor("csts-local", doors.limits, end);
            let listener = LocalListener::start(path, doors.connections, accept)?;
            lock(&self.local_listeners).push(listener);
        }
        Ok(())
    }

    /// Listens for peers of one protocol; `end` makes the provider's end of a connection out
    /// of what all share, the connection's sender and place, and the peer's address. Threads are
    /// called `name` and the peer's port. Returns the address.
    fn listen<E: ConnectionProtocol>(
        &self,
        address: SocketAddr,
        name: &'static str,
        doors: &Doors,
        end: impl Fn(Arc<ProviderState>, (CommandSender<E::Command>, UnboundConnection), String) -> E
        + Copy
        + Send
        + 'static,
    ) -> Result<SocketAddr, ProviderError> {
        let accept = self.acceptor(name, doors.limits, end);
        let listener = Listener::start(address, &doors.options, doors.connections, accept)?;
        let address = listener.address();
        lock(&self.listeners).push(listener);
        Ok(address)
    }

    /// What takes a connection for [`Self::listen`].
    fn acceptor<E: ConnectionProtocol>(
        &self,
        name: &'static str,
        limits: DriverLimits,
        end: impl Fn(Arc<ProviderState>, (CommandSender<E::Command>, UnboundConnection), String) -> E
        + Copy
        + Send
        + 'static,
    ) -> impl FnMut(AcceptedConnection) + Send + 'static {
        let shared = Arc::clone(&self.shared);
        move |accepted: AcceptedConnection| {
            let peer = accepted.peer.to_string();
            let name = format!("{name}-{}", accepted.peer.number());
            let (of_end, who) = (Arc::clone(&shared), peer.clone());
            let driven = accepted.drive(&name, limits, move |sender| {
                let resets = sender.clone();
                let unbound = of_end.unbound.admit(move || resets.reset());
                end(of_end, (sender.clone(), unbound), who)
            });
            if let Err(error) = driven {
                shared
                    .unbound
                    .say(&format!("{peer}: no thread can be started: {error}"), Now::read());
            }
        }
    }

    /// Starts the radiation of an instance, if it is one of a forward service, in a thread of that
    /// name.
    fn radiate<M: InstanceMachine>(
        &self,
        thread: &str,
        served: &Arc<ServedInstance<M>>,
    ) -> Result<(), ProviderError> {
        let Some(queue) = served.queue.clone() else { return Ok(()) };
        let modem = match served.modem {
            Some(to) => Modem::udp(to).map_err(|error| failed(&served.name, "modem", error))?,
            None => Modem::Discard,
        };
        let (radiating, log) = (Arc::clone(served), self.shared.log.clone());
        let thread = std::thread::Builder::new().name(thread.to_owned()).spawn(move || {
            let (name, waiting) = (&radiating.name, &radiating.waiting);
            let whose = radiate::RadiatedInstance { name, waiting, class: M::RADIATE };
            radiate::run(&whose, &queue, &modem, &log);
        });
        lock(&self.threads).push(thread.map_err(|error| failed(&served.name, "thread", error))?);
        Ok(())
    }

    /// The stores of those instances that have one.
    fn stores(&self, together: &[Arc<SleServed>]) -> Result<Vec<FrameKeeper>, ProviderError> {
        let open = |served: &Arc<SleServed>| {
            let opened = FrameKeeper::open(served, &self.shared.log).transpose()?;
            Some(opened.map_err(|error| failed(&served.name, "frame store", error)))
        };
        together.iter().filter_map(open).collect()
    }

    /// Starts the source of return instances: one, or those that have the same.
    fn feed(
        &self,
        together: Vec<Arc<SleServed>>,
        stores: Vec<FrameKeeper>,
    ) -> Result<(), ProviderError> {
        let Some(first) = together.first().cloned() else { return Ok(()) };
        let feed = feed::FrameFeed::open(together, stores)
            .map_err(|error| failed(&first.name, "source", error))?;
        let shared = Arc::clone(&self.shared);
        let thread = std::thread::Builder::new()
            .name("sle-source".to_owned())
            .spawn(move || feed.run(&shared));
        lock(&self.threads).push(thread.map_err(|error| failed(&first.name, "thread", error))?);
        Ok(())
    }

    /// Addresses for CSTS, in the order of the configuration.
    #[must_use]
    pub fn addresses_csts(&self) -> Vec<SocketAddr> {
        self.addresses_csts.clone()
    }

    /// Addresses for SLE, in the order of the configuration.
    #[must_use]
    pub fn addresses(&self) -> Vec<SocketAddr> {
        self.addresses.clone()
    }

    /// Address of the control port.
    #[must_use]
    pub fn control(&self) -> Option<SocketAddr> {
        lock(&self.control).as_ref().map(operator::ControlPort::address)
    }

    /// Address of the UDP source of the instance whose identifier ends with `instance`.
    #[must_use]
    pub fn source(&self, instance: &str) -> Option<SocketAddr> {
        let served = self.shared.served.iter().find(|served| served.is_called(Some(instance)))?;
        *served.own.source.get()?
    }

    /// Does what an operator's line says, and answers.
    #[must_use]
    pub fn order(&self, line: &str) -> String {
        operator::answer(&self.shared, line)
    }

    /// Whether an operator has said that it ends.
    #[must_use]
    pub fn stops(&self) -> bool {
        self.shared.stops.load(Ordering::Acquire)
    }

    /// Instances with a UDP source, and where it listens.
    #[must_use]
    pub fn sources(&self) -> Vec<(String, SocketAddr)> {
        let address =
            |served: &Arc<SleServed>| Some((served.name.clone(), (*served.own.source.get()?)?));
        self.shared.served.iter().filter_map(address).collect()
    }

    /// Ends what runs: nothing is accepted any more, and whoever is bound is aborted, for
    /// operational reasons. Waits until he was told, for a second at most.
    pub fn end(&self) {
        self.shared.stops.store(true, Ordering::Release);
        lock(&self.listeners).clear();
        lock(&self.local_listeners).clear();
        lock(&self.control).take();
        let senders = abort_all(&self.shared.served);
        let frame_senders = abort_all(&self.shared.frames);
        for thread in lock(&self.threads).drain(..) {
            // A panic of a source was said where it happened.
            let _ = thread.join();
        }
        // Until the peers have been told, for a while.
        for _ in 0..200 {
            let is_over = senders.iter().all(crate::net::CommandSender::finished);
            if is_over && frame_senders.iter().all(crate::net::CommandSender::finished) {
                return;
            }
            chronoscope_clock::sleep(Duration::from_millis(5));
        }
        senders.iter().for_each(crate::net::CommandSender::reset);
        frame_senders.iter().for_each(crate::net::CommandSender::reset);
    }
}

impl Drop for RunningProvider {
    fn drop(&mut self) {
        self.end();
    }
}

/// Aborts the associations of these instances and ends their radiation; the ways to those
/// associations.
fn abort_all<M: InstanceMachine>(
    instances: &[Arc<ServedInstance<M>>],
) -> Vec<CommandSender<InstanceCommand<M>>> {
    let mut senders = Vec::new();
    for served in instances {
        senders.extend(served.abort());
        if let Some(queue) = &served.queue {
            queue.with(crate::service::fcltu::Radiation::close);
        }
        served.notify();
    }
    senders
}

/// A resource of an instance is not available.
fn failed(instance: &str, what: &str, error: std::io::Error) -> ProviderError {
    ProviderError::Io { what: format!("{instance}: {what}"), error }
}

/// Socket options from a configuration.
pub(crate) fn socket_options(config: &Config) -> SocketOptions {
    let transport = &config.transport;
    SocketOptions {
        nodelay: transport.nodelay,
        quickack: transport.quickack,
        send_buffer: transport.send_buffer,
        receive_buffer: transport.receive_buffer,
        congestion: transport.congestion.clone(),
    }
}

/// A party's name and password.
pub(crate) fn identity(id: &str, password: &[u8]) -> Identity {
    Identity { id: id.to_owned(), password: password.to_vec() }
}

/// Authentication settings for a peer.
pub(crate) fn security(config: &Config, party: &PeerSettings) -> SecuritySettings {
    SecuritySettings {
        level: match party.auth {
            AuthLevelSetting::None => AuthenticationLevel::None,
            AuthLevelSetting::Bind => AuthenticationLevel::Bind,
            AuthLevelSetting::All => AuthenticationLevel::All,
        },
        hash: match party.hash {
            HashSetting::Sha1 => HashAlgorithm::Sha1,
            HashSetting::Sha256 => HashAlgorithm::Sha256,
        },
        acceptable_delay_ns: u64::from(config.security.delay_s) * 1_000_000_000,
    }
}

/// Limits of heartbeats from a configuration.
fn heartbeat_limits(config: &Config) -> HeartbeatLimits {
    let transport = &config.transport;
    let [interval_from, interval_to] = transport.heartbeat_range_s;
    let [factor_from, factor_to] = transport.dead_factor_range;
    HeartbeatLimits {
        interval_s: interval_from..=interval_to,
        dead_factor: factor_from..=factor_to,
        none_allowed: transport.without_heartbeats,
        establishment_ns: u64::from(transport.startup_s) * 1_000_000_000,
    }
}

/// The directory of CSTS: instances and initiators.
fn frame_directory(config: &Config) -> Result<csts::association::InstanceDirectory, ProviderError> {
    let own = config.provider.as_ref().ok_or(ProviderError::NoProvider)?;
    let own = identity(&own.id, own.password.octets());
    let mut directory = csts::association::InstanceDirectory::new(own)
        .heartbeat(heartbeat_limits(config))
        .pdu_bytes_max(config.transport.pdu_max);
    for instance in config.forward_frame.iter().map(toml::Spanned::get_ref) {
        let Some(id) = instance.identifier() else { continue };
        let initiators = config.initiators_or_all(&instance.initiators);
        add_initiators(&mut directory, config, &initiators)?;
        directory.add_instance(csts::association::ServiceInstance {
            id,
            versions: vec![csts::forward_frame::VERSION],
            initiators,
            provision: provision(instance.period_utc_ns()),
            responder_port: Some(instance.port.clone()),
        })?;
    }
    Ok(directory)
}

/// The directory of SLE: instances and initiators.
fn directory(config: &Config) -> Result<InstanceDirectory, ProviderError> {
    let own = config.provider.as_ref().ok_or(ProviderError::NoProvider)?;
    let mut directory = InstanceDirectory::new(identity(&own.id, own.password.octets()))
        .heartbeat(heartbeat_limits(config))
        .pdu_bytes_max(config.transport.pdu_max);
    for instance in config.instance.iter().map(toml::Spanned::get_ref) {
        let (Ok(id), Some(service)) = (instance.identifier(), instance.service()) else { continue };
        let initiators = config.initiators_of(instance);
        add_initiators(&mut directory, config, &initiators)?;
        directory.add_instance(Provided {
            id,
            service,
            versions: instance.versions.clone(),
            initiators,
            provision: provision(instance.period_utc_ns()),
            responder_port: Some(instance.port.clone()),
            end_is_final: false,
        })?;
    }
    Ok(directory)
}

/// Adds those of these initiators that the directory does not have yet.
fn add_initiators<I: association::directory::ProvidedInstance>(
    directory: &mut association::directory::InstanceDirectory<I>,
    config: &Config,
    names: &[String],
) -> Result<(), DirectoryError> {
    for name in names {
        let Some(party) = config.party(name) else { continue };
        if directory.initiator(&party.id).is_none() {
            directory.add_initiator(Initiator {
                identity: identity(&party.id, party.password.octets()),
                security: security(config, &party),
            })?;
        }
    }
    Ok(())
}

/// The provision period of an instance, from its ends in UTC nanoseconds; `None`: always.
fn provision((from, until): (Option<u64>, Option<u64>)) -> Option<ProvisionPeriod> {
    (from.is_some() || until.is_some()).then(|| ProvisionPeriod {
        start_utc_ns: from.unwrap_or(0),
        end_utc_ns: until.unwrap_or(u64::MAX),
    })
}

#[cfg(test)]
mod tests {
    use super::ProviderLog;
    use std::sync::mpsc;

    #[test]
    fn what_a_user_calls_itself_does_not_steer_a_terminal() {
        let (say, said) = mpsc::channel();
        let log = ProviderLog::new(move |text| drop(say.send(text.to_owned())));
        log.say("user\u{1b}[2J\u{9b}1m\u{202e} bound");
        assert_eq!(said.try_iter().collect::<Vec<_>>(), ["user\\u001b[2J\\u009b1m\\u202e bound"]);
    }
}
