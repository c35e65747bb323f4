//! Alarms and notifications that survive a restart: `rules/journal.json` in the data folder, or the
//! table `alarms` of a cluster ([`super::shared_journal`]).
//!
//! The file has the alarms that fire and the notifications that are not acknowledged. It is replaced
//! as a whole, and durable, before a notification is sent and after it was acknowledged: a
//! notification is never lost, and is sent twice only when the server ends between the
//! acknowledgement and the write. Both have the same key then ([`key`]).

use super::journal_content::{
    Acknowledgement, Content, Firing, Handling, Message, Notification, Silence, VERSION,
};
use super::shared_journal::SharedJournal;
use chronoscope_rules::{AlarmState, Change, Rule, Transition};
use sha2::{Digest, Sha256};
use std::io::{self, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

/// Notifications that wait at most; the oldest is dropped for one more.
const PENDING_MAX: usize = 10_000;

/// The journal of a server.
#[derive(Debug)]
pub(crate) struct Journal {
    place: JournalPlace,
    content: Content,
}

/// Where the journal is.
#[derive(Debug)]
enum JournalPlace {
    File(PathBuf),
    /// In a cluster, for all collectors before it.
    Shared(SharedJournal),
}

impl Journal {
    /// Reads the journal in a data folder; an empty one where there is none.
    ///
    /// # Errors
    /// When the file cannot be read, or is none of this version.
    pub(crate) fn open(data_dir: &Path) -> io::Result<Self> {
        let path = data_dir.join("rules").join("journal.json");
        let content = match std::fs::read(&path) {
            Ok(text) => serde_json::from_slice(&text)?,
            Err(error) if error.kind() == io::ErrorKind::NotFound => Content::new(),
            Err(error) => return Err(error),
        };
        match content.version {
            VERSION => Ok(Self { place: JournalPlace::File(path), content }),
            other => Err(io::Error::other(format!("version {other} of the journal is not known"))),
        }
    }

    /// Reads the journal of the collectors before a cluster.
    ///
    /// # Errors
    /// When the cluster does not answer, or a newer program wrote the journal.
    pub(crate) fn shared(shared: SharedJournal) -> io::Result<Self> {
        let place = JournalPlace::Shared(shared);
        let mut journal = Self { place, content: Content::new() };
        journal.refresh()?;
        Ok(journal)
    }

    /// Reads what other collectors have written meanwhile; a journal of this server alone is as it
    /// is. What could not be written before is written first.
    ///
    /// # Errors
    /// When the cluster does not answer; the journal is as it was then.
    pub(crate) fn refresh(&mut self) -> io::Result<()> {
        let JournalPlace::Shared(shared) = &mut self.place else { return Ok(()) };
        shared.write(&self.content)?;
        self.content = shared.read()?;
        Ok(())
    }

    /// Since when this journal has been read after (monotonic nanoseconds); `None` for a journal of
    /// this server alone.
    pub(crate) const fn refreshed_ns(&self) -> Option<u64> {
        match &self.place {
            JournalPlace::File(_) => None,
            JournalPlace::Shared(shared) => Some(shared.read_ns()),
        }
    }

    /// Whether a transition is in the journal already, or another collector has gone on without it.
    pub(crate) fn has(&self, rule: &Rule, transition: &Transition) -> bool {
        let JournalPlace::Shared(shared) = &self.place else { return false };
        let told_ns = self.content.firing.get(&rule.name).map(|firing| firing.told_ns);
        shared.knows(&key(rule, transition))
            || match (transition.change, told_ns) {
                (Change::Fired, told) => told.is_some(),
                (Change::Reminded, told) => told.is_none_or(|told| told >= transition.at_ns),
                (Change::Cleared, told) => told.is_none(),
            }
    }

    /// The stored state of a rule's alarm.
    pub(crate) fn state(&self, rule: &str) -> AlarmState {
        let firing = self.content.firing.get(rule);
        firing.map_or(AlarmState::Quiet, |Firing { since_ns, told_ns, .. }| AlarmState::Firing {
            since_ns: *since_ns,
            told_ns: *told_ns,
        })
    }

    /// Names of the rules whose alarms fire.
    pub(crate) fn firing_names(&self) -> impl Iterator<Item = &str> {
        self.content.firing.keys().map(String::as_str)
    }

    /// What people have said of a rule, at `now_ns`.
    pub(crate) fn handling(&self, rule: &Rule, now_ns: i64) -> Handling {
        let firing = self.content.firing.get(&rule.name);
        Handling {
            acknowledged: firing.and_then(|firing| firing.acknowledged.clone()),
            silence: self.silence(&rule.name, rule.group_of.as_deref(), now_ns).cloned(),
        }
    }

    /// The silence of a rule, or of the rule that it is a group of: the one that ends later.
    fn silence(&self, rule: &str, group_of: Option<&str>, now_ns: i64) -> Option<&Silence> {
        let names = std::iter::once(rule).chain(group_of);
        let silences = names.filter_map(|name| self.content.silences.get(name));
        let ongoing = silences.filter(|silence| silence.until_ns > now_ns);
        ongoing.max_by_key(|silence| silence.until_ns)
    }

    /// Acknowledges a rule's alarm; false when it does not fire.
    ///
    /// # Errors
    /// When the file cannot be written.
    pub(crate) fn acknowledge(&mut self, rule: &str, by: Acknowledgement) -> io::Result<bool> {
        // Another collector may have noted a moment ago that it fires.
        self.refresh()?;
        let before = self.before();
        let Some(firing) = self.content.firing.get_mut(rule) else { return Ok(false) };
        firing.acknowledged = Some(by);
        self.write_over(before)?;
        Ok(true)
    }

    /// Silences a rule; a silence that ends at once ends the one before.
    ///
    /// # Errors
    /// When the file cannot be written.
    pub(crate) fn silence_rule(&mut self, rule: &str, silence: Silence) -> io::Result<()> {
        let before = self.before();
        self.content.silences.insert(rule.to_owned(), silence);
        self.write_over(before)
    }

    /// Forgets the silences that have ended. The alarms that fired meanwhile and still fire are told
    /// now, to the recipients that `to` gives for a message: noted in the same write, so that no
    /// restart loses them. Returns the number of older notifications that had to be dropped.
    ///
    /// # Errors
    /// When the file cannot be written.
    pub(crate) fn end_silences(
        &mut self,
        now_ns: i64,
        to: impl Fn(&Message) -> Vec<String>,
    ) -> io::Result<usize> {
        let (before, content) = (self.content.silences.len(), self.before());
        self.content.silences.retain(|_, silence| silence.until_ns > now_ns);
        let Content { firing, silences, .. } = &mut self.content;
        let mut told = Vec::new();
        for (rule, alarm) in firing.iter_mut() {
            let is_silenced = silences.contains_key(rule)
                || alarm.group_of.as_ref().is_some_and(|rule| silences.contains_key(rule));
            if !alarm.is_told && !is_silenced {
                alarm.is_told = true;
                told.push(alarm.message.clone());
            }
        }
        if before == self.content.silences.len() && told.is_empty() {
            return Ok(0);
        }
        let dropped = told.iter().map(|message| self.queue(message, to(message))).sum();
        self.write_over(content)?;
        Ok(dropped)
    }

    /// Puts a message for these recipients behind those that wait. Returns the number of older ones
    /// that had to be dropped.
    fn queue(&mut self, message: &Message, to: impl IntoIterator<Item = String>) -> usize {
        let to = to.into_iter();
        let notifications = to.map(|to| Notification { to, message: message.clone() });
        self.content.pending.extend(notifications);
        let dropped = self.content.pending.len().saturating_sub(PENDING_MAX);
        self.content.pending.drain(..dropped);
        dropped
    }

    /// Notes a transition at `now_ns` with its message to these recipients: to nobody, while the rule
    /// is silenced; a reminder of an acknowledged alarm neither. That an alarm cleared is told to who
    /// was told that it fired. Returns the number of older notifications that had to be dropped.
    ///
    /// # Errors
    /// When the file cannot be written, and then the transition is noted in memory; or the cluster
    /// does not answer, and then it is not noted.
    pub(crate) fn note(
        &mut self,
        rule: &Rule,
        transition: &Transition,
        message: &Message,
        to: impl Iterator<Item = String>,
        now_ns: i64,
    ) -> io::Result<usize> {
        let content = self.before();
        let Transition { change, at_ns, since_ns } = *transition;
        let silenced = self.silence(&rule.name, rule.group_of.as_deref(), now_ns).is_some();
        let before = self.content.firing.remove(&rule.name);
        let was_told = before.as_ref().is_none_or(|firing| firing.is_told);
        let (first, acknowledged) = before.map_or((None, None), |firing| {
            (Some(firing.message).filter(|_| !firing.is_told), firing.acknowledged)
        });
        let is_told = match change {
            Change::Fired => !silenced,
            // Who was not told that it fires is told that first: when the silence ends.
            Change::Reminded => !silenced && was_told && acknowledged.is_none(),
            Change::Cleared => was_told,
        };
        if change != Change::Cleared {
            let told_before = change == Change::Reminded && was_told;
            let firing = Firing {
                since_ns,
                told_ns: at_ns,
                // Nobody was told that it fires: that is said first, when it may be said.
                message: first.unwrap_or_else(|| message.clone()),
                is_told: is_told || told_before,
                acknowledged,
                group_of: rule.group_of.clone(),
            };
            self.content.firing.insert(rule.name.clone(), firing);
        }
        let dropped = self.queue(message, to.filter(|_| is_told));
        if let JournalPlace::Shared(shared) = &mut self.place {
            shared.add_transition(message);
        }
        self.write_over(content)?;
        Ok(dropped)
    }

    /// The last messages of the alarms that fire, without those of silenced rules.
    pub(crate) fn firing(&self, now_ns: i64) -> impl Iterator<Item = &Message> {
        let heard = self.content.firing.iter();
        let heard = heard.filter(move |(rule, firing)| {
            let silence = self.silence(rule, firing.group_of.as_deref(), now_ns);
            firing.is_told && silence.is_none()
        });
        heard.map(|(_, firing)| &firing.message)
    }

    /// The oldest notification for a recipient.
    pub(crate) fn first(&self, to: &str) -> Option<&Notification> {
        self.content.pending.iter().find(|notification| notification.to == to)
    }

    /// Removes a notification that was acknowledged or given up.
    ///
    /// # Errors
    /// When the file cannot be written.
    pub(crate) fn done(&mut self, notification: &Notification) -> io::Result<()> {
        self.content.pending.retain(|other| other != notification);
        self.write()
    }

    /// Removes the notifications for others than these recipients; their number.
    pub(crate) fn retain(&mut self, recipients: &[String]) -> usize {
        let before = self.content.pending.len();
        self.content.pending.retain(|notification| recipients.contains(&notification.to));
        before - self.content.pending.len()
    }

    /// The content, to go back to; `None` where what is not written stays in memory.
    fn before(&self) -> Option<Content> {
        matches!(self.place, JournalPlace::Shared(_)).then(|| self.content.clone())
    }

    /// Writes; a change that a cluster does not take was not made: it might be another collector's
    /// to make when the cluster answers again.
    fn write_over(&mut self, before: Option<Content>) -> io::Result<()> {
        let written = self.write();
        if let (Err(_), Some(before), JournalPlace::Shared(shared)) =
            (&written, before, &mut self.place)
        {
            self.content = before;
            shared.forget_new();
        }
        written
    }

    fn write(&mut self) -> io::Result<()> {
        let path = match &mut self.place {
            JournalPlace::File(path) => path,
            JournalPlace::Shared(shared) => return shared.write(&self.content),
        };
        let folder = path.parent().unwrap_or(path);
        std::fs::create_dir_all(folder)?;
        let new = path.with_extension("new");
        // URLs of recipients may be secrets.
        let mut options = std::fs::OpenOptions::new();
        let mut file = options.write(true).create(true).truncate(true).mode(0o600).open(&new)?;
        file.write_all(&serde_json::to_vec(&self.content)?)?;
        file.sync_all()?;
        std::fs::rename(&new, &*path)?;
        std::fs::File::open(folder)?.sync_all()
    }
}

/// The key of a transition.
pub(super) fn key(rule: &Rule, transition: &Transition) -> String {
    let mut hash = Sha256::new();
    // The last two lines are the change and the time, whatever is in the name of a group.
    let text = format!("{}\n{}\n{}", rule.name, transition.change.name(), transition.at_ns);
    hash.update(text.as_bytes());
    hash.finalize().iter().take(16).map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use chronoscope_rules::RuleFile;

    fn rule() -> Rule {
        let text = "[[limit]]\nname = 'n'\nclass = 'a'\nabsence = '10s'";
        RuleFile::parse(text).unwrap().rules.remove(0)
    }

    fn message(transition: &Transition) -> Message {
        Message {
            key: key(&rule(), transition),
            change: transition.change.name().to_owned(),
            rule: "n".to_owned(),
            severity: String::new(),
            what: String::new(),
            meaning: String::new(),
            finding: String::new(),
            cause: String::new(),
            group_of: None,
            at_ns: transition.at_ns,
            since_ns: transition.since_ns,
            link: String::new(),
            slowest: None,
        }
    }

    const fn at(change: Change, at_ns: i64) -> Transition {
        Transition { change, at_ns, since_ns: 7 }
    }

    /// Notes a transition as it happens, to one recipient.
    fn note(journal: &mut Journal, change: Change, at_ns: i64) {
        let transition = at(change, at_ns);
        let to = std::iter::once("a".to_owned());
        journal.note(&rule(), &transition, &message(&transition), to, at_ns).unwrap();
    }

    /// What was told, and is acknowledged by its recipient with that.
    fn told(journal: &mut Journal) -> Vec<String> {
        let mut told = Vec::new();
        while let Some(first) = journal.first("a").cloned() {
            journal.done(&first).unwrap();
            told.push(format!("{} {}", first.message.change, first.message.at_ns));
        }
        told
    }

    #[test]
    fn what_is_noted_is_there_again_until_it_is_done() {
        let dir = tempfile::tempdir().unwrap();
        let mut journal = Journal::open(dir.path()).unwrap();
        assert_eq!(journal.state("n"), AlarmState::Quiet);
        note(&mut journal, Change::Fired, 7);
        let mut again = Journal::open(dir.path()).unwrap();
        assert_eq!(again.state("n"), AlarmState::Firing { since_ns: 7, told_ns: 7 });
        assert_eq!(told(&mut again), ["fired 7"]);
        let (fired, cleared) = (at(Change::Fired, 7), at(Change::Cleared, 9));
        assert_ne!(key(&rule(), &cleared), key(&rule(), &fired));
        let nobody = std::iter::empty();
        again.note(&rule(), &cleared, &message(&cleared), nobody, 9).unwrap();
        let last = Journal::open(dir.path()).unwrap();
        assert_eq!((last.state("n"), last.first("a")), (AlarmState::Quiet, None));
        std::fs::write(
            dir.path().join("rules/journal.json"),
            "{\"version\":2,\"firing\":{},\"pending\":[]}",
        )
        .unwrap();
        assert!(Journal::open(dir.path()).is_err());
    }

    #[test]
    fn an_acknowledged_alarm_reminds_nobody_and_clears_aloud() {
        let dir = tempfile::tempdir().unwrap();
        let mut journal = Journal::open(dir.path()).unwrap();
        let by = || Acknowledgement { at_ns: 8, by: "night shift".to_owned() };
        assert!(!journal.acknowledge("n", by()).unwrap(), "it does not fire");
        note(&mut journal, Change::Fired, 7);
        assert!(journal.acknowledge("n", by()).unwrap());
        note(&mut journal, Change::Reminded, 20);
        let mut journal = Journal::open(dir.path()).unwrap();
        assert_eq!(journal.handling(&rule(), 21).acknowledged, Some(by()));
        note(&mut journal, Change::Cleared, 30);
        assert_eq!(told(&mut journal), ["fired 7", "cleared 30"]);
        assert_eq!(journal.handling(&rule(), 31), Handling::default());
        note(&mut journal, Change::Fired, 40);
        note(&mut journal, Change::Reminded, 50);
        assert_eq!(
            told(&mut journal),
            ["fired 40", "reminded 50"],
            "of the next one they are told"
        );
    }

    #[test]
    fn a_silence_of_a_rule_is_one_of_all_its_groups() {
        let dir = tempfile::tempdir().unwrap();
        let mut journal = Journal::open(dir.path()).unwrap();
        let text = "[[limit]]\nname = 'n'\nclass = 'a'\nlimit = '1s'\nby = 'k'";
        let acme = RuleFile::parse(text).unwrap().rules[0].of_group("acme").unwrap();
        let silence = |until_ns| Silence { until_ns, by: String::new() };
        journal.silence_rule("n", silence(100)).unwrap();
        journal.silence_rule("n[k=acme]", silence(50)).unwrap();
        assert_eq!(journal.handling(&acme, 20).silence, Some(silence(100)));
        let fired = at(Change::Fired, 30);
        let to = || std::iter::once("a".to_owned());
        journal.note(&acme, &fired, &message(&fired), to(), 30).unwrap();
        let mut journal = Journal::open(dir.path()).unwrap();
        journal.end_silences(60, |_| vec!["a".to_owned()]).unwrap();
        assert_eq!((told(&mut journal).len(), journal.firing(60).count()), (0, 0));
        journal.end_silences(100, |_| vec!["a".to_owned()]).unwrap();
        assert_eq!((told(&mut journal).len(), journal.firing(100).count()), (1, 1));
        assert_eq!(journal.firing_names().collect::<Vec<_>>(), ["n[k=acme]"]);
    }

    #[test]
    fn of_a_silenced_rule_nobody_is_told_until_its_end() {
        let dir = tempfile::tempdir().unwrap();
        let mut journal = Journal::open(dir.path()).unwrap();
        let silence = |until_ns| Silence { until_ns, by: String::new() };
        let queue = |journal: &mut Journal, now_ns| {
            assert_eq!(journal.end_silences(now_ns, |_| vec!["a".to_owned()]).unwrap(), 0);
        };
        journal.silence_rule("n", silence(100)).unwrap();
        note(&mut journal, Change::Fired, 10);
        note(&mut journal, Change::Cleared, 20);
        assert_eq!(told(&mut journal), [""; 0], "who does not know of it needs no all-clear");
        note(&mut journal, Change::Fired, 30);
        note(&mut journal, Change::Reminded, 40);
        queue(&mut journal, 99);
        assert_eq!((told(&mut journal).len(), journal.firing(99).count()), (0, 0));
        let mut journal = Journal::open(dir.path()).unwrap();
        queue(&mut journal, 100);
        queue(&mut journal, 101);
        assert_eq!(told(&mut journal), ["fired 30"], "once");
        assert_eq!(journal.firing(101).count(), 1);
        journal.silence_rule("n", silence(200)).unwrap();
        note(&mut journal, Change::Cleared, 150);
        assert_eq!(told(&mut journal), ["cleared 150"], "who knows of it is told of its end");
        assert_eq!(journal.handling(&rule(), 199).silence, Some(silence(200)));
        assert_eq!(journal.handling(&rule(), 200).silence, None);
    }
}
