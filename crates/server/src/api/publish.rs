//! What this collector publishes for all before the cluster: its agents, the programs on their hosts,
//! and their open transactions. `docs/clickhouse.md`, "Many collectors".

use super::Api;
use super::ring_hosts::{ask_all, open_batch};
use crate::collectors::Collectors;
use crate::log::LogLine;
use chronoscope_clickhouse::{AgentRow, OpenRow, ProgramRow, Published};
use chronoscope_collect::rings::{RingList, RingReport, RingSummary};
use chronoscope_collect::{AgentStatus, Ingest};
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

/// Interval of what is published: small inserts cost a database as much as large ones, and a ring
/// that is read as much as many rows.
const EVERY: Duration = Duration::from_secs(2);
/// Rings whose open transactions are asked for by class at a time: those with the most.
const RINGS_MAX: usize = 64;

impl Api {
    /// Publishes while the server runs, and writes what agents say of deliveries and clocks.
    pub(crate) async fn publish(self) {
        let mut last = Published::default();
        let mut failed = false;
        loop {
            let (Some(collectors), Some(ingest)) = (self.collectors.clone(), self.ingest.clone())
            else {
                return;
            };
            let published = self.published(&ingest).await;
            let is_news = published != last;
            let written = {
                let published = published.clone();
                let write = move || write(&collectors, &ingest, &published, is_news);
                tokio::task::spawn_blocking(write).await
            };
            let error = match written {
                Ok(Ok(())) => None,
                Ok(Err(error)) => Some(error),
                Err(error) => Some(error.to_string()),
            };
            match &error {
                Some(error) if !failed => {
                    LogLine::warn("not_published").with("error", error).say();
                }
                None if failed => LogLine::info("published_again").say(),
                _ => {}
            }
            failed = error.is_some();
            // What nobody has is told again, also where nothing happens.
            last = if failed { Published::default() } else { published };
            tokio::time::sleep(EVERY).await;
        }
    }

    async fn published(&self, ingest: &Ingest) -> Published {
        let mut published = Published::default();
        let mut rings: Vec<(String, RingSummary)> = Vec::new();
        for (host, RingList { rings: of_host, .. }) in ask_all(self).await {
            let Some(agent) = host.agent else { continue };
            published.programs.extend(of_host.iter().map(|ring| program(&agent, ring)));
            let open = of_host.into_iter().filter(|ring| ring.alive && ring.open > 0);
            rings.extend(open.map(|ring| (agent.clone(), ring)));
        }
        rings.sort_by_key(|(_, ring)| std::cmp::Reverse(ring.open));
        rings.truncate(RINGS_MAX);
        let mut asked = tokio::task::JoinSet::new();
        for (agent, ring) in rings {
            let api = self.clone();
            asked.spawn(async move { open_batch(&api, &agent, ring.id).await });
        }
        let mut open = BTreeMap::new();
        // An agent that has gone meanwhile has nothing to say.
        asked
            .join_all()
            .await
            .into_iter()
            .flatten()
            .for_each(|report| add_open(&report, &mut open));
        published.open = open.into_values().collect();
        published.agents = ingest.agents().iter().map(agent).collect();
        published
    }
}

fn write(
    collectors: &Arc<Collectors>,
    ingest: &Ingest,
    published: &Published,
    is_news: bool,
) -> Result<(), String> {
    ingest.flush_notes().map_err(|error| error.to_string())?;
    match is_news {
        true => collectors.publish(published).map_err(|error| error.to_string()),
        false => Ok(()),
    }
}

/// Open transactions by host, application and class.
type OpenByClass = BTreeMap<(String, String, String), OpenRow>;

fn add_open(report: &RingReport, open: &mut OpenByClass) {
    let host = &report.summary.process.host;
    for record in report.open.records() {
        let Some(class) = report.names.class(record.class) else { continue };
        let key = (host.clone(), class.application.clone(), class.class.clone());
        let row = open.entry(key).or_insert_with(|| OpenRow {
            host: host.clone(),
            application: class.application.clone(),
            class: class.class.clone(),
            oldest_start_ns: record.start_ns,
            ..OpenRow::default()
        });
        row.count += 1;
        row.oldest_start_ns = row.oldest_start_ns.min(record.start_ns);
    }
}

fn program(agent: &str, ring: &RingSummary) -> ProgramRow {
    ProgramRow {
        agent: agent.to_owned(),
        host: ring.process.host.clone(),
        application: ring.process.application.clone(),
        pid: ring.process.pid,
        alive: ring.alive,
        recorded: ring.recorded,
        lost: ring.lost,
        open: ring.open,
        ..ProgramRow::default()
    }
}

fn agent(status: &AgentStatus) -> AgentRow {
    AgentRow {
        collector: 0, // the one that publishes
        id: status.id.clone(),
        host: status.host.clone(),
        program: status.program.clone(),
        connected: status.connected,
        away_since_ns: status.away_since_ns,
        answers_rings: status.answers_rings,
        heard_ns: status.heard_ns,
        rows: status.rows,
        next_row: status.next_row,
        other_rows: status.other_rows,
        gap_rows: status.gap_rows,
        clock_offset_ns: status.clock_offset_ns,
        clock_error_ns: status.clock_error_ns,
    }
}
