//! One ring in a few numbers.

use super::error::ApiError;
use chronoscope_collect::rings::RingSummary;
use serde::Serialize;
use utoipa::ToSchema;

/// The ring of one process.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub(super) struct RingRow {
    /// The process's id, in hexadecimal digits.
    id: String,
    /// Id of the agent that answers for it; null on this host.
    agent: Option<String>,
    application: String,
    /// Host of the process.
    instance: String,
    /// Process id on that host.
    process: u32,
    /// Whether the process is running.
    alive: bool,
    /// UTC ns since 1970.
    started_ns: i64,
    /// Transactions that it recorded since it began.
    recorded: u64,
    /// Transactions that it could not record since it began.
    lost: u64,
    /// Transactions that have not ended.
    open: u64,
}

impl RingRow {
    pub(super) fn new(ring: &RingSummary, agent: Option<&str>) -> Self {
        Self {
            id: ring.id.to_string(),
            agent: agent.map(str::to_owned),
            application: ring.process.application.clone(),
            instance: ring.process.host.clone(),
            process: ring.process.pid,
            alive: ring.alive,
            started_ns: ring.process.start_ns,
            recorded: ring.recorded,
            lost: ring.lost,
            open: ring.open,
        }
    }
}

/// 404: the process has no ring.
pub(super) fn no_ring() -> ApiError {
    ApiError::missing("that process has no ring")
        .hint("the process has ended and its ring was stored and removed; /rings lists the rings")
}
