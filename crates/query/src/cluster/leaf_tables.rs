//! The leaves of a question as tables in a shard's SQL: of linked minutes only, and of these only what
//! the question selects.

use super::clock_sql::ClockSql;
use super::duration_rows::LeafPlan;
use super::leaf_fetch::quoted_list;
use super::sql::quoted;
use crate::chunk::{DurationFilter, PathText};
use crate::path_catalog::PathCatalog;
use crate::question::Question;
use chronoscope_clickhouse::{SealedMinute, duration_cell};
use chronoscope_store::Minute;
use std::collections::BTreeSet;
use std::ops::Range;
use std::sync::Arc;

/// The tables of a question. They have the columns `path`, `host`, `root_ns`, `duration` (also below
/// 0) and `links`.
#[derive(Clone)]
pub(super) struct LeafTables<'a> {
    plan: &'a LeafPlan,
    question: &'a Question,
    /// When the roots of chains started.
    start_ns: Range<i64>,
    /// The paths as rows have them, in words, with what they are called in answers.
    pub(super) paths: Vec<(String, Arc<PathText>)>,
    listed_paths: String,
    listed_tops: String,
}

/// The condition of the rows of some versions of minutes in the tables of durations, given in ascending
/// order; `None` without any.
pub(super) fn of_cells(versions: &[(i64, u64)]) -> Option<String> {
    let (first, last) = (versions.first()?.0, versions.last()?.0);
    let cell = |(minute, version): &(i64, u64)| format!("'{}'", duration_cell(*minute, *version));
    let cells = versions.iter().map(cell).collect::<Vec<_>>().join(",");
    Some(format!("minute BETWEEN {first} AND {last} AND cell IN ({cells})"))
}

/// Whether all roots of a minute started in a time.
pub(super) fn is_whole(minute: i64, start_ns: &Range<i64>) -> bool {
    let minute = Minute(minute);
    start_ns.start <= minute.start_ns() && minute.end_ns() <= start_ns.end
}

impl<'a> LeafTables<'a> {
    pub(super) fn new(plan: &'a LeafPlan, question: &'a Question) -> Self {
        let mut catalog = PathCatalog::new(&plan.names.names, question);
        let wanted = DurationFilter::by(question);
        let mut paths = Vec::new();
        for stored in &plan.wanted.paths {
            let classes = catalog.path(stored).classes.clone();
            let text = PathText::of(&classes, &catalog);
            if wanted.wants_path(&text) {
                paths.push((stored.clone(), Arc::new(text)));
            }
        }
        let stored: BTreeSet<String> = paths.iter().map(|(stored, _)| stored.clone()).collect();
        let (listed_paths, listed_tops) = (quoted_list(&stored), quoted_list(&plan.wanted.tops));
        let start_ns = question.start_ns.clone();
        Self { plan, question, start_ns, paths, listed_paths, listed_tops }
    }

    /// Those of chains whose roots started in a part of the time.
    pub(super) fn between(&self, start_ns: Range<i64>) -> Self {
        let start_ns = start_ns.start.max(self.start_ns.start)..start_ns.end.min(self.start_ns.end);
        Self { start_ns, ..self.clone() }
    }

    /// Number of rows of native chains in the minutes of the question on a shard, of any path.
    pub(super) fn row_count(&self, shard: usize) -> u64 {
        self.versions(shard, &self.minutes()).map(|(_, sealed)| sealed.rows).sum()
    }

    /// The linked minutes of the time.
    fn minutes(&self) -> Vec<i64> {
        let Range { start, end } = self.start_ns;
        let touches =
            |minute: &i64| Minute(*minute).start_ns() < end && start < Minute(*minute).end_ns();
        self.plan.versions.keys().copied().filter(touches).collect()
    }

    /// All leaves on a shard; `None` without any.
    pub(super) fn all(&self, shard: usize) -> Option<String> {
        let minutes = self.minutes();
        let native = self.native(shard, &minutes);
        let both: Vec<String> = native.into_iter().chain(self.linked(shard)).collect();
        match &both[..] {
            [] => None,
            [one] => Some(format!("({one})")),
            both => Some(format!("({})", both.join(" UNION ALL "))),
        }
    }

    /// The leaves of native chains in some minutes.
    pub(super) fn native(&self, shard: usize, minutes: &[i64]) -> Option<String> {
        let cells = self.cells(shard, minutes)?;
        let conditions = self.conditions(minutes, "root_ns", "duration");
        if self.has_durations(shard) {
            return Some(format!(
                "SELECT path, host, root_start_ns AS root_ns, duration_ns AS duration, \
                 toUInt8(0) AS links FROM durations WHERE {cells} AND {}{conditions}",
                self.of_paths()
            ));
        }
        Some(format!(
            "SELECT path, host, toUnixTimestamp64Nano(root_start) AS root_ns, \
             toUnixTimestamp64Nano(start) + elapsed_ns - root_ns AS duration, toUInt8(0) AS links \
             FROM transactions {}{conditions}",
            self.of_transactions(shard, minutes)
        ))
    }

    /// The condition of the leaves of native chains in some minutes in the table of all rows.
    fn of_transactions(&self, shard: usize, minutes: &[i64]) -> String {
        let on_shard: Vec<String> =
            self.versions(shard, minutes).map(|(m, _)| m.to_string()).collect();
        let linked = self.plan.linked.as_ref();
        let without = linked.map_or_else(String::new, |linked| linked.without_foreign(shard));
        format!(
            "PREWHERE path IN ({}) WHERE minute IN ({}) AND top IN ({}){without}",
            self.listed_paths,
            on_shard.join(","),
            self.listed_tops
        )
    }

    /// The leaves on a shard that are not on their roots' hosts, or on unknown ones, as
    /// [`ClockSql::counting`] takes them; `None` without any.
    pub(super) fn crossing_rows(&self, shard: usize, clocks: &ClockSql) -> Option<String> {
        let minutes = self.minutes();
        let conditions = self.conditions(&minutes, "root_ns", "duration");
        let selected = |root_host: &str| {
            let number = self.path_number();
            let (root, leaf) = (clocks.host_number(root_host), clocks.host_number("host"));
            format!("SELECT {number} AS number, {root} AS root, {leaf} AS leaf")
        };
        let native = self.cells(shard, &minutes).map(|_| {
            format!(
                "{}, toUnixTimestamp64Nano(root_start) AS root_ns, \
                 toUnixTimestamp64Nano(start) AS start_ns, \
                 start_ns + elapsed_ns - root_ns AS duration FROM transactions {} \
                 AND (host = '' OR host != ifNull(root_host, '')){conditions}",
                selected("ifNull(root_host, '')"),
                self.of_transactions(shard, &minutes)
            )
        });
        let linked = self.of_linked(shard).map(|condition| {
            format!(
                "{}, root_start_ns AS root_ns, start_ns, \
                 start_ns + elapsed_ns - root_start_ns AS duration FROM linked_rows \
                 WHERE {condition} AND (host = '' OR host != root_host){conditions}",
                selected("root_host")
            )
        });
        let both: Vec<String> = native.into_iter().chain(linked).collect();
        (!both.is_empty()).then(|| both.join(" UNION ALL "))
    }

    /// The leaves of linked chains with foreign rows.
    pub(super) fn linked(&self, shard: usize) -> Option<String> {
        let minutes = self.minutes();
        Some(format!(
            "SELECT path, host, root_start_ns AS root_ns, \
             start_ns + elapsed_ns - root_start_ns AS duration, links FROM linked_rows \
             WHERE {}{}",
            self.of_linked(shard)?,
            self.conditions(&minutes, "root_ns", "duration")
        ))
    }

    /// The condition of the leaves of linked chains with foreign rows; `None` without any.
    fn of_linked(&self, shard: usize) -> Option<String> {
        let linked = self.plan.linked.as_ref().filter(|_| !self.paths.is_empty())?;
        let minutes = self.minutes();
        let cells = linked.listed(&minutes, shard)?;
        let (paths, without) = (self.of_path_texts(), linked.without_loose(shard));
        Some(format!("(minute, version) IN ({cells}) AND {paths}{without}"))
    }

    /// The native leaves of which something is wrong. They are among [`Self::native`], where
    /// their `links` are 0.
    pub(super) fn unusual(&self, shard: usize) -> Option<String> {
        let minutes = self.minutes();
        let unusual = self.versions(shard, &minutes).filter(|(_, sealed)| sealed.unusual > 0);
        let unusual: Vec<String> =
            unusual.map(|(minute, sealed)| format!("({minute},{})", sealed.version)).collect();
        if unusual.is_empty() || self.paths.is_empty() {
            return None;
        }
        let linked = self.plan.linked.as_ref();
        let without = linked.map_or_else(String::new, |linked| linked.without_foreign(shard));
        Some(format!(
            "(SELECT path, host, root_start_ns AS root_ns, \
             start_ns + elapsed_ns - root_start_ns AS duration, links FROM unusual_rows \
             WHERE (minute, version) IN ({}) AND path IN ({}){without}{})",
            unusual.join(","),
            self.listed_paths,
            self.conditions(&minutes, "root_ns", "duration")
        ))
    }

    /// The condition of the rows of `path_extents` that count the leaves of native chains in whole
    /// minutes, and the minutes that are not counted there.
    pub(super) fn counted(&self, shard: usize) -> (Option<String>, Vec<i64>) {
        let Question { hosts, duration_ns, .. } = self.question;
        let all = self.minutes();
        if !hosts.is_empty() || *duration_ns != (0..=u64::MAX) || !self.has_durations(shard) {
            return (None, all);
        }
        let (whole, cut): (Vec<i64>, Vec<i64>) =
            all.into_iter().partition(|minute| self.is_whole(*minute));
        let condition =
            self.cells(shard, &whole).map(|cells| format!("{cells} AND {}", self.of_paths()));
        (condition, cut)
    }

    /// The statements that count leaves on a shard whose hosts' clocks matter, at least those that the
    /// question selects; `None` where that is not known.
    pub(super) fn crossing(&self, shard: usize) -> Option<Vec<String>> {
        let minutes = self.minutes();
        let native = match self.cells(shard, &minutes) {
            Some(_) if !self.has_durations(shard) => return None,
            Some(cells) => Some(format!(
                "SELECT sum(crossing) AS crossing FROM path_extents WHERE {cells} AND {}",
                self.of_paths()
            )),
            None => None,
        };
        let linked = self.plan.linked.as_ref();
        let cells = linked.and_then(|linked| linked.listed(&minutes, shard));
        let linked = cells.filter(|_| !self.paths.is_empty()).map(|cells| {
            format!(
                "SELECT count() AS crossing FROM linked_rows WHERE (minute, version) IN ({cells}) \
                 AND {} AND (host = '' OR host != root_host)",
                self.of_path_texts()
            )
        });
        Some(native.into_iter().chain(linked).collect())
    }

    /// The number of a row's path in [`Self::paths`].
    pub(super) fn path_number(&self) -> String {
        let texts: Vec<String> = self.paths.iter().map(|(stored, _)| quoted(stored)).collect();
        let numbers: Vec<String> = (0..texts.len()).map(|number| number.to_string()).collect();
        match &texts[..] {
            [] | [_] => "toUInt32(0)".to_owned(),
            _ => format!(
                "CAST(transform(path, [{}], [{}], 0), 'UInt32')",
                texts.join(","),
                numbers.join(",")
            ),
        }
    }

    /// The stored paths and root classes, in SQL.
    pub(super) fn of_paths(&self) -> String {
        format!("top IN ({}) AND {}", self.listed_tops, self.of_path_texts())
    }

    /// The stored paths alone.
    pub(super) fn of_path_texts(&self) -> String {
        format!("path IN ({})", self.listed_paths)
    }

    /// The question's condition on hosts.
    pub(super) fn of_hosts(&self) -> String {
        let hosts: Vec<String> = self.question.hosts.iter().map(|host| quoted(host)).collect();
        match hosts.is_empty() {
            true => String::new(),
            false => format!(" AND host IN ({})", hosts.join(",")),
        }
    }

    /// Whether the shard has the durations of all minutes, and no chains among them that belong to
    /// others.
    fn has_durations(&self, shard: usize) -> bool {
        let linked = self.plan.linked.as_ref();
        linked.is_none_or(|linked| linked.without_foreign(shard).is_empty())
            && self.plan.versions.values().all(|of_shards| {
                of_shards[shard].is_none_or(|sealed| sealed.durations == sealed.rows)
            })
    }

    fn versions(
        &self,
        shard: usize,
        minutes: &[i64],
    ) -> impl Iterator<Item = (i64, SealedMinute)> + use<'a> {
        let of = |minute: &i64| Some((*minute, self.plan.versions.get(minute)?[shard]?));
        let versions: Vec<_> = minutes.iter().filter_map(of).collect();
        versions.into_iter()
    }

    /// The condition of the rows of some minutes in the tables of durations; `None` without any.
    fn cells(&self, shard: usize, minutes: &[i64]) -> Option<String> {
        let versions =
            self.versions(shard, minutes).map(|(minute, sealed)| (minute, sealed.version));
        of_cells(&versions.collect::<Vec<_>>()).filter(|_| !self.paths.is_empty())
    }

    fn is_whole(&self, minute: i64) -> bool {
        is_whole(minute, &self.start_ns)
    }

    /// The conditions of the question on rows of some minutes, given the columns of their root's
    /// start and their duration; empty where it selects all.
    fn conditions(&self, minutes: &[i64], root: &str, duration: &str) -> String {
        let duration_ns = &self.question.duration_ns;
        let mut conditions = self.of_hosts();
        if !minutes.iter().all(|minute| self.is_whole(*minute)) {
            let Range { start, end } = self.start_ns;
            conditions.push_str(&format!(" AND {root} >= {start} AND {root} < {end}"));
        }
        if *duration_ns != (0..=u64::MAX) {
            let (shortest, longest) = (duration_ns.start(), duration_ns.end());
            let longest = (*longest).min(i64::MAX.unsigned_abs());
            conditions.push_str(&format!(
                " AND ({duration} < 0 OR {duration} BETWEEN {shortest} AND {longest})"
            ));
        }
        conditions
    }
}
