//! One thread's part of the server.

use super::client::{Application, Client, Port, Stage};
use super::lines::Line;
use super::login::{self, NoLogin};
use super::seam::{Close, ConnId, Input, LogLevel, Now, Output};
use super::server::{Mail, Server};
use super::state::WorkerState;
use crate::callsign::Callsign;
use crate::config::Config;
use crate::status::{ClientStatus, Posted, Verified, WorkerStatus};
use hashbrown::HashMap;
use slab::Slab;
use std::io::IoSlice;
use std::net::SocketAddr;
use std::sync::Arc;

const SECOND_NS: u64 = 1_000_000_000;
/// A client that hears nothing for so long takes the server for dead.
const KEEPALIVE_NS: u64 = 20 * SECOND_NS;
/// A client that fails so often before login is cut.
const FAILED_MAX: u8 = 3;

/// What one thread does: connections, their input, and what is to be written to them.
pub struct Worker {
    server: Arc<Server>,
    index: usize,
    config: Arc<Config>,
    version: Arc<str>,
    clients: Slab<Client>,
    by_conn: HashMap<ConnId, usize, foldhash::fast::FixedState>,
    second_ns: Option<u64>,
    posted: Option<Posted>,
    mail: Vec<Mail>,
}

impl Worker {
    pub(super) fn new(server: Arc<Server>, index: usize) -> Self {
        let config = server.config();
        let seed = server.seed;
        Self {
            version: server.version(&config),
            server,
            index,
            config,
            clients: Slab::new(),
            by_conn: HashMap::with_hasher(foldhash::fast::FixedState::with_seed(seed)),
            second_ns: None,
            posted: None,
            mail: Vec::new(),
        }
    }

    /// Takes something that came from outside.
    pub fn input(&mut self, now: Now, input: Input<'_>, out: &mut impl Output) {
        match input {
            Input::Opened { conn, listener, remote, local, certificate } => {
                self.opened(now, conn, listener, (remote, local), certificate, out);
            }
            Input::UplinkOpened { conn, uplink, remote, local, certificate } => {
                self.uplink_opened(now, conn, uplink, (remote, local), certificate);
            }
            Input::Received { conn, bytes } => self.received(now, conn, bytes, out),
            Input::Writable { conn: _ } => {}
            Input::Closed { conn, reason } => {
                if let Some(slot) = self.by_conn.get(&conn).copied() {
                    self.forget(slot, reason);
                }
            }
            Input::Datagram { .. } | Input::PeerDatagram { .. } => {}
            Input::Posted { .. } => self.posted = Some(Posted::InvalidLogin),
        }
    }

    /// What became of the last [`Input::Posted`], once.
    pub fn posted(&mut self) -> Option<Posted> {
        self.posted.take()
    }

    /// Takes what other threads have for this worker: to be called after its waker was.
    pub fn mail(&mut self, now: Now, out: &mut impl Output) {
        let mut mail = std::mem::take(&mut self.mail);
        self.server.take_mail(self.index, &mut mail);
        for letter in mail.drain(..) {
            match letter {
                Mail::Packets(_) => {}
                Mail::Disconnect { conn, reason } => {
                    if let Some(slot) = self.by_conn.get(&conn).copied() {
                        self.close(slot, Close::Graceful, reason, out);
                    }
                }
                Mail::Post { from, bytes, reply } => {
                    self.input(now, Input::Posted { from, bytes: &bytes }, out);
                    // Who asked may have gone away.
                    let _ = reply.send(self.posted.take().unwrap_or(Posted::InvalidLogin));
                }
                Mail::Tell(reply) => {
                    let _ = reply.send(self.status(now));
                }
            }
        }
        self.mail = mail;
    }

    /// When [`tick`](Self::tick) is to be called, monotonic nanoseconds; `None` for not at all.
    pub fn deadline(&self) -> Option<u64> {
        self.second_ns
    }

    /// Does what is due by now.
    pub fn tick(&mut self, now: Now, out: &mut impl Output) {
        if self.second_ns.is_some_and(|at| now.monotonic_ns >= at) {
            self.second_ns = Some(now.monotonic_ns + SECOND_NS);
            self.every_second(now, out);
        }
    }

    /// Takes the configuration that [`Server::reload`] put in force: from the next input on,
    /// indices are those in it.
    pub fn configure(&mut self, _now: Now, _out: &mut impl Output) {
        self.config = self.server.config();
        self.version = self.server.version(&self.config);
    }

    /// The worker's connections.
    pub fn status(&self, now: Now) -> WorkerStatus {
        WorkerStatus { index: self.index, mail_waiting: 0, connections: self.clients(now) }
    }

    fn clients(&self, now: Now) -> Vec<ClientStatus> {
        let mut rows: Vec<_> = self.clients.iter().map(|(_, client)| client.status(now)).collect();
        rows.sort_by_key(|row| row.conn);
        rows
    }

    /// What the next program needs of the clients whose connections it gets.
    pub fn save(&self, _now: Now) -> WorkerState {
        WorkerState::default()
    }

    /// Takes clients over from an earlier program, before their first input. Who cannot stay,
    /// because the port is gone, is closed.
    pub fn restore(&mut self, _now: Now, _state: WorkerState, _out: &mut impl Output) {}

    fn opened(
        &mut self,
        now: Now,
        conn: ConnId,
        listener: usize,
        (remote, local): (SocketAddr, SocketAddr),
        certificate: Option<Callsign>,
        out: &mut impl Output,
    ) {
        let Some(port) = self.server.port(listener) else {
            out.close(conn, Close::Reset, "port is not configured");
            return;
        };
        if !self.server.all.enter(self.config.clients_max as u64) {
            let _ = out.write(conn, &[IoSlice::new(b"# Server full\r\n")]);
            out.close(conn, Close::Graceful, "server full");
            return;
        }
        if !port.gauge.enter(port.listener.clients_max as u64) {
            self.server.all.leave();
            let _ = out.write(conn, &[IoSlice::new(b"# Port full\r\n")]);
            out.close(conn, Close::Graceful, "port full");
            return;
        }
        let side = Port::Listener {
            index: listener,
            listener: Arc::clone(&port.listener),
            gauge: Arc::clone(&port.gauge),
        };
        let mut client = Client::new(conn, side, remote, local, now);
        client.certificate = certificate;
        client.keepalive_ns = now.monotonic_ns + KEEPALIVE_NS;
        let slot = self.clients.insert(client);
        self.by_conn.insert(conn, slot);
        self.second_ns.get_or_insert(now.monotonic_ns + SECOND_NS);
        let greeting = format!("# {} {}\r\n", self.server.identity.software, self.version);
        self.say(slot, greeting.as_bytes(), out);
    }

    fn uplink_opened(
        &mut self,
        now: Now,
        conn: ConnId,
        uplink: usize,
        (remote, local): (SocketAddr, SocketAddr),
        certificate: bool,
    ) {
        let Some(uplink_config) = self.config.uplinks.get(uplink) else { return };
        let side = Port::Uplink { index: uplink, uplink: Arc::clone(uplink_config) };
        let mut client = Client::new(conn, side, remote, local, now);
        if certificate {
            client.verified = Verified::Certificate;
        }
        let slot = self.clients.insert(client);
        self.by_conn.insert(conn, slot);
        self.second_ns.get_or_insert(now.monotonic_ns + SECOND_NS);
    }

    fn received(&mut self, now: Now, conn: ConnId, mut bytes: &[u8], out: &mut impl Output) {
        let Some(slot) = self.by_conn.get(&conn).copied() else { return };
        let client = &mut self.clients[slot];
        client.last_read_ns = now.monotonic_ns;
        client.counted.bytes_rx += bytes.len() as u64;
        let mut lines = std::mem::take(&mut client.input);
        while let Some(line) = lines.next(&mut bytes) {
            match line {
                Line::Whole(line) => self.line(now, slot, &line, out),
                Line::TooLong(_) => {}
            }
            if self.by_conn.get(&conn) != Some(&slot) {
                return;
            }
        }
        self.clients[slot].input = lines;
    }

    fn line(&mut self, now: Now, slot: usize, line: &[u8], out: &mut impl Output) {
        match self.clients[slot].stage {
            Stage::Login { .. } => self.login_line(now, slot, line, out),
            Stage::Greeting | Stage::Response | Stage::Running => {}
        }
    }

    fn login_line(&mut self, now: Now, slot: usize, line: &[u8], out: &mut impl Output) {
        let login = match login::parse(line) {
            Ok(login) => login,
            Err(NoLogin::Nothing) => return,
            Err(NoLogin::TooFew) => {
                return self.login_failed(slot, "Invalid login string, too few arguments", 1, out);
            }
            Err(NoLogin::NoUser) => {
                return self.login_failed(slot, "Invalid login command", 2, out);
            }
            Err(NoLogin::Http) => {
                return self.login_failed(slot, "Invalid login command", FAILED_MAX, out);
            }
        };
        let call = match self.check_login(login.user) {
            Ok(call) => call,
            Err(why) => return self.login_failed(slot, why, 1, out),
        };
        let client = &mut self.clients[slot];
        client.login = Some(call);
        client.stage = Stage::Running;
        if !login.application.0.is_empty() {
            let text = |word: &[u8]| String::from_utf8_lossy(word).into_owned();
            let (name, version) = (text(login.application.0), text(login.application.1));
            client.application = Some(Box::new(Application { name, version }));
        }
        client.keepalive_ns = now.monotonic_ns + KEEPALIVE_NS;
        let verified = if client.verified.is_verified() { "verified" } else { "unverified" };
        let response = format!("# logresp {call} {verified}, server {}\r\n", self.config.server_id);
        self.say(slot, response.as_bytes(), out);
    }

    /// Whether `user` may log in; what it is told if not.
    fn check_login(&self, user: &[u8]) -> Result<Callsign, &'static str> {
        let call = Callsign::new(user).ok_or("Invalid username format")?;
        let is_disallowed = |glob: &String| login::glob_matches(glob.as_bytes(), user);
        // `user  pass -1`: a program whose user has not given it a callsign.
        if user.eq_ignore_ascii_case(b"pass")
            || self.config.disallow_login.iter().any(is_disallowed)
        {
            return Err("Login by user not allowed");
        }
        if !login::is_valid_login(user) {
            return Err("Invalid username format, not allowed");
        }
        if user.eq_ignore_ascii_case(self.config.server_id.as_bytes()) {
            return Err("Login by user not allowed (our serverid)");
        }
        Ok(call)
    }

    fn login_failed(&mut self, slot: usize, why: &str, weight: u8, out: &mut impl Output) {
        let client = &mut self.clients[slot];
        let Stage::Login { failed } = &mut client.stage else { return };
        *failed = failed.saturating_add(weight);
        let failed = *failed;
        out.log(LogLevel::Warning, format_args!("{}: login failed: {why}", client.remote));
        self.say(slot, format!("# {why}\r\n").as_bytes(), out);
        if failed >= FAILED_MAX {
            self.close(slot, Close::Graceful, "too many failed login commands", out);
        }
    }

    /// Writes a line of the server's own.
    fn say(&mut self, slot: usize, line: &[u8], out: &mut impl Output) {
        let client = &mut self.clients[slot];
        // A broken connection will be reported as closed.
        let written = out.write(client.conn, &[IoSlice::new(line)]).unwrap_or(0);
        client.counted.bytes_tx += written as u64;
    }

    fn every_second(&mut self, now: Now, out: &mut impl Output) {
        let slots: Vec<usize> = self.clients.iter().map(|(slot, _)| slot).collect();
        for slot in slots {
            let client = &self.clients[slot];
            let silent_ns = now.monotonic_ns.saturating_sub(client.last_read_ns);
            let limit = match client.stage {
                _ if client.uplink_kind().is_some() => self.config.upstream_timeout,
                Stage::Login { .. } => self.config.login_timeout,
                _ => self.config.client_timeout,
            };
            if u128::from(silent_ns) >= limit.as_nanos() {
                self.close(slot, Close::Graceful, "timeout", out);
            } else if now.monotonic_ns >= client.keepalive_ns {
                let local = client.local;
                self.clients[slot].keepalive_ns = now.monotonic_ns + KEEPALIVE_NS;
                let line = self.keepalive(now, local);
                self.say(slot, line.as_bytes(), out);
            }
        }
        if self.clients.is_empty() {
            self.second_ns = None;
        }
    }

    fn keepalive(&self, now: Now, local: SocketAddr) -> String {
        let software = &self.server.identity.software;
        let (version, server) = (&self.version, self.config.server_id);
        format!("# {software} {version} {} {server} {local}\r\n", super::date::gmt(now.utc_ns))
    }

    fn close(&mut self, slot: usize, how: Close, reason: &str, out: &mut impl Output) {
        out.close(self.clients[slot].conn, how, reason);
        self.forget(slot, reason);
    }

    fn forget(&mut self, slot: usize, _reason: &str) {
        let client = self.clients.remove(slot);
        self.by_conn.remove(&client.conn);
        if let Port::Listener { gauge, .. } = &client.side {
            gauge.leave();
            self.server.all.leave();
        }
    }
}

impl std::fmt::Debug for Worker {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let clients = self.clients.len();
        f.debug_struct("Worker").field("index", &self.index).field("clients", &clients).finish()
    }
}
