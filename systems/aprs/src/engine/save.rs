//! Clients that stay connected while the program is changed.

use super::client::{Application, Client, Counted, Door, Stage};
use super::lines::Lines;
use super::outbox::Outbox;
use super::output;
use super::seam::{Close, Now, Output};
use super::server::port_key;
use super::session::forced_filter;
use super::state::{ClientState, WorkerState};
use super::worker::{KEEPALIVE_NS, SECOND_NS, Worker};
use crate::callsign::Callsign;
use crate::filter::Filter;
use crate::heard::Heard;
use crate::packet::Position;
use crate::quirks;
use crate::status::Verified;
use std::net::SocketAddr;
use std::sync::Arc;

impl Worker {
    /// Writes what waits for all clients, as far as the kernel accepts it at once. Returns what the
    /// next program needs of the connections that it gets. Uplinks are not among them: it connects
    /// again.
    pub fn save(&mut self, now: Now, out: &mut impl Output) -> WorkerState {
        let slots: Vec<usize> = self.clients.iter().map(|(slot, _)| slot).collect();
        for slot in slots {
            self.flush_client(now, slot, out);
        }
        let clients = self.clients.iter().filter_map(|(_, client)| self.client_state(now, client));
        let mut clients: Vec<ClientState> = clients.collect();
        clients.sort_by_key(|client| client.conn);
        WorkerState { clients }
    }

    fn client_state(&self, now: Now, client: &Client) -> Option<ClientState> {
        let Door::Listener { listener, .. } = &client.door else { return None };
        let (partial, input_overlong) = client.input.partial();
        let application = client.application.as_deref().cloned().unwrap_or_default();
        let mut waiting = client.outbox.text().to_vec();
        waiting.extend(output::waiting_packets(client, self.feed_of(client)));
        let failed_commands = match client.stage {
            Stage::Login { failed } => failed,
            _ => 0,
        };
        Some(ClientState {
            conn: client.conn,
            port: port_key(listener),
            remote: client.remote,
            local: *client.local,
            connected_utc_ns: client.connected.utc_ns,
            since_connect_ns: now.monotonic_ns.saturating_sub(client.connected.monotonic_ns),
            login: client.login.filter(|_| client.stage == Stage::Running).map(|c| c.to_string()),
            verified: match client.verified {
                Verified::No => 0,
                Verified::Passcode => 1,
                Verified::Certificate => 2,
            },
            failed_commands,
            application: (application.name, application.version),
            filter: client.filters.user_text().unwrap_or_default().into(),
            udp_port: client.udp.as_deref().map(|(_, to)| to.port()),
            input: partial.to_vec(),
            input_overlong,
            output: waiting,
            output_age_ns: output::oldest_ns(client, self.feed_of(client))
                .map_or(0, |at_ns| now.monotonic_ns.saturating_sub(at_ns)),
            in_kernel: client.outbox.marks_saved(now.monotonic_ns),
            traffic: client.counted.traffic(),
            heard: client.heard.as_deref().map(|heard| heard.save(now.monotonic_ns)),
            position: client.position.map(|at| (millionths(at.latitude), millionths(at.longitude))),
        })
    }

    /// Takes clients over from an earlier program, before their first input. Who cannot stay,
    /// because the port is gone, is closed.
    pub fn restore(&mut self, now: Now, state: WorkerState, out: &mut impl Output) {
        let ports = self.ports.clone();
        self.second_is_due(now.monotonic_ns + SECOND_NS);
        for client in state.clients {
            let port = ports.iter().position(|port| port_key(&port.listener) == client.port);
            let Some(index) = port else {
                out.close(client.conn, Close::Graceful, "port is not configured any more");
                continue;
            };
            let port = &ports[index];
            port.gauge.inherit();
            self.server.all.inherit();
            let door = Door::Listener {
                index,
                listener: Arc::clone(&port.listener),
                gauge: Arc::clone(&port.gauge),
            };
            let forced = forced_filter(port);
            self.restore_client(now, client, door, forced);
        }
        let slots: Vec<usize> = self.clients.iter().map(|(slot, _)| slot).collect();
        for slot in slots {
            self.flush_client(now, slot, out);
        }
    }

    fn restore_client(
        &mut self,
        now: Now,
        state: ClientState,
        door: Door,
        forced: Option<Arc<Filter>>,
    ) {
        let local = self.locals.share(state.local);
        let mut client = Client::new(state.conn, door, (state.remote, local), now);
        client.connected.utc_ns = state.connected_utc_ns;
        client.connected.monotonic_ns = now.monotonic_ns.saturating_sub(state.since_connect_ns);
        client.login = state.login.as_deref().and_then(|login| Callsign::new(login.as_bytes()));
        client.stage = match client.login {
            Some(_) => Stage::Running,
            None => Stage::Login { failed: state.failed_commands },
        };
        client.verified = match state.verified {
            2 => Verified::Certificate,
            1 => Verified::Passcode,
            _ => Verified::No,
        };
        client.keepalive_ns = now.monotonic_ns + KEEPALIVE_NS;
        let (name, version) = state.application;
        client.quirks = quirks::of(&name);
        client.quirks.repair |= self.config.quirks_mode;
        client.application =
            (!name.is_empty()).then(|| self.programs.share(Application { name, version }));
        client.filters.forced = forced;
        let filter = state.filter.as_bytes();
        client.filters.set_user((!filter.is_empty()).then_some(filter));
        client.input = Lines::restore(state.input, state.input_overlong);
        let since_ns = now.monotonic_ns.saturating_sub(state.output_age_ns);
        client.outbox = Outbox::restore(state.output, since_ns, &state.in_kernel, now.monotonic_ns);
        client.counted = Counted::restore(&state.traffic);
        let seed = self.server.seed;
        client.heard = state
            .heard
            .map(|heard| Box::new(Heard::restore(&heard, seed, now.monotonic_ns)))
            .filter(|heard| !heard.is_empty());
        client.position = state.position.map(|(latitude, longitude)| Position {
            latitude: degrees(latitude),
            longitude: degrees(longitude),
        });
        if let Some(port) = state.udp_port {
            let to = SocketAddr::new(client.remote.ip(), port);
            let index = super::session::udp_port_for(&self.config, &client);
            client.udp = index.map(|index| Box::new((index, to)));
        }
        let conn = client.conn;
        let slot = self.clients.insert(client);
        self.by_conn.insert(conn, slot);
        if self.clients[slot].stage == Stage::Running {
            self.register(slot);
            self.join(slot);
            self.interest.take(slot, &self.clients[slot], now.monotonic_ns);
        }
    }
}

/// Millionths of a degree, to some 10 cm.
#[allow(clippy::cast_possible_truncation)] // at most 180 million
fn millionths(degrees: f32) -> i32 {
    (f64::from(degrees) * 1e6).round() as i32
}

#[allow(clippy::cast_possible_truncation)] // a float's precision is enough for a position
fn degrees(millionths: i32) -> f32 {
    (f64::from(millionths) / 1e6) as f32
}
