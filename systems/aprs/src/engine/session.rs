//! Sessions: how connections begin, log in and end.

use super::client::{Application, Client, Door, Stage};
use super::flush::Class;
use super::login::{self, Login, NoLogin};
use super::meter::Port;
use super::seam::{Close, ConnId, LogLevel, Now, Output};
use super::server::{LoggedIn, Server};
use super::subscription::{Own, Subscription};
use super::told::{self, Closed, Connected};
use super::worker::{KEEPALIVE_NS, Worker};
use crate::callsign::Callsign;
use crate::config::{Config, PortKind, Protocol, UplinkKind};
use crate::filter::{ClientSlot, Filter, IndexedClient};
use crate::status::Verified;
use crate::{passcode, quirks};
use std::io::IoSlice;
use std::net::SocketAddr;
use std::sync::Arc;

/// A client that fails so often before login is cut.
const FAILED_MAX: u8 = 3;
/// Octets of a program's name or version that are kept.
const APPLICATION_MAX: usize = 40;
/// Answer to a login without `vers NAME VERSION`. Without the version the word after the name, which
/// is `filter` more often than not, would be lost: its user would get nothing and not know why.
const NO_VERSION: &str = "Invalid login string, no software name and version after vers";
/// Lowest port that a client may have datagrams sent to.
const UDP_PORT_MIN: i32 = 1024;

impl Worker {
    pub(super) fn opened(
        &mut self,
        now: Now,
        conn: ConnId,
        listener: usize,
        (remote, local): (SocketAddr, SocketAddr),
        certificate: Option<Callsign>,
        out: &mut impl Output,
    ) {
        let Some(port) = self.ports.get(listener).cloned() else {
            out.close(conn, Close::Reset, "port is not configured");
            return;
        };
        if !self.server.all.enter(self.config.clients_max as u64) {
            return refuse(conn, remote, "Server full", out);
        }
        if !port.gauge.enter(port.listener.clients_max as u64) {
            self.server.all.leave();
            return refuse(conn, remote, "Port full", out);
        }
        let door = Door::Listener {
            index: listener,
            listener: Arc::clone(&port.listener),
            gauge: Arc::clone(&port.gauge),
        };
        let local = self.locals.share(local);
        let mut client = Client::new(conn, door, (remote, local), now);
        client.certificate = certificate;
        client.keepalive_ns = now.monotonic_ns + KEEPALIVE_NS;
        client.filters.forced = forced_filter(&port);
        out.log(LogLevel::Info, format_args!("{}", Connected(&client)));
        let slot = self.insert(client);
        let greeting = format!("# {} {}\r\n", self.server.identity.software, self.version);
        self.say(now, slot, greeting.as_bytes(), out);
    }

    pub(super) fn uplink_opened(
        &mut self,
        now: Now,
        conn: ConnId,
        uplink: usize,
        (remote, local): (SocketAddr, SocketAddr),
        certificate: bool,
        out: &mut impl Output,
    ) {
        let Some(uplink) = self.config.uplinks.get(uplink) else {
            out.close(conn, Close::Reset, "uplink is not configured");
            return;
        };
        let door = Door::Uplink { uplink: Arc::clone(uplink) };
        let local = self.locals.share(local);
        let mut client = Client::new(conn, door, (remote, local), now);
        if certificate {
            client.verified = Verified::Certificate;
        }
        self.insert(client);
    }

    fn insert(&mut self, client: Client) -> usize {
        let conn = client.conn;
        let slot = self.clients.insert(client);
        self.by_conn.insert(conn, slot);
        slot
    }

    /// A line of a client that has not logged in.
    pub(super) fn login_line(&mut self, now: Now, slot: usize, line: &[u8], out: &mut impl Output) {
        let login = match login::parse(line) {
            Ok(login) => login,
            Err(NoLogin::Nothing) => return,
            Err(no_login) => {
                let (why, weight) = match no_login {
                    NoLogin::TooFew => ("Invalid login string, too few arguments", 1),
                    NoLogin::NoUser | NoLogin::Nothing => ("Invalid login command", 2),
                    NoLogin::Http => ("Invalid login command", FAILED_MAX),
                };
                return self.login_failed(now, slot, why, weight, out);
            }
        };
        let call = match check_user(&self.config, login.user) {
            Ok(call) => call,
            Err(why) => return self.login_failed(now, slot, why, 1, out),
        };
        if login.application.1.is_empty() {
            return self.login_failed(now, slot, NO_VERSION, 1, out);
        }
        match verify(&self.clients[slot], call, login.passcode) {
            Ok(verified) => self.clients[slot].verified = verified,
            Err(why) => return self.login_failed(now, slot, why, FAILED_MAX, out),
        }
        self.clients[slot].login = Some(call);
        self.set_application(slot, login.application);
        if let Some(port) = login.udp {
            self.ask_for_udp(now, slot, port, out);
        }
        if let Some(words) = &login.filter {
            self.login_filter(now, slot, words, out);
        }
        self.logged_in(now, slot, &login, call, out);
    }

    fn logged_in(
        &mut self,
        now: Now,
        slot: usize,
        login: &Login<'_>,
        call: Callsign,
        out: &mut impl Output,
    ) {
        let client = &mut self.clients[slot];
        client.stage = Stage::Running;
        client.keepalive_ns = now.monotonic_ns + KEEPALIVE_NS;
        let word = if client.verified.is_verified() { "verified" } else { "unverified" };
        let has_passcode = login.passcode.is_some_and(|code| code >= 0);
        out.log(LogLevel::Info, format_args!("{}", told::LoggedIn { client, has_passcode }));
        let response = format!("# logresp {call} {word}, server {}\r\n", self.config.server_id);
        self.say(now, slot, response.as_bytes(), out);
        if self.clients.contains(slot) {
            self.register(slot);
            self.join(slot);
        }
    }

    /// Makes a verified login known to all workers; an older one of the same callsign is
    /// disconnected.
    pub(super) fn register(&mut self, slot: usize) {
        let client = &self.clients[slot];
        let Some(call) = client.login.filter(|_| client.verified.is_verified()) else { return };
        let entry = LoggedIn { conn: client.conn, worker: self.index };
        if let Some(older) = self.server.log_in(call, entry) {
            self.server.disconnect(older, "the same callsign logged in again");
        }
    }

    /// Has packets go to a client from now on.
    pub(super) fn join(&mut self, slot: usize) {
        let client = &mut self.clients[slot];
        if client.quirks.sends_only {
            return;
        }
        match (client.kind(), client.uplink_kind()) {
            (None, Some(UplinkKind::Full)) => {
                client.subscription = Subscription::Listed(Vec::new());
                self.uplinks.push(slot);
            }
            (Some(PortKind::FullFeed), _) if client.udp.is_some() => {
                client.subscription = Subscription::Datagrams { all: true };
                self.full_by_udp.push(slot);
                self.by_udp += 1;
            }
            (Some(PortKind::FullFeed), _) => {
                client.subscription =
                    Subscription::Full { next: self.feed.next(), own: Own::default() };
                self.join_feed(slot, Class::Full);
            }
            (Some(PortKind::DupeFeed), _) => {
                client.subscription = Subscription::Duplicates { next: self.duplicate_feed.next() };
                self.join_feed(slot, Class::Duplicates);
            }
            (Some(PortKind::Igate | PortKind::ClientOnly), _) => {
                client.subscription = match client.udp {
                    Some(_) => Subscription::Datagrams { all: false },
                    None => Subscription::Listed(Vec::new()),
                };
                match client.udp {
                    Some(_) => self.by_udp += 1,
                    None => self.joined[Class::Filtered as usize] += 1,
                }
                if let Some(login) = client.login {
                    self.interest.add(login.as_bytes(), slot);
                }
                self.index_filters(slot);
            }
            _ => {}
        }
    }

    fn join_feed(&mut self, slot: usize, class: Class) {
        self.clients[slot].has_turns = true;
        self.joined[class as usize] += 1;
        self.turns[class as usize].rest(slot);
    }

    /// Takes a client out of what `join` put it into.
    fn part(&mut self, slot: usize, client: &Client) {
        let class = match client.subscription {
            Subscription::Nothing => return self.filters.remove(ClientSlot::of(slot)),
            Subscription::Datagrams { all } => {
                self.by_udp -= 1;
                if all {
                    return self.full_by_udp.retain(|of| *of != slot);
                }
                return self.filters.remove(ClientSlot::of(slot));
            }
            Subscription::Listed(_) if client.uplink_kind().is_some() => {
                self.uplinks.retain(|of| *of != slot);
                return self.turns[Class::Full as usize].leave(slot);
            }
            Subscription::Listed(_) => {
                self.filters.remove(ClientSlot::of(slot));
                Class::Filtered
            }
            Subscription::Full { .. } => Class::Full,
            Subscription::Duplicates { .. } => Class::Duplicates,
        };
        self.joined[class as usize] -= 1;
        self.turns[class as usize].leave(slot);
    }

    /// Puts a client's filters into the index.
    pub(super) fn index_filters(&mut self, slot: usize) {
        let client = &self.clients[slot];
        let Some(login) = client.login else { return };
        let key = ClientSlot::of(slot);
        if !client.filters.has_any() {
            return self.filters.remove(key);
        }
        let server = Arc::clone(&self.server);
        let router = server.router();
        let position = client.position.or_else(|| router.position_of(login.as_bytes()));
        let filters = Arc::new(client.filters.parse());
        let client = IndexedClient { filters, login, position };
        self.filters.insert(key, client, &|name| router.position_of(name));
    }

    fn set_application(&mut self, slot: usize, (name, version): (&[u8], &[u8])) {
        let client = &mut self.clients[slot];
        let (name, version) = (printable(name), printable(version));
        client.quirks = quirks::of(&name);
        client.quirks.repair |= self.config.quirks_mode;
        if !name.is_empty() {
            client.application = Some(self.programs.share(Application { name, version }));
        }
    }

    fn ask_for_udp(&mut self, now: Now, slot: usize, port: &[u8], out: &mut impl Output) {
        let port = login::leading_number(port);
        let Some(port) = u16::try_from(port).ok().filter(|_| port >= UDP_PORT_MIN) else { return };
        match udp_port_for(&self.config, &self.clients[slot]) {
            Some(index) => {
                let client = &mut self.clients[slot];
                let to = SocketAddr::new(client.remote.ip(), port);
                client.udp = Some(Box::new((index, to)));
            }
            None => self.say(now, slot, b"# No UDP service available on this port\r\n", out),
        }
    }

    fn login_filter(&mut self, now: Now, slot: usize, words: &[&[u8]], out: &mut impl Output) {
        if !self.clients[slot].is_igate() {
            return self.say(now, slot, b"# No user-specified filters on this port\r\n", out);
        }
        let text = words.join(&b' ');
        for error in Filter::parse_lenient(&text).1 {
            let line = format!("# Parse errors on filter spec: '{}'\r\n", error.term);
            self.say(now, slot, line.as_bytes(), out);
        }
        if let Some(client) = self.clients.get_mut(slot) {
            let text = Some(&text[..]).filter(|text| !text.trim_ascii().is_empty());
            client.filters.set_user(text);
        }
    }

    fn login_failed(
        &mut self,
        now: Now,
        slot: usize,
        why: &str,
        weight: u8,
        out: &mut impl Output,
    ) {
        let client = &mut self.clients[slot];
        let Stage::Login { failed } = &mut client.stage else { return };
        *failed = failed.saturating_add(weight);
        let failed = *failed;
        out.log(LogLevel::Warning, format_args!("{}: login failed: {why}", client.remote));
        self.say(now, slot, format!("# {why}\r\n").as_bytes(), out);
        if failed >= FAILED_MAX && self.clients.contains(slot) {
            self.close(now, slot, Close::Graceful, "too many failed login commands", out);
        }
    }

    /// Handles an uplink's first line, its identification, and sends our login.
    pub(super) fn greeting(&mut self, now: Now, slot: usize, line: &[u8], out: &mut impl Output) {
        let words: Vec<&[u8]> = login::words(line).take(3).collect();
        if words.first() != Some(&&b"#"[..]) && !line.starts_with(b"#") {
            return self.close(now, slot, Close::Graceful, "uplink does not greet", out);
        }
        if let [_, name, version] = words[..] {
            let (name, version) = (printable(name), printable(version));
            let program = self.programs.share(Application { name, version });
            self.clients[slot].application = Some(program);
        }
        self.clients[slot].stage = Stage::Response;
        let (server, software) = (self.config.server_id, &self.server.identity.software);
        let (passcode, version) = (self.config.passcode, &self.version);
        let login = format!("user {server} pass {passcode} vers {software} {version}\r\n");
        self.say(now, slot, login.as_bytes(), out);
    }

    /// An uplink's answer to our login: `# logresp US verified, server THEM`.
    pub(super) fn response(&mut self, now: Now, slot: usize, line: &[u8], out: &mut impl Output) {
        let words: Vec<&[u8]> = login::words(line).take(6).collect();
        let [b"#", b"logresp", us, word, b"server", them] = words[..] else {
            if line.starts_with(b"#") && words.get(1) != Some(&&b"logresp"[..]) {
                return;
            }
            return self.close(now, slot, Close::Graceful, "uplink answers no login", out);
        };
        let them = them.split(|octet| *octet == b',').next().unwrap_or_default();
        let own = self.config.server_id.as_bytes();
        let them = Callsign::new(them).filter(|call| !call.as_bytes().eq_ignore_ascii_case(own));
        let reason = match (us == own, word, them) {
            (true, b"verified,", Some(them)) => {
                let client = &mut self.clients[slot];
                client.login = Some(them);
                client.stage = Stage::Running;
                client.keepalive_ns = now.monotonic_ns + KEEPALIVE_NS;
                if !client.verified.is_verified() {
                    client.verified = Verified::Passcode;
                }
                let (conn, remote) = (client.conn, client.remote);
                if let Door::Uplink { uplink } = &client.door {
                    self.server.uplink_is(&uplink.name, Some(conn), None, now);
                }
                out.log(LogLevel::Info, format_args!("{remote}: uplink to {them} is up"));
                return self.join(slot);
            }
            (true, b"verified,", None) => "uplink has our callsign, or one that is none",
            (true, ..) => "uplink does not verify our passcode",
            (false, ..) => "uplink answers another's login",
        };
        self.close(now, slot, Close::Graceful, reason, out);
    }

    /// Writes a line of the server's own.
    pub(super) fn say(&mut self, now: Now, slot: usize, line: &[u8], out: &mut impl Output) {
        let Some(client) = self.clients.get_mut(slot) else { return };
        if !client.outbox.say(line, now.monotonic_ns) {
            return self.close(now, slot, Close::Reset, "output buffer full", out);
        }
        self.flush_client(now, slot, out);
    }

    pub(super) fn keepalive(&self, now: Now, local: SocketAddr) -> String {
        let software = &self.server.identity.software;
        let (version, server) = (&self.version, self.config.server_id);
        let local = SocketAddr::new(local.ip().to_canonical(), local.port());
        format!("# {software} {version} {} {server} {local}\r\n", super::date::gmt(now.utc_ns))
    }

    pub(super) fn close(
        &mut self,
        now: Now,
        slot: usize,
        how: Close,
        reason: &str,
        out: &mut impl Output,
    ) {
        out.close(self.clients[slot].conn, how, reason);
        self.forget(now, slot, reason, (LogLevel::Info, reason), out);
    }

    /// Removes a connection that is closed. The log gets one line about it, with a level and with
    /// the reason in words of its own.
    pub(super) fn forget(
        &mut self,
        now: Now,
        slot: usize,
        reason: &str,
        (level, said): (LogLevel, &str),
        out: &mut impl Output,
    ) {
        let client = self.clients.remove(slot);
        out.log(level, format_args!("{}", Closed { client: &client, now, reason: said }));
        self.by_conn.remove(&client.conn);
        if client.outbox.is_listed {
            self.blocked.retain(|of| *of != slot);
        }
        match &client.door {
            Door::Listener { gauge, .. } => {
                gauge.leave();
                self.server.all.leave();
            }
            Door::Uplink { uplink } => {
                self.server.uplink_is(&uplink.name, None, Some(reason.to_owned()), now);
            }
        }
        if let Some(call) = client.login {
            self.server.log_out(call, client.conn);
        }
        self.part(slot, &client);
    }

    /// Has a client go on under a new configuration, where it can.
    pub(super) fn reconfigure(&mut self, now: Now, slot: usize, out: &mut impl Output) {
        let client = &mut self.clients[slot];
        let Door::Listener { index, listener, gauge } = &mut client.door else {
            let Door::Uplink { uplink } = &client.door else { return };
            let is_there = self.config.uplinks.iter().any(|known| known.name == uplink.name);
            if !is_there {
                self.close(now, slot, Close::Graceful, "uplink is not configured any more", out);
            }
            return;
        };
        let ports = &self.ports;
        let Some(at) = ports.iter().position(|port| Arc::ptr_eq(&port.gauge, gauge)) else {
            return;
        };
        // How packets go to it depends on the kind: it logs in anew.
        if listener.kind != ports[at].listener.kind {
            return self.close(now, slot, Close::Graceful, "port is of another kind now", out);
        }
        *index = at;
        *listener = Arc::clone(&ports[at].listener);
        let forced = forced_filter(&ports[at]);
        if let Some(udp) = client.udp.as_deref_mut() {
            let to = udp.1;
            client.udp = None;
            let client = &self.clients[slot];
            let found = udp_port_for(&self.config, client).map(|index| Box::new((index, to)));
            self.clients[slot].udp = found;
            if self.clients[slot].udp.is_none() {
                let reason = "UDP port is not configured any more";
                return self.close(now, slot, Close::Graceful, reason, out);
            }
        }
        let client = &mut self.clients[slot];
        if client.filters.forced.as_deref() != forced.as_deref() {
            client.filters.forced = forced;
            if client.stage == Stage::Running && client.is_igate() {
                self.index_filters(slot);
            }
        }
    }
}

fn refuse(conn: ConnId, remote: SocketAddr, why: &str, out: &mut impl Output) {
    // It may be gone already, or take nothing: it is closed in any case.
    let _ = out.write(conn, &[IoSlice::new(format!("# {why}\r\n").as_bytes())]);
    out.log(LogLevel::Info, format_args!("{remote}: refused: {why}"));
    out.close(conn, Close::Graceful, why);
}

/// Checks whether `user` may log in. The error is the text for the client.
pub(super) fn check_user(config: &Config, user: &[u8]) -> Result<Callsign, &'static str> {
    let call = Callsign::new(user).ok_or("Invalid username format")?;
    let is_disallowed = |glob: &String| login::glob_matches(glob.as_bytes(), user);
    // `user  pass -1`: a program whose user has not given it a callsign.
    if user.eq_ignore_ascii_case(b"pass") || config.disallow_login.iter().any(is_disallowed) {
        return Err("Login by user not allowed");
    }
    if !login::is_valid_login(user) {
        return Err("Invalid username format, not allowed");
    }
    if user.eq_ignore_ascii_case(config.server_id.as_bytes()) {
        return Err("Login by user not allowed (our serverid)");
    }
    Ok(call)
}

/// Whether a login line proves that it is `call`.
fn verify(
    client: &Client,
    call: Callsign,
    passcode: Option<i32>,
) -> Result<Verified, &'static str> {
    let asks_certificate = match &client.door {
        Door::Listener { listener, .. } => {
            listener.tls.as_ref().is_some_and(|tls| tls.ca.is_some())
        }
        Door::Uplink { .. } => false,
    };
    match client.certificate {
        // A certificate is of a callsign without SSID, and good for all of them.
        Some(shown) if shown.as_bytes().eq_ignore_ascii_case(call.base()) => {
            return Ok(Verified::Certificate);
        }
        Some(_) => {
            return Err("Client certificate authentication failed: it is of another callsign");
        }
        None if asks_certificate => {
            return Err("Client certificate authentication failed: no certificate");
        }
        None => {}
    }
    let is_right = passcode.is_some_and(|given| given == i32::from(passcode::of(call.as_bytes())));
    Ok(if is_right { Verified::Passcode } else { Verified::No })
}

/// Whether a login line of a datagram or an upload is right, and whose it is.
pub(super) fn verified_user(
    config: &Config,
    login: &Login<'_>,
) -> Result<(Callsign, bool), &'static str> {
    let call = check_user(config, login.user)?;
    let right = i32::from(passcode::of(call.as_bytes()));
    Ok((call, login.passcode == Some(right)))
}

/// The UDP port that serves the clients of a client's port: the one with its number and address
/// family; where the kernel chose both numbers, the one of its kind.
pub(super) fn udp_port_for(config: &Config, client: &Client) -> Option<usize> {
    let Door::Listener { listener, .. } = &client.door else { return None };
    let serves = |other: &Arc<crate::config::Listener>| {
        other.protocol == Protocol::Udp
            && other.kind != PortKind::UdpSubmit
            && other.address.is_ipv4() == listener.address.is_ipv4()
            && other.address.port() == listener.address.port()
            && (listener.address.port() != 0 || other.kind == listener.kind)
    };
    config.listeners.iter().position(serves)
}

pub(super) fn forced_filter(port: &Port) -> Option<Arc<Filter>> {
    let text = port.listener.filter.as_deref()?;
    // Its faults were reported when the configuration was read.
    Some(Arc::new(Filter::parse_lenient(text).0))
}

/// Printable ASCII unchanged, all other octets as `_`; cut to the length that is stored.
fn printable(word: &[u8]) -> String {
    let word = &word[..word.len().min(APPLICATION_MAX)];
    let shown = |octet: &u8| if matches!(octet, b'!'..=b'~') { char::from(*octet) } else { '_' };
    word.iter().map(shown).collect()
}

impl Server {
    /// Notes a verified login; the connection that has had it until now.
    pub(super) fn log_in(&self, call: Callsign, entry: LoggedIn) -> Option<LoggedIn> {
        let before = self.logins_mut().insert(call, entry);
        before.filter(|before| before.conn != entry.conn)
    }

    pub(super) fn log_out(&self, call: Callsign, conn: ConnId) {
        let mut logins = self.logins_mut();
        if logins.get(&call).is_some_and(|entry| entry.conn == conn) {
            logins.remove(&call);
        }
    }

    /// Whether another connection than `conn` is logged in as `call`, verified.
    pub(super) fn is_other_verified_login(&self, call: &[u8], conn: ConnId) -> bool {
        let Some(call) = Callsign::new(call) else { return false };
        self.logins().get(&call).is_some_and(|entry| entry.conn != conn)
    }
}
