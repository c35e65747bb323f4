//! Notifications of a running server: what is queued, and when it is sent.

use super::count::question;
use super::journal::{Journal, key};
use super::journal_content::{Message, Slowest};
use super::send::{SendError, send};
use super::shared_journal::SharedJournal;
use crate::collectors::Collectors;
use crate::log::LogLine;
use chronoscope_clock as clock;
use chronoscope_query::{
    DurationCache, Limits, Point, Progress, QueryEnvironment, QueryError, Question, StoreView, hops,
};
use chronoscope_rules::{Destination, Judged, Rule, RuleFile, RuleSubject, Transition};
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::Duration;

/// Interval at which waiting notifications are looked for.
const EVERY: Duration = Duration::from_millis(250);
/// Pause after a failed attempt; it doubles up to the longest.
const PAUSE_NS: u64 = 1_000_000_000;
const PAUSE_NS_MAX: u64 = 300_000_000_000;
/// Attempts at a notification that its recipient refuses; then it is given up.
const REFUSED_MAX: u32 = 10;
/// Interval at which alerts that fire are sent to an Alertmanager again, which forgets them
/// otherwise.
const REFRESH_NS: u64 = 60_000_000_000;
/// Time before the windows of an alarm whose durations are compared with the slow ones as well.
const CONTEXT_NS: i64 = 600_000_000_000;
/// Chains of each side whose hops are compared, at most.
const SAMPLED_MAX: usize = 2_000;

/// Sends the notifications of a server while it lives.
#[derive(Debug)]
pub(crate) struct Notifier {
    journal: Mutex<Journal>,
    destinations: Vec<Destination>,
    page: Option<String>,
    /// `None` where this server alone notifies.
    collectors: Option<Arc<Collectors>>,
}

/// Attempts at a recipient's first notification.
#[derive(Clone, Copy, Debug, Default)]
struct Attempts {
    count: u32,
    /// Monotonic nanoseconds.
    not_before_ns: u64,
    refreshed_ns: u64,
}

impl Notifier {
    /// Begins to send what waits in the journal of a data folder and what comes.
    ///
    /// # Errors
    /// When the journal cannot be read.
    pub(crate) fn start(data_dir: &Path, file: &RuleFile) -> std::io::Result<Arc<Self>> {
        let mut journal = Journal::open(data_dir)?;
        let dropped = journal.retain(&recipients(file));
        if dropped > 0 {
            let reason = "their destinations are no longer in the file of rules";
            LogLine::warn("notifications_dropped")
                .with("count", dropped)
                .with("reason", reason)
                .say();
        }
        Self::sending(journal, file, None)
    }

    /// The same for all collectors before a cluster, of which one notifies.
    ///
    /// # Errors
    /// When the journal cannot be read.
    pub(crate) fn start_shared(
        collectors: Arc<Collectors>,
        file: &RuleFile,
    ) -> std::io::Result<Arc<Self>> {
        let shared = SharedJournal::new(collectors.clone(), recipients(file));
        Self::sending(Journal::shared(shared)?, file, Some(collectors))
    }

    fn sending(
        journal: Journal,
        file: &RuleFile,
        collectors: Option<Arc<Collectors>>,
    ) -> std::io::Result<Arc<Self>> {
        let notifier = Arc::new(Self {
            journal: Mutex::new(journal),
            destinations: file.destinations.clone(),
            page: file.page.clone(),
            collectors,
        });
        // A thread for each, so that one that does not answer delays no other.
        for index in 0..notifier.destinations.len() {
            let sender = Arc::downgrade(&notifier);
            let thread = std::thread::Builder::new().name("notify".to_owned());
            thread.spawn(move || deliver(&sender, index))?;
        }
        Ok(notifier)
    }

    /// The journal, for the states of alarms.
    pub(crate) fn journal(&self) -> MutexGuard<'_, Journal> {
        lock(&self.journal)
    }

    /// The collectors before the cluster; `None` where this server alone notifies.
    pub(super) const fn collectors(&self) -> Option<&Arc<Collectors>> {
        self.collectors.as_ref()
    }

    /// Whether this server is the one that notifies, and knows all that was sent before.
    pub(super) fn may_notify(&self) -> bool {
        let Some(collectors) = &self.collectors else { return true };
        let refreshed_ns = self.journal().refreshed_ns();
        // Another one may have sent until the lead began.
        collectors.leads_since().is_some_and(|since_ns| refreshed_ns > Some(since_ns))
    }

    /// Queues the notifications of a transition, with what is slow in its windows; false where it
    /// could not be noted.
    pub(crate) fn queue(
        &self,
        rule: &Rule,
        judged: &Judged,
        transition: &Transition,
        slow: SlowChains,
    ) -> bool {
        let message = self.message(rule, judged, transition, slow);
        let told = self.destinations.iter().filter(|to| to.is_told_of(&rule.severity));
        let told = told.map(|to| to.recipient.id());
        let noted = self.journal().note(rule, transition, &message, told, clock::utc_now_ns());
        let is_noted = noted.is_ok();
        log_noted(noted);
        is_noted
    }

    /// Tells of the alarms that fired while their rule was silenced, and still fire.
    pub(crate) fn end_silences(&self) {
        let to = |message: &Message| {
            let told = self.destinations.iter().filter(|to| to.is_told_of(&message.severity));
            told.map(|to| to.recipient.id()).collect()
        };
        let ended = self.journal().end_silences(clock::utc_now_ns(), to);
        log_noted(ended);
    }

    fn message(
        &self,
        rule: &Rule,
        judged: &Judged,
        transition: &Transition,
        SlowChains { slowest, cause }: SlowChains,
    ) -> Message {
        let page = self.page.as_deref();
        let slowest = slowest.map(|(point, chain)| Slowest {
            link: page.map_or_else(String::new, |page| {
                format!("{page}/chain/{chain}?near_ns={}", point.start_ns)
            }),
            duration_ns: point.duration_ns,
            chain,
        });
        Message {
            key: key(rule, transition),
            change: transition.change.name().to_owned(),
            rule: rule.name.clone(),
            severity: rule.severity.clone(),
            what: rule.what(),
            meaning: rule.sentence(),
            finding: rule.finding(&judged.windows, judged.usual),
            cause,
            group_of: rule.group_of.clone(),
            at_ns: transition.at_ns,
            since_ns: transition.since_ns,
            link: page.map_or_else(String::new, |page| link(page, rule, transition)),
            slowest,
        }
    }

    /// Sends a destination's first notification, if its time has come.
    fn deliver_one(&self, to: &Destination, attempts: &mut Attempts) {
        let now_ns = clock::monotonic_ns();
        if now_ns < attempts.not_before_ns || !self.may_notify() {
            return;
        }
        let name = to.recipient.to_string();
        let Some(first) = self.journal().first(&to.recipient.id()).cloned() else {
            return self.refresh(to, attempts, now_ns);
        };
        let outcome = send(&to.recipient, &first.message, clock::utc_now_ns());
        let line = |event: LogLine| {
            event
                .with("to", &name)
                .with("rule", &first.message.rule)
                .with("key", &first.message.key)
        };
        attempts.count += 1;
        let is_over = match &outcome {
            Ok(()) => {
                line(LogLine::info("notified")).with("change", &first.message.change).say();
                true
            }
            Err(SendError::Refused(reason)) if attempts.count >= REFUSED_MAX => {
                line(LogLine::error("notification_given_up")).with("reason", reason).say();
                true
            }
            Err(error) => {
                let pause_ns = PAUSE_NS << (attempts.count - 1).min(16);
                attempts.not_before_ns =
                    clock::monotonic_ns().saturating_add(pause_ns.min(PAUSE_NS_MAX));
                line(LogLine::warn("not_notified")).with("error", error).say();
                false
            }
        };
        if is_over {
            *attempts = Attempts { refreshed_ns: clock::monotonic_ns(), ..Attempts::default() };
            if let Err(error) = self.journal().done(&first) {
                LogLine::error("rules_journal").with("error", error).say();
            }
        }
    }

    /// Sends the alerts that fire to an Alertmanager again.
    fn refresh(&self, to: &Destination, attempts: &mut Attempts, now_ns: u64) {
        let is_due = now_ns.saturating_sub(attempts.refreshed_ns) >= REFRESH_NS;
        if !is_due || !matches!(to.recipient, chronoscope_rules::Recipient::Alertmanager { .. }) {
            return;
        }
        attempts.refreshed_ns = now_ns;
        let firing: Vec<Message> = self.journal().firing(clock::utc_now_ns()).cloned().collect();
        for message in firing.iter().filter(|message| to.is_told_of(&message.severity)) {
            if let Err(error) = send(&to.recipient, message, clock::utc_now_ns()) {
                let line = LogLine::warn("not_notified").with("to", to.recipient.to_string());
                line.with("rule", &message.rule).with("error", error).say();
            }
        }
    }
}

/// The ids of a file's recipients.
fn recipients(file: &RuleFile) -> Vec<String> {
    file.destinations.iter().map(|to| to.recipient.id()).collect()
}

/// Logs that notifications were dropped, or that the journal could not be written.
fn log_noted(noted: std::io::Result<usize>) {
    match noted {
        Ok(0) => {}
        Ok(dropped) => {
            let reason = "more than 10,000 wait";
            let line = LogLine::error("notifications_dropped").with("count", dropped);
            line.with("reason", reason).say();
        }
        Err(error) => LogLine::error("rules_journal").with("error", error).say(),
    }
}

/// Sends to one destination until the notifier is gone.
fn deliver(notifier: &Weak<Notifier>, index: usize) {
    let mut attempts = Attempts::default();
    loop {
        let Some(notifier) = notifier.upgrade() else { return };
        if let Some(to) = notifier.destinations.get(index) {
            notifier.deliver_one(to, &mut attempts);
        }
        drop(notifier);
        clock::sleep(EVERY);
    }
}

/// Range of the windows of a transition: UTC, nanoseconds since 1970.
fn range_ns(rule: &Rule, transition: &Transition) -> std::ops::Range<i64> {
    let shortest_ns = rule.condition.windows_ns().into_iter().min().unwrap_or_default();
    let begin_ns = transition.since_ns.saturating_sub_unsigned(shortest_ns);
    begin_ns..transition.at_ns
}

/// The scattergram of the rule's subject at the time of a transition.
fn link(page: &str, rule: &Rule, transition: &Transition) -> String {
    let range_ns = range_ns(rule, transition);
    let mut query = match &rule.subject {
        RuleSubject::Class(class) => vec![("kind", "sync".to_owned()), ("root", class.0.clone())],
        RuleSubject::Chain { root, leaf, level } => {
            let mut query = vec![("kind", "acpd".to_owned()), ("root", root.0.clone())];
            query.push(("leaf", leaf.0.clone()));
            query.extend(level.map(|level| ("level", level.to_string())));
            query
        }
    };
    let filters = rule.attributes.filters().iter();
    query.extend(filters.map(|filter| ("where", filter.to_string())));
    query.extend(rule.condition.limit_ns().map(|limit_ns| ("limit_ns", limit_ns.to_string())));
    query.push(("from_ns", range_ns.start.to_string()));
    query.push(("until_ns", range_ns.end.to_string()));
    let query = serde_urlencoded::to_string(query).unwrap_or_default();
    format!("{page}/scatter?{query}")
}

/// What is slow in the windows of a transition.
#[derive(Debug, Default)]
pub(super) struct SlowChains {
    /// The slowest duration above the limit, and its chain.
    slowest: Option<(Point, String)>,
    /// The hop that makes the difference, in a sentence; empty where it is not known.
    cause: String,
}

impl SlowChains {
    /// Finds the slowest chain, and compares those above the limit with the others hop by hop.
    pub(super) fn find(
        (view, cache): (&StoreView, &DurationCache),
        rule: &Rule,
        transition: &Transition,
    ) -> Result<Self, QueryError> {
        let Some(limit_ns) = rule.condition.limit_ns() else { return Ok(Self::default()) };
        let slow = Question {
            start_ns: range_ns(rule, transition),
            duration_ns: limit_ns.saturating_add(1)..=u64::MAX,
            ..question(rule)
        };
        let slowest = slowest(view, &slow)?;
        let cause = match (&slowest, &rule.subject) {
            (Some(_), RuleSubject::Chain { .. }) => {
                let (limits, progress) = (Limits::default(), Progress::default());
                let environment = QueryEnvironment { limits: &limits, progress: &progress, cache };
                // The minutes before are of the usual, also where all of the window are slow.
                let context = slow.start_ns.start.saturating_sub(CONTEXT_NS)..slow.start_ns.end;
                let all = Question { start_ns: context.clone(), ..slow.clone() };
                let rows = view.rows_of(&[&all], &limits, &progress)?;
                hops(&rows, &slow, (context, SAMPLED_MAX), &environment)?.sentence
            }
            _ => String::new(),
        };
        Ok(Self { slowest, cause })
    }
}

/// The slowest of these durations, and its chain.
fn slowest(view: &StoreView, slow: &Question) -> Result<Option<(Point, String)>, QueryError> {
    let answer = view.ask(&Question { points: true, ..slow.clone() }, &Limits::default())?;
    let Some(point) = answer.points.iter().max_by_key(|point| point.duration_ns) else {
        return Ok(None);
    };
    Ok(view.locate(point)?.map(|chain| (*point, chain.to_string())))
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
