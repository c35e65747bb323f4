//! Questions to a cluster: which rows are needed is decided there, what they say here.

use super::chain_stream::ChainStream;
use super::class_counts::classes;
use super::fetch::{each_excerpt, excerpts_of, fetch_chain};
use super::fetched::FetchedMinutes;
use super::missing::Missing;
use super::names::ClusterNames;
use super::needed::NeededMinutes;
use super::sql::{between, quoted};
use super::words::{Ended, Words, hosts};
use crate::answer::Answer;
use crate::classes::ClassStatistics;
use crate::error::QueryError;
use crate::minutes::REACH;
use crate::progress::Progress;
use crate::question::{Clocks, DurationKind, Limits, Question, VerdictSubject};
use crate::row_batches::BatchedQuestion;
use crate::run::ask_watched;
use crate::series::Point;
use arrow_array::types::UInt8Type;
use chronoscope_clickhouse::{ClickHouseError, Cluster, ResultRows, shard_of};
use chronoscope_model::schema::column;
use chronoscope_model::{ChainId, ClassName, Excerpt, Flags, Transaction};
use chronoscope_store::{Damage, Minute, Snapshot};
use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Arc;

/// Number of attempts for a question during which a new path is named.
const TRIES: usize = 5;

const FOREIGN: u8 = Flags::FOREIGN.0;

/// A cluster that is asked. Clones share the minutes that were fetched from it.
#[derive(Clone, Debug)]
pub struct ClusterView {
    cluster: Cluster,
    pub(super) fetched: Arc<FetchedMinutes>,
}

impl ClusterView {
    /// Asks this cluster.
    pub fn new(cluster: Cluster) -> Self {
        Self { cluster, fetched: Arc::default() }
    }

    /// The cluster.
    pub const fn cluster(&self) -> &Cluster {
        &self.cluster
    }

    /// Answers a question, as [`crate::ask`] does.
    ///
    /// # Errors
    /// [`QueryError::ClickHouse`], also when one of the shards does not answer.
    pub fn ask(
        &self,
        question: &Question,
        limits: &Limits,
        progress: &Progress,
    ) -> Result<Answer, QueryError> {
        if question.judged == VerdictSubject::Durations {
            match self.ask_found(question, limits, progress) {
                Ok(Some(answer)) => return Ok(answer),
                // Without a shard it is answered below.
                Err(QueryError::ClickHouse(error)) if self.cluster.goes_on_after(&error) => {}
                Err(error) => return Err(error),
                Ok(None) => {}
            }
        }
        // The rows of a chain with another name may be on another shard.
        if !is_of_hops(question) || !self.cluster.aliases()?.is_empty() {
            let needed: Vec<_> = NeededMinutes::of_question(question, limits).into_iter().collect();
            let rows = self.rows(&needed, progress)?;
            return Ok(ask_watched(&rows, question, limits, progress)?);
        }
        let mut tries = 1;
        loop {
            match self.try_ask(question, limits, progress) {
                Err(Ended::NewWord) if tries < TRIES => tries += 1,
                Err(Ended::NewWord) => {
                    let node = &self.cluster.nodes()[0];
                    let nowhere = "path or host (it is not in the tables paths and processes)";
                    return Err(node.unexpected_column(nowhere).into());
                }
                Err(Ended::Failed(error)) => return Err(error),
                Ok(answer) => return Ok(answer),
            }
        }
    }

    /// The answer to a question about the elapsed times of a class or about leaves, from what the
    /// shards select; `None` where that does not suffice.
    fn ask_found(
        &self,
        question: &Question,
        limits: &Limits,
        progress: &Progress,
    ) -> Result<Option<Answer>, QueryError> {
        match self.ask_elapsed(question, limits, progress)? {
            None => self.ask_leaves(question, limits, progress),
            answered => Ok(answered),
        }
    }

    /// The answer to a question about leaves, from what is kept of them here, else from durations
    /// that the shards compute, else from their columns; `None` where linked chains do not suffice.
    fn ask_leaves(
        &self,
        question: &Question,
        limits: &Limits,
        progress: &Progress,
    ) -> Result<Option<Answer>, QueryError> {
        let Some(plan) = self.leaf_plan(question, limits, progress)? else { return Ok(None) };
        if !self.keeps(&plan)
            && let Some(answer) = self.ask_shards(&plan, question, limits, progress)?
        {
            return Ok(Some(answer));
        }
        let Some(rows) = self.planned_rows(plan, false, progress)? else { return Ok(None) };
        Ok(Some(ask_watched(&rows, question, limits, progress)?))
    }

    fn try_ask(
        &self,
        question: &Question,
        limits: &Limits,
        progress: &Progress,
    ) -> Result<Answer, Ended> {
        let mut missing = Missing::default();
        let mut words = self.words(&mut missing)?;
        let mut notes = self.notes(&mut missing)?;
        if question.limit_ns.is_some() {
            notes.ledger.names.merge(&words.names);
            let cluster = &self.cluster;
            let processes = ClusterNames::read_reachable_processes(cluster, &mut missing)?;
            notes.ledger.names.merge(&processes);
        }
        let clocks = notes.ledger.clocks.clone();
        if !clocks.is_empty() {
            for hosts in self.cluster.ask_all(&mut missing.0, |_, node| hosts(node))? {
                hosts.into_iter().for_each(|(hash, host)| words.add_host(hash, host));
            }
        }
        let shards = self.cluster.shard_count();
        let each = Limits {
            threads: (limits.threads / shards).max(1),
            memory_bytes: limits.memory_bytes / shards as u64,
            ..*limits
        };
        let known = (&words.names, &clocks);
        let batched = BatchedQuestion::new(question, known, each, progress);
        let tops: Vec<String> = batched.tops().into_iter().map(|id| words.top(id)).collect();
        // An error of ours cannot leave the shards' threads as it is.
        let ended = std::sync::Mutex::new(None);
        let asked = self.cluster.ask_all(&mut missing.0, |_, node| {
            let shard = ChainStream { node, words: &words, batched: &batched, limits: &each };
            let asked = match question.kind {
                DurationKind::Sync => shard.ask_each(question),
                DurationKind::Acpd | DurationKind::Apcd => shard.ask_chains(&tops),
            };
            let asked = match asked {
                Err(Ended::Failed(QueryError::ClickHouse(away)))
                    if self.cluster.left_out(node, &away).is_some() =>
                {
                    return Err(away);
                }
                asked => asked,
            };
            if let Err(error) = asked {
                let mut ended = ended.lock().unwrap_or_else(|e| e.into_inner());
                // A failure says more than a word that came late.
                if !matches!(&*ended, Some(Ended::Failed(_))) {
                    *ended = Some(error);
                }
            }
            Ok(())
        });
        asked?;
        match ended.into_inner().unwrap_or_else(|e| e.into_inner()) {
            Some(ended) => Err(ended),
            None => {
                let first = *batched.minutes().0.start();
                let whole = self.whole(&notes, first, None, missing)?;
                let told = Snapshot::of_segments(Vec::new(), notes.ledger, whole);
                Ok(batched.into_answer(&told))
            }
        }
    }

    pub(super) fn words(&self, missing: &mut Missing) -> Result<Words, ClickHouseError> {
        let mut words = Words::default();
        let by_shard = self.cluster.ask_all(&mut missing.0, |_, node| {
            let mut words = Words::default();
            words.read(node)?;
            Ok(words)
        })?;
        for theirs in by_shard {
            words.names.merge(&theirs.names);
            words.classes.extend(theirs.classes);
        }
        Ok(words)
    }

    /// The transactions of a chain, by start, as [`crate::chain`] finds them.
    ///
    /// # Errors
    /// [`ClickHouseError`].
    pub fn chain(
        &self,
        id: ChainId,
        near_ns: Option<Range<i64>>,
    ) -> Result<(Vec<Transaction>, Vec<Damage>), ClickHouseError> {
        let reach = i64::try_from(REACH.as_nanos()).unwrap_or(i64::MAX);
        let minutes = near_ns.map(|near| {
            let range = near.start.saturating_sub(reach)..near.end.saturating_add(reach);
            Minute::of(range.start).0..=Minute::of(range.end.saturating_sub(1)).0
        });
        let mut rows = Vec::new();
        let mut missing = Missing::default();
        for stored in self.cluster.aliases()?.continued_by(id) {
            let node = &self.cluster.nodes()[shard_of(stored, self.cluster.shard_count())];
            match fetch_chain(node, stored, minutes.clone()) {
                Ok(found) => {
                    rows.extend(found.into_iter().map(|row| Transaction { chain: id, ..row }));
                }
                Err(error) => match self.cluster.left_out(node, &error) {
                    Some(shard) => missing.0.push(shard),
                    None => return Err(error),
                },
            }
        }
        rows.sort_by_key(|row| (row.start_ns, row.level, row.id));
        Ok((rows, missing.into_damage()))
    }

    /// Statistics by class, as [`crate::classes`] has them; and the shards that are missing.
    ///
    /// # Errors
    /// [`ClickHouseError`].
    pub fn classes(
        &self,
        start_ns: &Range<i64>,
    ) -> Result<(BTreeMap<ClassName, ClassStatistics>, Vec<Damage>), ClickHouseError> {
        let mut missing = Missing::default();
        let classes = classes(&self.cluster, &mut missing.0, start_ns)?;
        Ok((classes, missing.into_damage()))
    }

    /// Gives the rows of a class that started in a range to `each`, as [`crate::excerpts`]
    /// does; those of several shards between each other. The result is of the shards that are
    /// missing.
    ///
    /// # Errors
    /// [`ClickHouseError`], perhaps after some rows were given out.
    pub fn excerpts(
        &self,
        class: &ClassName,
        start_ns: &Range<i64>,
        each: &mut (dyn FnMut(&Excerpt<'_>) + Send),
    ) -> Result<Vec<Damage>, ClickHouseError> {
        let reach = i64::try_from(REACH.as_nanos()).unwrap_or(i64::MAX);
        let first = Minute::of(start_ns.start.saturating_sub(reach)).0;
        let minutes = first..=Minute::of(start_ns.end.saturating_sub(1)).0;
        let sql = excerpts_of(
            &format!(
                "application = {} AND class = {}",
                quoted(&class.application),
                quoted(&class.class)
            ),
            &between("minute", &minutes),
            start_ns,
        );
        let each = std::sync::Mutex::new(each);
        let mut missing = Missing::default();
        self.cluster.ask_all(&mut missing.0, |_, node| {
            node.query(&sql, |batch| {
                let mut each = each.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
                each_excerpt(&ResultRows { node, batch }, &mut **each)
            })
        })?;
        Ok(missing.into_damage())
    }

    /// The chain of a duration, as [`crate::locate`] finds it.
    ///
    /// # Errors
    /// [`ClickHouseError`].
    pub fn locate(&self, point: &Point) -> Result<Option<ChainId>, ClickHouseError> {
        let reach = i64::try_from(REACH.as_nanos()).unwrap_or(i64::MAX);
        let Point { start_ns: at, duration_ns } = *point;
        let own = Minute::of(at).0;
        let first = Minute::of(at.saturating_sub(reach)).0;
        let (start, root) = ("toUnixTimestamp64Nano(start)", "toUnixTimestamp64Nano(root_start)");
        // The root's own minute first: only an inner root lies in another one. There a row that
        // ends with the duration is preferred.
        let sql = format!(
            "SELECT minute = {own} AS is_own, \
             toInt128({start}) + elapsed_ns - {at} = {duration_ns} AS ends, minute, \
             chain_high, chain_low FROM transactions \
             WHERE minute BETWEEN {first} AND {} AND ({start} = {at} OR {root} = {at}) \
             ORDER BY is_own DESC, ends DESC, minute DESC, bitAnd(flags, {FOREIGN}), \
             chain_high, chain_low LIMIT 1",
            own.saturating_add(1)
        );
        // A chain of a missing shard is not found; the answer that named it says that it is missing.
        let found = self.cluster.ask_all(&mut Vec::new(), |_, node| {
            let mut found = None;
            node.query(&sql, |batch| {
                let rows = ResultRows { node, batch };
                let minutes = rows.times("minute")?;
                let (own, ends) =
                    (rows.numbers::<UInt8Type>("is_own")?, rows.numbers::<UInt8Type>("ends")?);
                let (high, low) = (rows.ids(column::CHAIN_HIGH)?, rows.ids(column::CHAIN_LOW)?);
                if let Some(minute) = minutes.first() {
                    let chain = ChainId::from_halves(high[0], low[0]);
                    found = Some(((own[0], ends[0], *minute), chain));
                }
                Ok(())
            })?;
            Ok(found)
        })?;
        let best = found.into_iter().flatten().max_by_key(|(fit, _)| *fit);
        let Some((_, chain)) = best else { return Ok(None) };
        Ok(Some(self.cluster.aliases()?.resolve(chain)))
    }

    /// The classes that are known, ascending.
    ///
    /// # Errors
    /// [`ClickHouseError`].
    pub fn class_names(&self) -> Result<Vec<ClassName>, ClickHouseError> {
        // Every shard has the names of all: those that do not answer are not missed.
        let words = self.words(&mut Missing::default())?;
        let mut names: Vec<_> = words.names.classes().map(|(_, name)| name.clone()).collect();
        names.sort();
        Ok(names)
    }
}

/// Whether the columns that chains are put together from answer a question: without clocks, hosts,
/// attributes or what arrived.
fn is_of_hops(question: &Question) -> bool {
    question.hosts.is_empty()
        && question.attributes.is_empty()
        && question.judged == VerdictSubject::Durations
        && question.clocks == Clocks::Raw
}
