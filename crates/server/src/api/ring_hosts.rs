//! Rings of other hosts: their agents are asked, each within a few seconds.

use super::Api;
use super::error::ApiError;
use super::ring_content::RingContent;
use super::ring_row::no_ring;
use crate::agent_rings::AskError;
use crate::collectors::Everybody;
use axum::Json;
use chronoscope_collect::AgentStatus;
use chronoscope_collect::rings::{
    ListRings, ReadRing, RingAnswerKind, RingList, RingReport, RingSubject,
};
use chronoscope_model::ProcessId;
use chronoscope_store::StreamId;
use serde::Serialize;
use std::collections::BTreeSet;
use tokio::task::JoinSet;
use utoipa::ToSchema;

/// A host whose rings are in the list, or the reason why they are not.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub(super) struct RingHost {
    /// Id of its agent; null for the server's own host.
    pub(super) agent: Option<String>,
    /// Name of the host; empty for the server's own.
    host: String,
    /// Program and version of the agent; null for the server's own host.
    program: Option<String>,
    state: RingHostState,
    /// When the agent's last connection ended, where it is away: UTC ns since 1970.
    away_since_ns: Option<i64>,
    /// Number of its rings that the list has.
    rings: u64,
    /// Number of further rings.
    left_out: u64,
    /// Its rings that cannot be read, and why.
    failed: Vec<String>,
    /// Why the list has no ring of it, in words; null where it has.
    reason: Option<String>,
}

/// Whether the rings of a host are known.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub(super) enum RingHostState {
    /// They are in the list.
    Answered,
    /// Its agent is not connected.
    Away,
    /// Its agent is of an older version, which does not answer questions about rings.
    Older,
    /// Its agent is connected and did not answer.
    Unanswered,
}

impl RingHost {
    /// The server's own host.
    pub(super) fn own(list: &RingList) -> Self {
        Self {
            agent: None,
            host: String::new(),
            program: None,
            state: RingHostState::Answered,
            away_since_ns: None,
            rings: list.rings.len() as u64,
            left_out: list.left_out,
            failed: list.failed.clone(),
            reason: None,
        }
    }

    fn of_agent(agent: &AgentStatus, list: &RingList) -> Self {
        Self {
            agent: Some(agent.id.clone()),
            host: agent.host.clone(),
            program: Some(agent.program.clone()),
            ..Self::own(list)
        }
    }

    fn without(agent: &AgentStatus, state: RingHostState, reason: String) -> Self {
        Self {
            state,
            away_since_ns: agent.away_since_ns,
            reason: Some(reason),
            ..Self::of_agent(agent, &RingList::default())
        }
    }

    /// Notes that the last rings of the host have no room in the list.
    pub(super) fn leave_out(&mut self, rings: usize) {
        self.rings = self.rings.saturating_sub(rings as u64);
        self.left_out += rings as u64;
    }
}

/// Why an agent cannot be asked at all.
fn cannot_answer(agent: &AgentStatus) -> Option<RingHostState> {
    match agent {
        AgentStatus { connected: false, .. } => Some(RingHostState::Away),
        AgentStatus { answers_rings: false, .. } => Some(RingHostState::Older),
        _ => None,
    }
}

/// Why an agent cannot be asked, in words.
fn reason(agent: &AgentStatus, state: RingHostState) -> String {
    let AgentStatus { host, program, .. } = agent;
    match state {
        RingHostState::Older => format!(
            "the agent of {host} ({program}) is of an older version, which does not answer \
             questions about rings"
        ),
        _ => format!("the agent of {host} is not connected"),
    }
}

/// Asks every agent for its rings, all at once. An agent that is away is left out where another one
/// of its host is connected: it has another spool since.
pub(super) async fn ask_all(api: &Api) -> Vec<(RingHost, RingList)> {
    let agents = api.ingest.as_ref().map(|ingest| ingest.agents()).unwrap_or_default();
    let here: BTreeSet<String> =
        agents.iter().filter(|agent| agent.connected).map(|agent| agent.host.clone()).collect();
    let mut asked = JoinSet::new();
    for (at, agent) in agents.into_iter().enumerate() {
        if agent.connected || !here.contains(&agent.host) {
            let api = api.clone();
            asked.spawn(async move { (at, list(&api, &agent).await) });
        }
    }
    let mut answers = asked.join_all().await;
    answers.sort_by_key(|(at, _)| *at);
    answers.into_iter().map(|(_, answer)| answer).collect()
}

async fn list(api: &Api, agent: &AgentStatus) -> (RingHost, RingList) {
    let none = |state, reason| (RingHost::without(agent, state, reason), RingList::default());
    if let Some(state) = cannot_answer(agent) {
        return none(state, reason(agent, state));
    }
    let answer = ask(api, &agent.id, RingSubject::List(ListRings {}), |answer| match answer {
        RingAnswerKind::List(list) => Ok(list.list()?),
        _ => Err(AskError::Other),
    });
    match answer.await {
        Ok(list) => (RingHost::of_agent(agent, &list), list),
        Err(AskError::Left) => none(RingHostState::Away, reason(agent, RingHostState::Away)),
        Err(error) => none(RingHostState::Unanswered, error.to_string()),
    }
}

/// Asks an agent for the open transactions of one ring; `None` where it does not answer.
pub(super) async fn open_batch(api: &Api, agent: &str, process: ProcessId) -> Option<RingReport> {
    let subject = RingSubject::Ring(ReadRing { process: process.0, last: 0 });
    let answer = ask(api, agent, subject, |answer| match answer {
        RingAnswerKind::Ring(ring) => Ok(Some(ring.unpack()?)),
        _ => Ok(None),
    });
    answer.await.ok().flatten()
}

/// The hosts whose agents are connected to another collector before the cluster.
pub(super) fn elsewhere(everybody: &Everybody, own: &[AgentStatus]) -> Vec<RingHost> {
    let now_ns = chronoscope_clock::utc_now_ns();
    let here = |id: &str| own.iter().any(|agent| agent.id == id && agent.connected);
    let agents = everybody.agents(now_ns).into_iter().filter(|agent| !here(&agent.id));
    let hosts = agents.map(|agent| match everybody.collector_of(&agent.id) {
        Some(collector) => {
            let reason = format!(
                "the agent of {} is connected to the collector at {}: its page shows these rings",
                agent.host, collector.address
            );
            RingHost::without(&agent, RingHostState::Unanswered, reason)
        }
        None => {
            let why = reason(&agent, RingHostState::Away);
            RingHost::without(&agent, RingHostState::Away, why)
        }
    });
    hosts.collect()
}

/// Asks an agent for what one ring has.
pub(super) async fn ask_one(
    api: &Api,
    agent: &str,
    process: ProcessId,
    last: usize,
) -> Result<Json<RingContent>, ApiError> {
    let agents = api.ingest.as_ref().map(|ingest| ingest.agents()).unwrap_or_default();
    let known = agents.into_iter().find(|known| known.id == agent).ok_or_else(|| {
        ApiError::missing("no agent of that id has been here since the server started")
            .hint("/rings lists the agents")
    })?;
    if let Some(state) = cannot_answer(&known) {
        let what = reason(&known, state);
        return Err(match state {
            RingHostState::Older => ApiError::unsupported(what).hint("update the agent"),
            _ => ApiError::busy(what).hint("its stored transactions are in the other views"),
        });
    }
    let last = u32::try_from(last).unwrap_or(u32::MAX);
    let subject = RingSubject::Ring(ReadRing { process: process.0, last });
    let id = known.id.clone();
    let answer = ask(api, &known.id, subject, move |answer| match answer {
        RingAnswerKind::Ring(ring) => Ok(Some(RingContent::new(&ring.unpack()?, Some(&id)))),
        RingAnswerKind::Missing(_) => Ok(None),
        _ => Err(AskError::Other),
    });
    match answer.await {
        Ok(content) => content.map(Json).ok_or_else(no_ring),
        Err(error @ (AskError::Failed(_) | AskError::Refused(_) | AskError::Other)) => {
            Err(ApiError::failed(format!("{}: {error}", known.host)))
        }
        Err(error) => Err(ApiError::busy(format!("{}: {error}", known.host))
            .hint("ask again; /rings says whether the agent is connected")),
    }
}

/// Asks an agent, and reads its answer off the server's threads, a few at a time.
async fn ask<T: Send + 'static>(
    api: &Api,
    agent: &str,
    subject: RingSubject,
    read: impl FnOnce(&RingAnswerKind) -> Result<T, AskError> + Send + 'static,
) -> Result<T, AskError> {
    let id = u128::from_str_radix(agent, 16).map(StreamId).map_err(|_| AskError::NoStream)?;
    let answer = api.agent_rings.ask(id, subject).await?;
    let _turn = api.agent_rings.turn().await;
    let read = tokio::task::spawn_blocking(move || read(&answer));
    read.await.unwrap_or_else(|panic| Err(AskError::Failed(panic.to_string())))
}
