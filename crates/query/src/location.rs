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
use crate::class_groups::{ClassGroups, class_groups};
use crate::classes::{ClassStatistics, classes};
use crate::cluster::ClusterView;
use crate::error::QueryError;
use crate::excerpts::excerpts;
use crate::fan_in::{FanInAnswer, ask_inputs};
use crate::fetch::chain;
use crate::loads::{PathLoads, loads};
use crate::locate::locate;
use crate::progress::Progress;
use crate::question::{Limits, Question};
use crate::run::ask_watched;
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
    /// A ClickHouse cluster.
    Cluster(Cluster),
}

/// Stored transactions at one moment.
#[derive(Debug)]
#[allow(clippy::large_enum_variant)] // one at a time, never in a collection
pub enum StoreView {
    /// A snapshot of files.
    Files(Snapshot),
    /// A cluster, which changes meanwhile: a later question may see newer rows.
    Cluster(ClusterView),
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
            Some(("clickhouse" | "clickhouses", _)) => Ok(Self::Cluster(Cluster::new(url)?)),
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
            Self::Cluster(cluster) => StoreView::Cluster(ClusterView::new(cluster.clone())),
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
            Self::Cluster(cluster) => {
                Ok(ClusterView::new(cluster.clone()).excerpts(class, start_ns, each)?)
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
            Self::Cluster(remote) => remote.ask(question, limits, progress),
        }
    }

    /// Answers a question about durations over parents and links ([`crate::ask_inputs`]).
    ///
    /// # Errors
    /// As [`crate::ask_inputs`]; a cluster does not answer this.
    pub fn ask_inputs(
        &self,
        question: &Question,
        case: InputCase,
        limits: &Limits,
        progress: &Progress,
    ) -> Result<FanInAnswer, QueryError> {
        match self {
            Self::Files(snapshot) => ask_inputs(snapshot, question, case, limits, progress),
            Self::Cluster(_) => {
                Err(QueryError::OfFilesOnly { what: "durations over several parents" })
            }
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
    /// As [`crate::class_groups`]; a cluster does not answer this.
    pub fn class_groups(
        &self,
        start_ns: &Range<i64>,
        selection: &AttributeSelection,
        limits: &Limits,
        progress: &Progress,
    ) -> Result<ClassGroups, QueryError> {
        match self {
            Self::Files(snapshot) => class_groups(snapshot, start_ns, selection, limits, progress),
            Self::Cluster(_) => Err(QueryError::OfFilesOnly { what: "classes by attributes" }),
        }
    }

    /// The names of attributes ([`crate::attribute_names`]).
    ///
    /// # Errors
    /// As [`crate::attribute_names`]; a cluster does not answer this.
    pub fn attribute_names(&self, rows: &AttributeRows<'_>) -> Result<AttributeNames, QueryError> {
        match self {
            Self::Files(snapshot) => Ok(attribute_names(snapshot, rows)?),
            Self::Cluster(_) => Err(QueryError::OfFilesOnly { what: "the names of attributes" }),
        }
    }

    /// The values of an attribute ([`crate::attribute_values`]).
    ///
    /// # Errors
    /// As [`crate::attribute_values`]; a cluster does not answer this.
    pub fn attribute_values(
        &self,
        key: &AttributeKey,
        rows: &AttributeRows<'_>,
    ) -> Result<AttributeValues, QueryError> {
        match self {
            Self::Files(snapshot) => Ok(attribute_values(snapshot, key, rows)?),
            Self::Cluster(_) => Err(QueryError::OfFilesOnly { what: "the values of attributes" }),
        }
    }

    /// When services came to run another version ([`crate::service_versions`]).
    ///
    /// # Errors
    /// As [`crate::service_versions`]; a cluster does not answer this.
    pub fn service_versions(
        &self,
        rows: &AttributeRows<'_>,
    ) -> Result<ServiceVersions, QueryError> {
        match self {
            Self::Files(snapshot) => Ok(service_versions(snapshot, rows)?),
            Self::Cluster(_) => Err(QueryError::OfFilesOnly { what: "the versions of services" }),
        }
    }

    /// From the first minute that has transactions to the end of the last one, by their roots'
    /// starts: UTC, nanoseconds since 1970. `None` when there are none.
    ///
    /// # Errors
    /// A cluster does not answer this.
    pub fn extent(&self) -> Result<Option<Range<i64>>, QueryError> {
        match self {
            Self::Files(snapshot) => Ok(snapshot.extent()),
            Self::Cluster(_) => Err(QueryError::Url {
                url: "clickhouse:".to_owned(),
                reason: "the time span of the transactions cannot be queried from a cluster: give \
                         the time (--from and --until)"
                    .to_owned(),
            }),
        }
    }

    /// Cost of transactions by path, host and bin ([`crate::loads`]), and the parts that could not
    /// be read.
    ///
    /// # Errors
    /// [`QueryError`] when the rows cannot be read. A cluster does not answer this.
    pub fn loads(
        &self,
        start_ns: &Range<i64>,
        bin: std::time::Duration,
    ) -> Result<(Vec<PathLoads>, Vec<Damage>), QueryError> {
        match self {
            Self::Files(snapshot) => Ok(loads(snapshot, start_ns, bin)?),
            Self::Cluster(_) => Err(QueryError::Url {
                url: "clickhouse:".to_owned(),
                reason: "what transactions cost by path and host is answered from files only: let \
                         agents deliver to chronoscope serve --data DIR for a while; a cluster \
                         answers --growth"
                    .to_owned(),
            }),
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

    /// Readings of the hosts' clocks at that moment; empty for a cluster, which keeps no readings.
    pub fn clocks(&self) -> ClockTable {
        match self {
            Self::Files(snapshot) => snapshot.clocks().clone(),
            Self::Cluster(_) => ClockTable::default(),
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
            Self::Cluster(cluster) => fmt::Display::fmt(cluster, f),
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
