//! Connections to other servers: selection, name resolution and connecting, in threads of their own
//! because no worker may wait for a name server.
//!
//! Of the uplinks that are not [`UplinkKind::MultiReadOnly`] one is connected at a time; when it is
//! lost or cannot be connected, the next one is tried. All others are connected at a time.

use super::arrival::{Arrival, Origin};
use super::socket;
use super::threads::{Threads, UplinkMessage};
use super::tls::ClientTls;
use crate::clock::now;
use crate::config::{Config, Uplink, UplinkKind};
use crate::engine::{ConnId, LogLevel};
use chronoscope_clock as clock;
use socket2::Socket;
use std::io::{self, ErrorKind};
use std::net::{IpAddr, SocketAddr, ToSocketAddrs};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender};
use std::time::Duration;

/// Longest time to connect to one address; a slower server would not serve well either.
const CONNECT_WITHIN: Duration = Duration::from_secs(3);

/// Addresses of one name that are tried, at most.
const ADDRESSES_MAX: usize = 20;

/// Before an uplink that was lost is connected again.
const AFTER_LOSS_NS: u64 = 1_000_000_000;

/// Before the next try, when all that could be tried were.
const AFTER_FAILURE_NS: u64 = 5_000_000_000;

/// An uplink of the configuration and its state.
#[derive(Debug)]
struct Link {
    uplink: Arc<Uplink>,
    state: LinkState,
    /// Tries so far: they go through the addresses of the name.
    tries: usize,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum LinkState {
    /// May be tried from this instant on, monotonic.
    Idle(u64),
    Connecting,
    Connected(ConnId),
}

/// All of them, and which one is next.
#[derive(Debug, Default)]
struct Links {
    links: Vec<Link>,
    /// Index in `links` at which the search for the next single uplink begins.
    next: usize,
}

impl Links {
    /// Puts a configuration in force. Returns the connections whose uplinks it no longer has.
    fn configure(&mut self, config: &Config, now_ns: u64) -> Vec<ConnId> {
        let mut before = std::mem::take(&mut self.links);
        for uplink in &config.uplinks {
            let same = before.iter().position(|link| link.uplink.is_same_server(uplink));
            let fresh =
                || Link { uplink: Arc::clone(uplink), state: LinkState::Idle(now_ns), tries: 0 };
            self.links.push(same.map_or_else(fresh, |index| before.swap_remove(index)));
        }
        self.next = 0;
        let connected = |link: Link| match link.state {
            LinkState::Connected(conn) => Some(conn),
            LinkState::Idle(_) | LinkState::Connecting => None,
        };
        before.into_iter().filter_map(connected).collect()
    }

    /// Uplinks to try now, marked as being tried, and the time of the next call.
    fn due(&mut self, now_ns: u64) -> (Vec<(Arc<Uplink>, usize)>, Option<u64>) {
        let mut due = Vec::new();
        let mut ask_ns: Option<u64> = None;
        let single = |link: &Link| link.uplink.kind != UplinkKind::MultiReadOnly;
        let idle = |link: &Link| matches!(link.state, LinkState::Idle(_));
        let mut one_wanted = !self.links.iter().any(|link| single(link) && !idle(link));
        let (first, count) = (self.next, self.links.len());
        for step in 0..count {
            let index = (first + step) % count;
            let link = &mut self.links[index];
            let LinkState::Idle(from_ns) = link.state else { continue };
            if single(link) && !one_wanted {
                continue;
            }
            if from_ns > now_ns {
                ask_ns = Some(ask_ns.map_or(from_ns, |earlier| earlier.min(from_ns)));
                continue;
            }
            link.state = LinkState::Connecting;
            link.tries += 1;
            due.push((Arc::clone(&link.uplink), link.tries - 1));
            if single(link) {
                one_wanted = false;
                self.next = index + 1;
            }
        }
        (due, ask_ns)
    }

    /// Records the end of a try. Returns whether its connection, if any, is still wanted.
    fn tried(&mut self, uplink: &Uplink, conn: Option<ConnId>, now_ns: u64) -> bool {
        let connecting = |link: &&mut Link| {
            link.state == LinkState::Connecting && link.uplink.is_same_server(uplink)
        };
        let Some(link) = self.links.iter_mut().find(connecting) else { return false };
        link.state = conn.map_or(LinkState::Idle(now_ns + AFTER_FAILURE_NS), LinkState::Connected);
        true
    }

    /// A connection is gone.
    fn gone(&mut self, conn: ConnId, now_ns: u64) {
        for link in &mut self.links {
            if link.state == LinkState::Connected(conn) {
                link.state = LinkState::Idle(now_ns + AFTER_LOSS_NS);
            }
        }
    }
}

/// Body of the thread: runs until it is stopped, or all senders are gone.
pub(crate) fn run(
    threads: &Arc<Threads>,
    sender: &Sender<UplinkMessage>,
    receiver: &Receiver<UplinkMessage>,
) {
    let mut links = Links::default();
    loop {
        let now_ns = clock::monotonic_ns();
        let (due, ask_ns) = links.due(now_ns);
        for (uplink, tries) in due {
            try_in_thread(threads, sender, uplink, tries);
        }
        let message = match ask_ns {
            Some(at_ns) => {
                receiver.recv_timeout(Duration::from_nanos(at_ns.saturating_sub(now_ns)))
            }
            None => receiver.recv().map_err(|_| RecvTimeoutError::Disconnected),
        };
        let now_ns = clock::monotonic_ns();
        match message {
            Ok(UplinkMessage::Configure(config)) => {
                for conn in links.configure(&config, now_ns) {
                    threads.drop_connection(conn, "not in the configuration any more");
                }
            }
            Ok(UplinkMessage::Tried { uplink, result }) => {
                tried(threads, &mut links, &uplink, result, now_ns);
            }
            Ok(UplinkMessage::Gone { uplink, conn, reason }) => {
                threads.server.uplink_is(&uplink.name, None, Some(reason), now());
                links.gone(conn, now_ns);
            }
            Err(RecvTimeoutError::Timeout) => {}
            Ok(UplinkMessage::Stop) | Err(RecvTimeoutError::Disconnected) => return,
        }
    }
}

fn tried(
    threads: &Arc<Threads>,
    links: &mut Links,
    uplink: &Arc<Uplink>,
    result: Result<ConnId, String>,
    now_ns: u64,
) {
    let wanted = links.tried(uplink, result.as_ref().ok().copied(), now_ns);
    match result {
        // The engine reports the connection once the uplink has answered our login.
        Ok(_) if wanted => {}
        Ok(conn) => threads.drop_connection(conn, "not in the configuration any more"),
        Err(error) => {
            (threads.log)(
                LogLevel::Warning,
                format_args!("uplink \"{}\" {}: {error}", uplink.name, uplink.host),
            );
            threads.server.uplink_is(&uplink.name, None, Some(error), now());
        }
    }
}

/// One try, in a thread that ends with it: there are as many threads as uplinks being tried.
fn try_in_thread(
    threads: &Arc<Threads>,
    sender: &Sender<UplinkMessage>,
    uplink: Arc<Uplink>,
    tries: usize,
) {
    threads.server.uplink_attempt(&uplink.name);
    let (threads_there, sender_there) = (Arc::clone(threads), sender.clone());
    let uplink_there = Arc::clone(&uplink);
    let spawned = std::thread::Builder::new().name("uplink-connect".to_owned()).spawn(move || {
        let connected = connect(&threads_there, &uplink_there, tries);
        let result = connected.as_ref().map(|arrival| arrival.conn).map_err(Clone::clone);
        // Sent before a worker has the connection, because the worker may report its loss at once.
        // The receiver is gone when the server ends.
        drop(sender_there.send(UplinkMessage::Tried { uplink: uplink_there, result }));
        if let Ok(arrival) = connected {
            threads_there.give(0, arrival);
        }
    });
    if let Err(error) = spawned {
        let result = Err(format!("cannot start a thread for the connection: {error}"));
        drop(sender.send(UplinkMessage::Tried { uplink, result }));
    }
}

/// Looks up the name and connects.
fn connect(threads: &Arc<Threads>, uplink: &Arc<Uplink>, tries: usize) -> Result<Arrival, String> {
    let config = threads.server.config();
    let tls = uplink.tls.as_ref().map(ClientTls::read).transpose();
    let tls = tls.map_err(|error| error.to_string())?;
    let found = (uplink.host.as_str(), uplink.port).to_socket_addrs();
    let mut addresses: Vec<_> =
        found.map_err(|error| format!("address not found: {error}"))?.take(ADDRESSES_MAX).collect();
    if addresses.is_empty() {
        return Err("address not found".to_owned());
    }
    let first = tries % addresses.len();
    addresses.rotate_left(first);
    let mut last = String::new();
    for address in addresses {
        match connect_to(uplink, address, &config) {
            Ok(socket) => return Ok(arrival(threads, uplink, tls, socket, address)),
            Err(error) => last = format!("{address}: {error}"),
        }
    }
    Err(last)
}

fn connect_to(uplink: &Uplink, address: SocketAddr, config: &Config) -> io::Result<Socket> {
    let socket = socket::stream(uplink.protocol, address)?;
    let same_family = |ip: &&IpAddr| ip.is_ipv6() == address.is_ipv6();
    if let Some(ip) = config.uplink_bind.iter().find(same_family) {
        socket.bind(&SocketAddr::new(*ip, 0).into())?;
    }
    socket.connect_timeout(&address.into(), CONNECT_WITHIN)?;
    // A port of this host that is free can be connected to from itself.
    if socket.local_addr()?.as_socket() == Some(address) {
        return Err(ErrorKind::ConnectionRefused.into());
    }
    socket::prepare(&socket, uplink.protocol, config.stale_after)?;
    Ok(socket)
}

fn arrival(
    threads: &Arc<Threads>,
    uplink: &Arc<Uplink>,
    tls: Option<ClientTls>,
    socket: Socket,
    remote: SocketAddr,
) -> Arrival {
    let conn = threads.server.next_conn();
    let local = socket::local(&socket);
    (threads.log)(
        LogLevel::Info,
        format_args!("uplink \"{}\" connected: {remote} from {local}", uplink.name),
    );
    let origin = Origin::Uplink(Arc::clone(uplink), tls);
    Arrival { conn, socket, origin, remote, local }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::callsign::Callsign;
    use crate::config::Protocol;

    fn config(uplinks: &[(&str, UplinkKind)]) -> Config {
        let uplink = |(name, kind): &(&str, UplinkKind)| {
            Arc::new(Uplink {
                name: (*name).to_owned(),
                kind: *kind,
                protocol: Protocol::Tcp,
                host: "localhost".to_owned(),
                port: 10152,
                tls: None,
            })
        };
        let mut config = Config::new(Callsign::new(b"TESTING").unwrap());
        config.uplinks = uplinks.iter().map(uplink).collect();
        config
    }

    fn names(due: &[(Arc<Uplink>, usize)]) -> Vec<&str> {
        due.iter().map(|(uplink, _)| uplink.name.as_str()).collect()
    }

    const THREE: [(&str, UplinkKind); 3] =
        [("a", UplinkKind::Full), ("m", UplinkKind::MultiReadOnly), ("b", UplinkKind::ReadOnly)];

    #[test]
    fn one_of_the_single_ones_and_all_of_the_others() {
        let mut links = Links::default();
        let config = config(&THREE);
        links.configure(&config, 0);
        let (due, _) = links.due(0);
        assert_eq!(names(&due), ["a", "m"]);
        assert!(links.due(0).0.is_empty(), "they are being tried");
        // The first fails: the other is tried at once, and then the first again after a while.
        assert!(links.tried(&config.uplinks[0], None, 0));
        let (due, _) = links.due(0);
        assert_eq!(names(&due), ["b"]);
        assert!(links.tried(&config.uplinks[2], None, 1));
        let (due, ask_ns) = links.due(1);
        assert_eq!((names(&due), ask_ns), (Vec::new(), Some(AFTER_FAILURE_NS)));
        assert_eq!(names(&links.due(AFTER_FAILURE_NS).0), ["a"]);
    }

    #[test]
    fn a_lost_one_gives_way_to_the_next() {
        let mut links = Links::default();
        let config = config(&THREE);
        links.configure(&config, 0);
        links.due(0);
        assert!(links.tried(&config.uplinks[0], Some(ConnId(7)), 0));
        assert!(links.due(10).0.is_empty());
        links.gone(ConnId(7), 20);
        assert_eq!(names(&links.due(20).0), ["b"]);
    }

    #[test]
    fn a_reload_keeps_what_is_the_same_and_closes_the_rest() {
        let mut links = Links::default();
        let before = config(&THREE);
        links.configure(&before, 0);
        links.due(0);
        links.tried(&before.uplinks[0], Some(ConnId(7)), 0);
        links.tried(&before.uplinks[1], Some(ConnId(8)), 0);
        let closed = links
            .configure(&config(&[("b", UplinkKind::Full), ("m", UplinkKind::MultiReadOnly)]), 5);
        assert_eq!(closed, [ConnId(7)]);
        assert_eq!(names(&links.due(5).0), ["b"]);
        assert!(!links.tried(&before.uplinks[2], Some(ConnId(9)), 6), "b was read only before");
    }
}
