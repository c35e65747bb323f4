//! Execution of operator commands, and the control port.

use super::order::{self, HELP, LINE_MAX, OperatorOrder};
use super::shared::ProviderState;
use super::sle::{SleInbound, SleMachine, SleServed};
use super::sle_config::return_status;
use crate::pdu::LockStatus;
use crate::service::fcltu;
use crate::service::returns::{ReceiverLocks, ReturnProduction};
use chronoscope_admission::{ConnectionCapacity, ConnectionSlot, ConnectionSlots};
use std::collections::HashMap;
use std::fmt::Write as _;
use std::io::{self, BufRead, BufReader, Read, Write};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, Receiver, Sender};
use std::thread::{JoinHandle, ThreadId};
use std::time::Duration;

/// Connections at a time: operators, which have given an order, and others. For a new one, the other
/// that has been idle for longest is closed, never an operator. Each has a thread.
const OPERATORS: ConnectionCapacity =
    ConnectionCapacity { proven: 8, unproven: 16, unproven_of_address: 8 };
/// Threads of connections at a time.
const THREADS_MAX: usize = OPERATORS.proven + OPERATORS.unproven;
/// Maximum time until the first command of a connection.
const FIRST_WITHIN: Duration = Duration::from_secs(10);
/// Maximum time until the peer reads an answer.
const READ_WITHIN: Duration = Duration::from_secs(30);

/// Executes a line. The last line of the answer begins with `ok` or `error:`. Control characters in
/// names that users gave are escaped.
pub(super) fn answer(shared: &ProviderState, line: &str) -> String {
    let answer = match order::parse(line).and_then(|order| obey(shared, &order)) {
        Ok(said) if said.is_empty() => "ok".to_owned(),
        Ok(said) => format!("{said}\nok"),
        Err(why) => format!("error: {why}"),
    };
    chronoscope_escape::terminal_lines(&answer).into_owned()
}

/// The name must mean one instance; without a name all are meant.
fn must_be_one(shared: &ProviderState, order: &OperatorOrder) -> Result<(), String> {
    let Some(wanted) = order.instance() else { return Ok(()) };
    let served = shared.served.iter().filter(|one| one.is_called(Some(wanted)));
    let frames = shared.frames.iter().filter(|one| one.is_called(Some(wanted)));
    let names: Vec<&str> =
        served.map(|one| &*one.name).chain(frames.map(|one| &*one.name)).collect();
    if names.len() > 1 && !names.contains(&wanted) {
        return Err(format!("{wanted:?} could be {}: give more of the name", names.join(" or ")));
    }
    Ok(())
}

fn obey(shared: &ProviderState, order: &OperatorOrder) -> Result<String, String> {
    must_be_one(shared, order)?;
    match order {
        OperatorOrder::Help => Ok(HELP.to_owned()),
        OperatorOrder::Status => Ok(status(shared)),
        OperatorOrder::Quit => {
            shared.stops.store(true, Ordering::Release);
            Ok(String::new())
        }
        OperatorOrder::Production(level, instance) => {
            let name = instance.as_deref();
            let frames = shared.frames.iter().filter(|one| one.is_called(name));
            let is_meant =
                frames.map(|one| one.tell(fcltu::ProductionEvent::Status((*level).into()))).count()
                    > 0;
            each_or(is_meant, shared, name, |served| {
                served.tell(if served.queue.is_some() {
                    SleInbound::Forward(fcltu::ProductionEvent::Status((*level).into()))
                } else {
                    SleInbound::Return(ReturnProduction::Status(return_status(*level)))
                });
            })
        }
        OperatorOrder::Uplink(status, instance) => each(shared, instance.as_deref(), |served| {
            if served.queue.is_some() {
                served.tell(SleInbound::Forward(fcltu::ProductionEvent::Uplink(*status)));
            }
        }),
        OperatorOrder::FrameSync(status, instance) => each(shared, instance.as_deref(), |served| {
            if served.own.returns.is_some() {
                let locks =
                    ReceiverLocks { frame_sync: *status, ..ReceiverLocks::all(LockStatus::InLock) };
                served.tell(SleInbound::Return(ReturnProduction::Locks(locks)));
            }
        }),
        OperatorOrder::OutOfService(out, instance) => each(shared, Some(instance), |served| {
            // The directory was made of the same instances.
            let _ = shared.directory.set_out_of_service(&served.id, *out);
        }),
        OperatorOrder::Abort(instance) => {
            let name = instance.as_deref();
            let mut is_meant = false;
            for frames in shared.frames.iter().filter(|one| one.is_called(name)) {
                frames.abort();
                is_meant = true;
            }
            each_or(is_meant, shared, name, |served| drop(served.abort()))
        }
    }
}

/// As [`each`], for a command that also concerns the Forward Frame service: an instance of SLE is
/// required only if none of that service `is_meant`.
fn each_or(
    is_meant: bool,
    shared: &ProviderState,
    instance: Option<&str>,
    act: impl Fn(&SleServed),
) -> Result<String, String> {
    each(shared, instance, act).or_else(|why| if is_meant { Ok(String::new()) } else { Err(why) })
}

/// Does something to each named instance; there must be at least one.
fn each(
    shared: &ProviderState,
    instance: Option<&str>,
    act: impl Fn(&SleServed),
) -> Result<String, String> {
    let meant: Vec<_> = shared.served.iter().filter(|served| served.is_called(instance)).collect();
    if meant.is_empty() {
        return Err(format!("there is no service instance {:?}", instance.unwrap_or("")));
    }
    meant.into_iter().for_each(|served| act(served));
    Ok(String::new())
}

fn status(shared: &ProviderState) -> String {
    let mut text = String::new();
    for served in &*shared.served {
        let live = served.lock();
        let who = match &live.bound {
            None => "no user bound".to_owned(),
            Some(bound) => format!("{} bound, version {}", bound.initiator, bound.version),
        };
        let state = live.machine.state();
        let counts = match &live.machine {
            SleMachine::Forward(provider) => provider.queue().look(|radiation| {
                let report = radiation.report();
                format!(
                    "production {:?}, uplink {:?}, received {}, radiated {}, waiting {}, discarded {}",
                    report.production,
                    report.uplink,
                    report.received,
                    report.radiated,
                    radiation.waiting(),
                    radiation.discarded()
                )
            }),
            SleMachine::Return(provider) => {
                let counts = provider.counts();
                let report = provider.status_report();
                let stores = served.own.returns.as_ref().is_some_and(|own| own.store.is_some());
                let stored = served.own.stored.load(Ordering::Relaxed);
                let stored = if stores { format!(", stored {stored}") } else { String::new() };
                format!(
                    "production {:?}, carrier {:?}, subcarrier {:?}, symbol sync {:?}, frame sync {:?}, \
                     received {}, delivered {}, discarded {}{stored}",
                    report.production,
                    report.carrier,
                    report.subcarrier,
                    report.symbol_sync,
                    report.frame_sync,
                    counts.received,
                    counts.delivered,
                    counts.discarded
                )
            }
        };
        // Writing into a string cannot fail.
        let _ =
            writeln!(text, "{} {:?} {state:?}, {who}, {counts}", served.name, served.own.service);
    }
    for served in &*shared.frames {
        let _ = writeln!(text, "{}", served.status());
    }
    text.truncate(text.trim_end().len());
    text
}

/// Threads of the connections, at most [`THREADS_MAX`] including those that are still ending.
///
/// An evicted connection loses its slot at once, but its thread runs until it reads the end of the
/// stream. Without this bound a burst of connections could leave any number of threads.
struct ConnectionThreads {
    running: HashMap<ThreadId, JoinHandle<()>>,
    ends: Sender<ThreadId>,
    ended: Receiver<ThreadId>,
}

/// Reports the end of its thread when it is dropped, also by a panic.
struct EndReport(Sender<ThreadId>);

impl Drop for EndReport {
    fn drop(&mut self) {
        // Without a receiver the port is closed, and nobody counts any more.
        let _ = self.0.send(std::thread::current().id());
    }
}

impl ConnectionThreads {
    fn new() -> Self {
        let (ends, ended) = mpsc::channel();
        Self { running: HashMap::new(), ends, ended }
    }

    /// Starts a connection's thread, when fewer than [`THREADS_MAX`] run. The wait is short: at
    /// most that many connections have slots, the new one included, and the others were shut down.
    /// A connection for which the system gives no thread is closed.
    fn start(&mut self, serve: impl FnOnce() + Send + 'static) {
        while let Ok(id) = self.ended.try_recv() {
            self.join(id);
        }
        while self.running.len() >= THREADS_MAX {
            // It never fails, because `self` holds a sender.
            let Ok(id) = self.ended.recv() else { return };
            self.join(id);
        }
        let end = EndReport(self.ends.clone());
        let thread = std::thread::Builder::new().name("sle-operator".to_owned()).spawn(move || {
            let _end = end;
            serve();
        });
        if let Ok(thread) = thread {
            self.running.insert(thread.thread().id(), thread);
        }
    }

    fn join(&mut self, id: ThreadId) {
        if let Some(thread) = self.running.remove(&id) {
            // A panic ended one connection only, and was reported by its hook.
            let _ = thread.join();
        }
    }
}

/// The control port, which takes commands of operators.
pub(super) struct ControlPort {
    address: SocketAddr,
    stops: Arc<AtomicBool>,
}

impl ControlPort {
    pub(super) fn start(address: SocketAddr, shared: Arc<ProviderState>) -> io::Result<Self> {
        let listener = TcpListener::bind(address)?;
        let address = listener.local_addr()?;
        let stops = Arc::new(AtomicBool::new(false));
        let stopped = Arc::clone(&stops);
        std::thread::Builder::new().name("sle-control".to_owned()).spawn(move || {
            // The first valid order proves a connection: it keeps its slot.
            let slots = ConnectionSlots::new(OPERATORS, true);
            let mut threads = ConnectionThreads::new();
            for stream in listener.incoming() {
                if stopped.load(Ordering::Acquire) {
                    return;
                }
                let Ok(stream) = stream else { continue };
                // A connection too many is closed by being dropped.
                let Some(slot) = acquire_slot(&slots, &stream) else { continue };
                let shared = Arc::clone(&shared);
                threads.start(move || {
                    if let Err(error) = talk(&stream, &shared, &slot) {
                        shared.log.say(&format!("operator: {error}"));
                    }
                });
            }
        })?;
        Ok(Self { address, stops })
    }

    pub(super) fn address(&self) -> SocketAddr {
        self.address
    }
}

impl Drop for ControlPort {
    fn drop(&mut self) {
        self.stops.store(true, Ordering::Release);
        // Wakes the thread; where that fails it ends with the program.
        let _ = TcpStream::connect_timeout(&self.address, Duration::from_millis(200));
    }
}

/// Acquires a slot for a connection, which is shut down if it is evicted. `None` if no slot can be
/// freed or the peer is gone.
fn acquire_slot(slots: &Arc<ConnectionSlots>, stream: &TcpStream) -> Option<ConnectionSlot> {
    let peer = stream.peer_addr().ok()?;
    let its = stream.try_clone().ok()?;
    slots.acquire(peer.ip(), move || {
        let _ = its.shutdown(Shutdown::Both); // fails if the peer has closed it
    })
}

/// Serves one connection until its end. It is closed if its first line is not a command: a web page
/// can make a browser send an HTTP request here, whose later lines could be commands.
fn talk(stream: &TcpStream, shared: &ProviderState, slot: &ConnectionSlot) -> io::Result<()> {
    stream.set_read_timeout(Some(FIRST_WITHIN))?;
    stream.set_write_timeout(Some(READ_WITHIN))?;
    let mut lines = BufReader::new(stream);
    let mut to = stream;
    let mut is_first = true;
    loop {
        let mut line = Vec::new();
        let max = u64::try_from(LINE_MAX).unwrap_or(u64::MAX);
        match lines.by_ref().take(max).read_until(b'\n', &mut line) {
            Ok(0) => return Ok(()),
            Ok(_) => {}
            // No command in time: the connection was left open.
            Err(error) if is_first && error.kind() == io::ErrorKind::WouldBlock => return Ok(()),
            Err(error) => return Err(error),
        }
        if line.len() == LINE_MAX && !line.ends_with(b"\n") {
            writeln!(to, "error: the line is longer than {LINE_MAX} octets")?;
            return Ok(());
        }
        let line = String::from_utf8_lossy(&line);
        let was_first = std::mem::take(&mut is_first);
        let is_operator = !was_first || order::parse(&line).is_ok();
        if was_first && is_operator {
            slot.handle().prove();
            stream.set_read_timeout(None)?;
        }
        writeln!(to, "{}", answer(shared, &line))?;
        if !is_operator {
            return Ok(());
        }
        if shared.stops.load(Ordering::Acquire) {
            return Ok(());
        }
    }
}
