//! The agents that deliver here: for the status, and to end the older of two connections of one
//! agent.

use crate::gaps::Sender;
use crate::protocol::Hello;
use crate::status::AgentStatus;
use chronoscope_clock as clock;
use chronoscope_store::{StreamId, wire};
use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Most agents that are told; beyond, those that are gone longest are left out.
const TOLD_MAX: usize = 4096;

/// The agents that have been here since the start.
#[derive(Debug, Default)]
pub(crate) struct Agents(Mutex<BTreeMap<StreamId, Agent>>);

#[derive(Debug, Default)]
struct Agent {
    /// Number of its newest connection; 0 when that has ended.
    connection: u64,
    connections: u64,
    status: AgentStatus,
}

impl Agents {
    /// A connection begins; its number.
    pub(crate) fn came(&self, id: StreamId, hello: &Hello) -> u64 {
        let mut agents = self.lock();
        let agent = agents.entry(id).or_default();
        agent.connections += 1;
        agent.connection = agent.connections;
        agent.status.host.clone_from(&hello.host);
        agent.status.program.clone_from(&hello.program);
        agent.status.id = format!("{:032x}", id.0);
        agent.status.connected = true;
        agent.status.away_since_ns = None;
        agent.status.answers_rings = hello.rings;
        agent.status.heard_ns = clock::utc_now_ns();
        let connection = agent.connection;
        if agents.len() > TOLD_MAX {
            let gone = agents.iter().filter(|(_, agent)| !agent.status.connected);
            let oldest = gone.min_by_key(|(_, agent)| agent.status.heard_ns);
            if let Some(id) = oldest.map(|(id, _)| *id) {
                agents.remove(&id);
            }
        }
        connection
    }

    /// A connection has ended.
    pub(crate) fn went(&self, id: StreamId, connection: u64) {
        if let Some(agent) = self.lock().get_mut(&id)
            && agent.connection == connection
        {
            agent.connection = 0;
            agent.status.connected = false;
            agent.status.away_since_ns = Some(clock::utc_now_ns());
        }
    }

    /// Rows have come.
    pub(crate) fn delivered(&self, id: StreamId, message: &wire::Message, next_row: u64) {
        if let Some(agent) = self.lock().get_mut(&id) {
            let status = &mut agent.status;
            status.heard_ns = clock::utc_now_ns();
            status.rows += message.batch.len() as u64;
            status.next_row = next_row;
            if let Some(reading) = message.extras.clocks.last() {
                status.clock_offset_ns = Some(reading.offset_ns);
                status.clock_error_ns = Some(reading.error_ns);
            }
        }
    }

    /// Rows came under names that were too many.
    pub(crate) fn renamed(&self, id: StreamId, rows: u64) {
        if let Some(agent) = self.lock().get_mut(&id) {
            agent.status.other_rows += rows;
        }
    }

    /// Counts rows that an agent's numbers left out and that it did not declare as dropped.
    pub(crate) fn left_out(&self, id: StreamId, rows: u64) {
        if rows > 0
            && let Some(agent) = self.lock().get_mut(&id)
        {
            agent.status.gap_rows += rows;
        }
    }

    /// Sender of the rows that an agent delivers.
    pub(crate) fn sender(&self, id: StreamId) -> Sender {
        let agents = self.lock();
        let Some(Agent { status, .. }) = agents.get(&id) else {
            return Sender { host: String::new(), now_ns: clock::utc_now_ns() };
        };
        let error_ns = i64::try_from(status.clock_error_ns.unwrap_or(0)).unwrap_or(i64::MAX);
        let ahead_ns = status.clock_offset_ns.unwrap_or(0).saturating_add(error_ns);
        let now_ns = clock::utc_now_ns().saturating_add(ahead_ns);
        Sender { host: status.host.clone(), now_ns }
    }

    /// All of them, by host.
    pub(crate) fn status(&self) -> Vec<AgentStatus> {
        let mut all: Vec<_> = self.lock().values().map(|agent| agent.status.clone()).collect();
        all.sort_by(|a, b| (&a.host, &a.id).cmp(&(&b.host, &b.id)));
        all
    }

    fn lock(&self) -> MutexGuard<'_, BTreeMap<StreamId, Agent>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
