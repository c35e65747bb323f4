//! The location of stored transactions, given as a URL: questions are the same for each kind of
//! store.
//!
//! | URL | what answers |
//! |---|---|
//! | `file:DIR`, or a path alone | the files of a [`Store`](chronoscope_store::Store) in that directory |
//! | `clickhouse://[user[:password]@]host[:port][\|copy…][,host…]/database` | a [`clickhouse`](chronoscope_clickhouse) cluster; `clickhouses://` over TLS |
//!
//! ```no_run
//! use chronoscope_query::{Limits, Question, StoreLocation};
//!
//! let source = StoreLocation::open("file:/var/lib/chronoscope")?;
//! let question = Question::apcd("MRTS::decodePlots");
//! println!("{} chains", source.ask(&question, &Limits::default())?.counts.used);
//! # Ok::<(), chronoscope_query::QueryError>(())
//! ```
//!
//! Several questions that have to see the same rows are asked of one [`StoreView`]
//! ([`StoreLocation::with`]).
//!
//! Not here: writing (`Store`), and what the questions mean (`ask`).

use crate::answer::Answer;
use crate::attributes::{
    AttributeNames, AttributeRows, AttributeValues, ServiceVersions, attribute_names,
    attribute_values, service_versions,
};
use crate::chain_list::{ChainOrder, ChainPoint, list_chains};
use crate::class_groups::{ClassGroups, class_groups};
use crate::classes::{ClassStatistics, classes};
use crate::cluster::{
    ClusterTransactions, ClusterView, NeededMinutes, RowsView, ShardAnswer, ShardPicture,
};
use crate::durations::{ask_again, ask_again_with};
use crate::error::QueryError;
use crate::excerpts::excerpts;
use crate::fan_in::{FanInAnswer, ask_inputs};
use crate::fetch::chain;
use crate::gather::QueryEnvironment;
use crate::loads::{PathLoads, loads};
use crate::locate::locate;
use crate::of_shards::{list_chains_of_shards, scatter_of_shards};
use crate::paths::{PathStatistics, paths};
use crate::progress::Progress;
use crate::question::{Limits, Question};
use crate::run::ask_watched;
use crate::scatter::{Raster, Scatter, scatter};
use crate::series::Point;
use chronoscope_chain::fan_in::InputCase;
use chronoscope_chain::{AttributeKey, AttributeSelection};
use chronoscope_clickhouse::Cluster;
use chronoscope_clock::{monotonic_ns, utc_now_ns};
use chronoscope_model::{ChainId, ClassName, Excerpt, Transaction};
use chronoscope_store::{ClockTable, Damage, Snapshot};
use std::collections::BTreeMap;
use std::fmt;
use std::ops::Range;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

/// Number of attempts for a question whose segments are replaced while they are read.
const TRIES: usize = 5;

/// Location of stored transactions.
#[derive(Clone, Debug)]
pub enum StoreLocation {
    /// The directory of a store, on this computer.
    Files(PathBuf),
    /// A ClickHouse cluster. Clones share the rows that were fetched from it.
    Cluster(ClusterView),
}

/// Transactions, one after the other.
pub type TransactionRows = Box<dyn Iterator<Item = Result<Transaction, QueryError>>>;

/// Stored transactions at one moment.
#[derive(Debug)]
#[allow(clippy::large_enum_variant)] // one at a time, never in a collection
pub enum StoreView {
    /// A snapshot of files.
    Files(Snapshot),
    /// A cluster, which changes meanwhile: a later question may see newer rows.
    Cluster(ClusterView),
}

impl From<Cluster> for StoreLocation {
    fn from(cluster: Cluster) -> Self {
        Self::Cluster(ClusterView::new(cluster))
    }
}

impl StoreLocation {
    /// The source that a URL names; nothing is read yet.
    ///
    /// # Errors
    /// [`QueryError::Url`] when it names none that is known here.
    pub fn open(url: &str) -> Result<Self, QueryError> {
        let refuse =
            |reason: &str| QueryError::Url { url: url.to_owned(), reason: reason.to_owned() };
        if url.is_empty() {
            return Err(refuse("it is empty"));
        }
        if let Some(dir) = url.strip_prefix("file:") {
            // RFC 8089: file:///DIR, file://localhost/DIR and file:DIR.
            let dir = dir.strip_prefix("//localhost/").map_or_else(
                || dir.strip_prefix("//").unwrap_or(dir).to_owned(),
                |dir| format!("/{dir}"),
            );
            return match dir.as_str() {
                "" => Err(refuse("it does not name a directory")),
                dir => Ok(Self::Files(PathBuf::from(dir))),
            };
        }
        match url.split_once("://") {
            Some(("clickhouse" | "clickhouses", _)) => Ok(Self::from(Cluster::new(url)?)),
            Some((scheme, _)) => Err(refuse(&format!("the scheme {scheme}: is not supported"))),
            None => Ok(Self::Files(PathBuf::from(url))),
        }
    }

    /// Asks several things of the same moment; again when a segment was removed meanwhile, so that
    /// `ask` may be called more than once.
    ///
    /// # Errors
    /// Errors of `ask` and of the store, also when the store keeps removing segments.
    pub fn with<T>(
        &self,
        mut ask: impl FnMut(&StoreView) -> Result<T, QueryError>,
    ) -> Result<T, QueryError> {
        let mut tries = 1;
        loop {
            match ask(&self.view()?) {
                Err(error) if error.is_missing() && tries < TRIES => tries += 1,
                answered => return answered,
            }
        }
    }

    /// The present content.
    fn view(&self) -> Result<StoreView, QueryError> {
        Ok(match self {
            Self::Files(dir) => StoreView::Files(Snapshot::open(dir)?),
            Self::Cluster(cluster) => StoreView::Cluster(cluster.clone()),
        })
    }

    /// Answers a question about durations.
    ///
    /// # Errors
    /// As [`StoreView::ask`].
    pub fn ask(&self, question: &Question, limits: &Limits) -> Result<Answer, QueryError> {
        self.with(|view| view.ask(question, limits))
    }

    /// The transactions of a chain, by start.
    ///
    /// # Errors
    /// As [`StoreView::chain`].
    pub fn chain(
        &self,
        id: ChainId,
        near_ns: Option<Range<i64>>,
    ) -> Result<(Vec<Transaction>, Vec<Damage>), QueryError> {
        self.with(|view| view.chain(id, near_ns.clone()))
    }

    /// Statistics by class.
    ///
    /// # Errors
    /// As [`StoreView::classes`].
    pub fn classes(
        &self,
        start_ns: &Range<i64>,
    ) -> Result<(BTreeMap<ClassName, ClassStatistics>, Vec<Damage>), QueryError> {
        self.with(|view| view.classes(start_ns))
    }

    /// The chain of a duration.
    ///
    /// # Errors
    /// As [`StoreView::locate`].
    pub fn locate(&self, point: &Point) -> Result<Option<ChainId>, QueryError> {
        self.with(|view| view.locate(point))
    }

    /// Gives the rows of a class that started in `start_ns` (UTC, nanoseconds since 1970) to
    /// `each`, in no order that holds everywhere ([`crate::excerpts`]); and what could not be read.
    ///
    /// # Errors
    /// [`QueryError`] when the rows cannot be read, perhaps after some were given out.
    pub fn excerpts(
        &self,
        class: &ClassName,
        start_ns: &Range<i64>,
        each: &mut (dyn FnMut(&Excerpt<'_>) + Send),
    ) -> Result<Vec<Damage>, QueryError> {
        match self {
            Self::Files(dir) => Ok(excerpts(dir, class, start_ns, each)?),
            Self::Cluster(cluster) => Ok(cluster.excerpts(class, start_ns, each)?),
        }
    }

    /// All transactions of chains whose root started in a range, foreign ones by their own start
    /// (UTC, nanoseconds since 1970), as [`Snapshot::transactions`] has them; and damage that is
    /// known before they are read. Of a cluster some minutes are held here at a time.
    ///
    /// # Errors
    /// [`QueryError`] when the store cannot be read. In the sequence, an unreadable file of a store of
    /// files is followed by the other files, and an error of a cluster ends it.
    pub fn transactions(
        &self,
        range: Range<i64>,
    ) -> Result<(TransactionRows, Vec<Damage>), QueryError> {
        match self.view()? {
            StoreView::Files(snapshot) => {
                let damage = snapshot.damage().to_vec();
                let rows = snapshot.transactions(range).map(|row| row.map_err(QueryError::from));
                Ok((Box::new(rows), damage))
            }
            StoreView::Cluster(remote) => {
                Ok((Box::new(ClusterTransactions::new(remote, range)?), Vec::new()))
            }
        }
    }

    /// The classes that are known, ascending.
    ///
    /// # Errors
    /// As [`StoreView::names`].
    pub fn names(&self) -> Result<Vec<ClassName>, QueryError> {
        self.with(StoreView::names)
    }
}

/// The most recent view of a store, shared by queries that accept slightly old rows. Every new view
/// reads the rows that are not sealed yet from the log, which takes time in proportion to them.
///
/// The view and its rows stay in memory until [`Self::let_go`].
#[derive(Debug, Default)]
pub struct RecentView {
    last: Mutex<Option<Taken>>,
}

/// A view, and when it was taken.
#[derive(Clone, Debug)]
struct Taken {
    view: Arc<StoreView>,
    monotonic_ns: u64,
    as_of_ns: i64,
}

impl RecentView {
    /// Asks as [`StoreLocation::with`] does, of a view that was taken no longer ago than `age_max`.
    /// `ask` is told when: UTC, nanoseconds since 1970. Those who ask at the same time share one.
    ///
    /// # Errors
    /// As [`StoreLocation::with`].
    pub fn with<T>(
        &self,
        source: &StoreLocation,
        age_max: Duration,
        mut ask: impl FnMut(&StoreView, i64) -> Result<T, QueryError>,
    ) -> Result<T, QueryError> {
        let mut tries = 1;
        loop {
            let taken = self.take(source, age_max)?;
            match ask(&taken.view, taken.as_of_ns) {
                Err(error) if error.is_missing() && tries < TRIES => {
                    tries += 1;
                    self.forget(|last| Arc::ptr_eq(&last.view, &taken.view));
                }
                answered => return answered,
            }
        }
    }

    /// Gives back the memory of a view that is as old as that.
    pub fn let_go(&self, age: Duration) {
        self.forget(|last| last.age() >= age);
    }

    fn forget(&self, which: impl FnOnce(&Taken) -> bool) {
        let mut last = self.last.lock().unwrap_or_else(PoisonError::into_inner);
        if last.as_ref().is_some_and(which) {
            *last = None;
        }
    }

    fn take(&self, source: &StoreLocation, age_max: Duration) -> Result<Taken, QueryError> {
        // Held while it is opened: those who come meanwhile want the same.
        let mut last = self.last.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(taken) = last.as_ref().filter(|taken| taken.age() <= age_max) {
            return Ok(taken.clone());
        }
        *last = None; // its memory before the next one's
        let (as_of_ns, monotonic_ns) = (utc_now_ns(), monotonic_ns());
        let taken = Taken { view: Arc::new(source.view()?), monotonic_ns, as_of_ns };
        *last = Some(taken.clone());
        Ok(taken)
    }
}

impl Taken {
    fn age(&self) -> Duration {
        Duration::from_nanos(monotonic_ns().saturating_sub(self.monotonic_ns))
    }
}

impl StoreView {
    /// Answers a question about durations ([`crate::ask`]).
    ///
    /// # Errors
    /// [`QueryError`] when the rows cannot be read.
    pub fn ask(&self, question: &Question, limits: &Limits) -> Result<Answer, QueryError> {
        self.ask_watched(question, limits, &Progress::default())
    }

    /// Answers a question that others watch, and may end ([`crate::ask_watched`]).
    ///
    /// # Errors
    /// As [`Self::ask`], and `StoreError::Cancelled`.
    pub fn ask_watched(
        &self,
        question: &Question,
        limits: &Limits,
        progress: &Progress,
    ) -> Result<Answer, QueryError> {
        match self {
            Self::Files(snapshot) => Ok(ask_watched(snapshot, question, limits, progress)?),
            Self::Cluster(remote) => {
                let ask = || remote.ask(question, limits, progress);
                if let Some(answer) = remote.while_kept(question, ask)? {
                    return Ok(answer);
                }
                let rows = self.rows_of(&[question], limits, progress)?;
                Ok(ask_watched(&rows, question, limits, progress)?)
            }
        }
    }

    /// Answers a question about durations over parents and links ([`crate::ask_inputs`]).
    ///
    /// # Errors
    /// As [`crate::ask_inputs`].
    pub fn ask_inputs(
        &self,
        question: &Question,
        case: InputCase,
        limits: &Limits,
        progress: &Progress,
    ) -> Result<FanInAnswer, QueryError> {
        match self {
            Self::Files(snapshot) => ask_inputs(snapshot, question, case, limits, progress),
            Self::Cluster(remote) => remote.ask_inputs(question, case, limits, progress),
        }
    }

    /// The transactions of a chain, by start, looked for near a time ([`crate::chain`]); and what
    /// could not be read.
    ///
    /// # Errors
    /// [`QueryError`] when the rows cannot be read.
    pub fn chain(
        &self,
        id: ChainId,
        near_ns: Option<Range<i64>>,
    ) -> Result<(Vec<Transaction>, Vec<Damage>), QueryError> {
        match self {
            Self::Files(snapshot) => Ok(chain(snapshot, id, near_ns)?),
            Self::Cluster(remote) => Ok(remote.chain(id, near_ns)?),
        }
    }

    /// Statistics by class of the rows whose root started in a range ([`crate::classes`]); and what
    /// could not be read.
    ///
    /// # Errors
    /// [`QueryError`] when the rows cannot be read.
    pub fn classes(
        &self,
        start_ns: &Range<i64>,
    ) -> Result<(BTreeMap<ClassName, ClassStatistics>, Vec<Damage>), QueryError> {
        match self {
            Self::Files(snapshot) => Ok(classes(snapshot, start_ns)?),
            Self::Cluster(remote) => Ok(remote.classes(start_ns)?),
        }
    }

    /// Statistics by class and attributes of the rows whose root started in a range
    /// ([`crate::class_groups`]).
    ///
    /// # Errors
    /// As [`crate::class_groups`].
    pub fn class_groups(
        &self,
        start_ns: &Range<i64>,
        selection: &AttributeSelection,
        limits: &Limits,
        progress: &Progress,
    ) -> Result<ClassGroups, QueryError> {
        let rows = self.rows(std::slice::from_ref(start_ns), progress)?;
        class_groups(&rows, start_ns, selection, limits, progress)
    }

    /// The names of attributes ([`crate::attribute_names`]).
    ///
    /// # Errors
    /// As [`crate::attribute_names`].
    pub fn attribute_names(&self, rows: &AttributeRows<'_>) -> Result<AttributeNames, QueryError> {
        let snapshot = self.attribute_rows(rows)?;
        Ok(attribute_names(&snapshot, rows)?)
    }

    /// The values of an attribute ([`crate::attribute_values`]).
    ///
    /// # Errors
    /// As [`crate::attribute_values`].
    pub fn attribute_values(
        &self,
        key: &AttributeKey,
        rows: &AttributeRows<'_>,
    ) -> Result<AttributeValues, QueryError> {
        let snapshot = self.attribute_rows(rows)?;
        Ok(attribute_values(&snapshot, key, rows)?)
    }

    /// When services came to run another version ([`crate::service_versions`]).
    ///
    /// # Errors
    /// As [`crate::service_versions`].
    pub fn service_versions(
        &self,
        rows: &AttributeRows<'_>,
    ) -> Result<ServiceVersions, QueryError> {
        let snapshot = self.attribute_rows(rows)?;
        Ok(service_versions(&snapshot, rows)?)
    }

    /// From the first minute that has transactions to the end of the last one, by their roots'
    /// starts: UTC, nanoseconds since 1970. `None` when there are none.
    ///
    /// # Errors
    /// [`QueryError::ClickHouse`] when a shard does not answer.
    pub fn extent(&self) -> Result<Option<Range<i64>>, QueryError> {
        match self {
            Self::Files(snapshot) => Ok(snapshot.extent()),
            Self::Cluster(remote) => Ok(remote.extent()?),
        }
    }

    /// Number of stored rows.
    ///
    /// # Errors
    /// [`QueryError::ClickHouse`] when a shard does not answer.
    pub fn row_count(&self) -> Result<u64, QueryError> {
        match self {
            Self::Files(snapshot) => Ok(snapshot.row_count()),
            Self::Cluster(remote) => Ok(remote.row_count()?),
        }
    }

    /// The rows of the minutes that touch some ranges of root starts (UTC, nanoseconds since 1970);
    /// of files all rows. A cluster's are fetched, and kept for the next question.
    ///
    /// # Errors
    /// [`QueryError::ClickHouse`], [`QueryError::TooMuchToFetch`], and `StoreError::Cancelled`.
    pub fn rows(
        &self,
        start_ns: &[Range<i64>],
        progress: &Progress,
    ) -> Result<RowsView<'_>, QueryError> {
        match self {
            Self::Files(snapshot) => Ok(RowsView::of_files(snapshot)),
            Self::Cluster(remote) => {
                let needed: Vec<_> = start_ns.iter().filter_map(NeededMinutes::of_range).collect();
                remote.rows(&needed, progress)
            }
        }
    }

    /// The rows of a question about durations for [`ask_again`](crate::ask_again()), and, with the
    /// ids of chains, for [`scatter`](crate::scatter()) and [`list_chains`](crate::list_chains):
    /// of a cluster fewer columns than [`Self::rows_of`] where these suffice.
    ///
    /// # Errors
    /// As [`Self::rows`].
    pub fn leaf_rows_of(
        &self,
        question: &Question,
        with_chains: bool,
        limits: &Limits,
        progress: &Progress,
    ) -> Result<RowsView<'_>, QueryError> {
        if let Self::Cluster(remote) = self
            && let Some(rows) = remote.leaf_rows_of_all(question, with_chains, limits, progress)?
        {
            return Ok(rows);
        }
        self.rows_of(&[question], limits, progress)
    }

    /// The answer to a question about durations as [`ask_again`](crate::ask_again()) has it; of a
    /// cluster from durations that the shards compute, where these suffice.
    ///
    /// # Errors
    /// [`QueryError`] when the rows cannot be read.
    pub fn ask_again(
        &self,
        question: &Question,
        asking: &QueryEnvironment<'_>,
    ) -> Result<Answer, QueryError> {
        if let Self::Cluster(remote) = self {
            let ask = || remote.shard_answer(question, asking.limits, asking.progress);
            if let Some(ShardAnswer { rest, found }) = remote.while_kept(question, ask)?.flatten() {
                return Ok(ask_again_with(&rest, question, asking, found)?);
            }
        }
        let rows = self.leaf_rows_of(question, false, asking.limits, asking.progress)?;
        Ok(ask_again(&rows, question, asking)?)
    }

    /// A scattergram as [`scatter`](crate::scatter()) draws it; of a cluster of what the shards have
    /// counted, where that suffices.
    ///
    /// # Errors
    /// As [`Self::ask_again`].
    ///
    /// # Panics
    /// When there are no cells, or more than [`CELLS_MAX`](crate::CELLS_MAX).
    pub fn scatter(
        &self,
        question: &Question,
        raster: Raster,
        asking: &QueryEnvironment<'_>,
    ) -> Result<Scatter, QueryError> {
        let draw = |shards: &_| scatter_of_shards(shards, question, raster, asking);
        if let Some(drawn) = self.of_shards(question, asking, draw)? {
            return Ok(drawn);
        }
        let rows = self.leaf_rows_of(question, true, asking.limits, asking.progress)?;
        Ok(scatter(&rows, question, raster, asking)?)
    }

    /// Durations with their chains as [`list_chains`](crate::list_chains()) lists them; of a cluster
    /// those that the shards have found, where that suffices.
    ///
    /// # Errors
    /// As [`Self::ask_again`].
    pub fn list_chains(
        &self,
        question: &Question,
        (order, limit): (ChainOrder, usize),
        asking: &QueryEnvironment<'_>,
    ) -> Result<(u64, Vec<ChainPoint>), QueryError> {
        let list =
            |shards: &_| list_chains_of_shards(shards, question, (order, limit), asking).map(Some);
        if let Some(listed) = self.of_shards(question, asking, list)? {
            return Ok(listed);
        }
        let rows = self.leaf_rows_of(question, true, asking.limits, asking.progress)?;
        Ok(list_chains(&rows, question, (order, limit), asking)?)
    }

    /// What `find` makes of what the shards of a cluster say of leaves; `None` where these do not
    /// suffice, or it took longer than what was replaced meanwhile is kept.
    fn of_shards<T>(
        &self,
        question: &Question,
        asking: &QueryEnvironment<'_>,
        find: impl FnOnce(&ShardPicture) -> Result<Option<T>, QueryError>,
    ) -> Result<Option<T>, QueryError> {
        let Self::Cluster(remote) = self else { return Ok(None) };
        let found = remote.while_kept(question, || {
            let shards = remote.shard_picture(question, asking.limits, asking.progress)?;
            shards.as_ref().map_or(Ok(None), find)
        })?;
        Ok(found.flatten())
    }

    /// The rows that some questions about durations may need, as [`Self::rows`] has them.
    ///
    /// # Errors
    /// As [`Self::rows`].
    pub fn rows_of(
        &self,
        questions: &[&Question],
        limits: &Limits,
        progress: &Progress,
    ) -> Result<RowsView<'_>, QueryError> {
        match self {
            Self::Files(snapshot) => Ok(RowsView::of_files(snapshot)),
            Self::Cluster(remote) => {
                let of = |question: &&Question| NeededMinutes::of_question(question, limits);
                let needed: Vec<_> = questions.iter().filter_map(of).collect();
                remote.rows(&needed, progress)
            }
        }
    }

    /// The rows of a question about attributes: of a cluster only the newest, where these are enough.
    fn attribute_rows(&self, rows: &AttributeRows<'_>) -> Result<RowsView<'_>, QueryError> {
        match self {
            Self::Files(snapshot) => Ok(RowsView::of_files(snapshot)),
            Self::Cluster(remote) => {
                remote.newest_rows(&rows.start_ns, rows.most.unwrap_or(u64::MAX), rows.progress)
            }
        }
    }

    /// Cost of transactions by path, host and bin ([`crate::loads`]), and the parts that could not
    /// be read.
    ///
    /// # Errors
    /// [`QueryError`] when the rows cannot be read.
    pub fn loads(
        &self,
        start_ns: &Range<i64>,
        bin: std::time::Duration,
    ) -> Result<(Vec<PathLoads>, Vec<Damage>), QueryError> {
        let rows = self.rows(std::slice::from_ref(start_ns), &Progress::default())?;
        Ok(loads(&rows, start_ns, bin)?)
    }

    /// Statistics by path of the rows whose root started in a range ([`crate::paths()`]); and what
    /// could not be read.
    ///
    /// # Errors
    /// [`QueryError`] when the rows cannot be read, and `StoreError::Cancelled`.
    pub fn paths(
        &self,
        start_ns: &Range<i64>,
        progress: &Progress,
    ) -> Result<(BTreeMap<String, PathStatistics>, Vec<Damage>), QueryError> {
        match self {
            Self::Files(snapshot) => Ok(paths(snapshot, start_ns, progress)?),
            Self::Cluster(remote) => Ok(remote.paths(start_ns)?),
        }
    }

    /// The chain of a duration ([`crate::locate`]); `None` when it is no longer there.
    ///
    /// # Errors
    /// [`QueryError`] when the rows cannot be read.
    pub fn locate(&self, point: &Point) -> Result<Option<ChainId>, QueryError> {
        match self {
            Self::Files(snapshot) => Ok(locate(snapshot, point)?),
            Self::Cluster(remote) => Ok(remote.locate(point)?),
        }
    }

    /// Readings of the hosts' clocks at that moment.
    ///
    /// # Errors
    /// [`QueryError::ClickHouse`] when the first shard does not answer.
    pub fn clocks(&self) -> Result<ClockTable, QueryError> {
        match self {
            Self::Files(snapshot) => Ok(snapshot.clocks().clone()),
            Self::Cluster(remote) => Ok(remote.clocks()?),
        }
    }

    /// The classes that are known, ascending.
    ///
    /// # Errors
    /// [`QueryError`] when they cannot be read.
    pub fn names(&self) -> Result<Vec<ClassName>, QueryError> {
        match self {
            Self::Files(snapshot) => {
                let mut names: Vec<_> =
                    snapshot.names().classes().map(|(_, name)| name.clone()).collect();
                names.sort();
                Ok(names)
            }
            Self::Cluster(remote) => Ok(remote.class_names()?),
        }
    }
}

impl fmt::Display for StoreLocation {
    /// Writes the location for people, never with a password.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Files(dir) => write!(f, "{}", dir.display()),
            Self::Cluster(view) => fmt::Display::fmt(view.cluster(), f),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn dir(url: &str) -> String {
        let StoreLocation::Files(dir) = StoreLocation::open(url).unwrap() else { panic!("{url}") };
        dir.display().to_string()
    }

    #[test]
    fn files_by_url() {
        for (url, expected) in [
            ("data", "data"),
            ("/var/lib/data", "/var/lib/data"),
            ("file:data", "data"),
            ("file:/data", "/data"),
            ("file:///data", "/data"),
            ("file://localhost/data", "/data"),
        ] {
            assert_eq!(dir(url), expected, "{url}");
        }
    }

    #[test]
    fn what_is_not_known_is_refused() {
        for (url, reason) in [
            ("", "it is empty"),
            ("file:", "it does not name a directory"),
            ("oracle://host/db", "the scheme oracle: is not supported"),
        ] {
            let error = StoreLocation::open(url).unwrap_err().to_string();
            assert!(error.contains(reason), "{url}: {error}");
        }
    }

    #[test]
    fn a_directory_that_is_not_there_is_said() {
        let error = StoreLocation::open("file:/nowhere/at/all").unwrap().names().unwrap_err();
        assert!(error.is_missing(), "{error}");
    }
}
