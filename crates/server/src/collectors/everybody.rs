//! All collectors before a cluster, and what they have published, as one status.

use super::lease::DEAD_NS;
use chronoscope_clickhouse::{AgentRow, ClickHouseError, Cluster, CollectorRow, Published};
use chronoscope_collect::{AgentStatus, ProcessStatus, Status};
use chronoscope_model::ProcessName;
use std::collections::BTreeMap;

/// What all collectors before a cluster say.
#[derive(Clone, Debug, Default)]
pub(crate) struct Everybody {
    /// The collectors of the last day, by their numbers.
    pub(crate) collectors: Vec<CollectorRow>,
    /// What those that live have published; of the others their agents.
    pub(crate) published: Published,
    /// Rows that processes lost in all.
    lost: Vec<(ProcessName, u64)>,
}

/// A process: application, host, number there.
type ProcessKey = (String, String, u32);

impl Everybody {
    /// Reads it.
    ///
    /// # Errors
    /// [`ClickHouseError`].
    pub(super) fn read(cluster: &Cluster) -> Result<Self, ClickHouseError> {
        let collectors = cluster.collectors()?;
        let rounds = collectors.iter().filter(|row| row.round > 0).map(|row| (row.id, row.round));
        let published = cluster.published(&rounds.collect::<Vec<_>>())?;
        Ok(Self::of(collectors, published, cluster.lost_rows()?))
    }

    fn of(
        collectors: Vec<CollectorRow>,
        mut published: Published,
        lost: Vec<(ProcessName, u64)>,
    ) -> Self {
        let alive = |id: u64| collectors.iter().any(|row| row.id == id && is_alive(row));
        published.programs.retain(|row| alive(row.collector));
        published.open.retain(|row| alive(row.collector));
        Self { collectors, published, lost }
    }

    /// Whether a collector lives.
    pub(crate) fn is_live(&self) -> bool {
        self.collectors.iter().any(is_alive)
    }

    /// Whether spans of OpenTelemetry have come to a collector that lives.
    pub(crate) fn has_spans(&self) -> bool {
        self.collectors.iter().any(|row| is_alive(row) && row.has_spans)
    }

    /// The status of all of them together at `now_ns` (UTC, nanoseconds since 1970).
    pub(crate) fn status(&self, now_ns: i64) -> Status {
        let youngest = self.collectors.iter().map(|row| row.age_ns.max(0)).min();
        let processes = self.processes();
        Status {
            version: 1,
            running: self.is_live(),
            at_ns: now_ns.saturating_sub(youngest.unwrap_or(0)),
            started_ns: self.collectors.iter().map(|row| row.started_ns).min().unwrap_or(0),
            lost_rows: self.lost.iter().fold(0, |sum, (_, rows)| sum.saturating_add(*rows)),
            processes,
            agents: self.agents(now_ns),
            ..Status::default()
        }
    }

    /// The agents, each by the collector that it is connected to, or by the one that heard it last.
    pub(crate) fn agents(&self, now_ns: i64) -> Vec<AgentStatus> {
        let mut by_id: BTreeMap<&str, (bool, &AgentRow)> = BTreeMap::new();
        for row in &self.published.agents {
            let is_live = self.collector(row.collector).is_some_and(is_alive);
            let rank =
                |(is_live, row): &(bool, &AgentRow)| (*is_live && row.connected, row.heard_ns);
            let new = (is_live, row);
            let known = by_id.entry(&row.id).or_insert(new);
            if rank(&new) > rank(known) {
                *known = new;
            }
        }
        let mut agents: Vec<_> =
            by_id.into_values().map(|(is_live, row)| self.agent(row, is_live, now_ns)).collect();
        agents.sort_by(|a, b| (&a.host, &a.id).cmp(&(&b.host, &b.id)));
        agents
    }

    fn agent(&self, row: &AgentRow, is_live: bool, now_ns: i64) -> AgentStatus {
        let connected = row.connected && is_live;
        let gone_ns = self.collector(row.collector).map(|it| now_ns.saturating_sub(it.age_ns));
        AgentStatus {
            id: row.id.clone(),
            host: row.host.clone(),
            program: row.program.clone(),
            connected,
            // A collector that is gone took its connections with it.
            away_since_ns: if connected { None } else { row.away_since_ns.or(gone_ns) },
            answers_rings: row.answers_rings,
            heard_ns: row.heard_ns,
            rows: row.rows,
            next_row: row.next_row,
            other_rows: row.other_rows,
            gap_rows: row.gap_rows,
            clock_offset_ns: row.clock_offset_ns,
            clock_error_ns: row.clock_error_ns,
        }
    }

    /// The collector that an agent is connected to.
    pub(crate) fn collector_of(&self, agent: &str) -> Option<&CollectorRow> {
        let rows = self.published.agents.iter();
        let mut of = rows.filter(|row| row.id == agent && row.connected);
        of.find_map(|row| self.collector(row.collector).filter(|it| is_alive(it)))
    }

    /// The processes whose rings agents read, and those that lost rows.
    fn processes(&self) -> Vec<ProcessStatus> {
        let mut by_key: BTreeMap<ProcessKey, ProcessStatus> = BTreeMap::new();
        for row in &self.published.programs {
            let key = (row.application.clone(), row.host.clone(), row.pid);
            by_key.insert(
                key,
                ProcessStatus {
                    application: row.application.clone(),
                    host: row.host.clone(),
                    pid: row.pid,
                    alive: row.alive,
                    rows: row.recorded,
                    unrecorded: row.lost,
                    ..ProcessStatus::default()
                },
            );
        }
        for (name, rows) in &self.lost {
            let key = (name.application.clone(), name.host.clone(), name.pid);
            let process = by_key.entry(key).or_insert_with(|| ProcessStatus {
                application: name.application.clone(),
                host: name.host.clone(),
                pid: name.pid,
                ..ProcessStatus::default()
            });
            process.lost_rows = process.lost_rows.saturating_add(*rows);
        }
        by_key.into_values().collect()
    }

    fn collector(&self, id: u64) -> Option<&CollectorRow> {
        self.collectors.iter().find(|row| row.id == id)
    }
}

/// Whether a collector was heard lately, and did not say that it ends.
pub(crate) fn is_alive(row: &CollectorRow) -> bool {
    row.age_ns < DEAD_NS
}

#[cfg(test)]
mod tests {
    use super::*;

    fn collector(id: u64, age_ns: i64) -> CollectorRow {
        CollectorRow { id, age_ns, round: 1, ..CollectorRow::default() }
    }

    fn agent(collector: u64, connected: bool, heard_ns: i64) -> AgentRow {
        AgentRow { collector, id: "a".into(), connected, heard_ns, ..AgentRow::default() }
    }

    #[test]
    fn an_agent_is_where_it_is_connected_and_away_when_its_collector_is() {
        let of = |ages: [i64; 2], rows: Vec<AgentRow>| {
            let collectors = vec![collector(1, ages[0]), collector(2, ages[1])];
            let published = Published { agents: rows, ..Published::default() };
            let everybody = Everybody::of(collectors, published, Vec::new());
            let [agent] = &everybody.agents(100 * DEAD_NS)[..] else { panic!("one agent") };
            (agent.connected, agent.away_since_ns, everybody.collector_of("a").map(|it| it.id))
        };
        let moved = || vec![agent(1, false, 9), agent(2, true, 5)];
        assert_eq!(of([0, 0], moved()), (true, None, Some(2)));
        assert_eq!(of([0, DEAD_NS], vec![agent(2, true, 5)]), (false, Some(99 * DEAD_NS), None));
        assert_eq!(of([0, DEAD_NS], vec![agent(1, true, 3), agent(2, true, 5)]).2, Some(1));
    }
}
