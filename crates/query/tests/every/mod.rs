//! Every question that can be asked of stored rows, with its whole answer in words: what one store
//! says is compared with what another says that has the same rows. Those about leaves: [`leaves`].
#![allow(dead_code, unreachable_pub)] // every test uses some of it
#![allow(clippy::unwrap_used)] // a test may panic

pub mod leaves;

use chronoscope_model::{ChainId, ClassName, Transaction};
use chronoscope_query::{
    Answer, AttributeContrast, AttributeKey, AttributeRows, AttributeSelection, ChainOrder,
    ClassSelector, Clocks, DurationCache, InputCase, Limits, Point, Progress, QueryEnvironment,
    Question, Raster, Receivers, Required, SlowLimit, StoreLocation, StoreView, VerdictSubject,
    WorstBy, WorstQuery, compare, compared_attributes, hops, sample, selected_attributes,
    slow_attributes, worst,
};
use chronoscope_statistics::Scale;
use chronoscope_store::{MINUTE_NS, Snapshot};
use std::collections::HashSet;
use std::fmt::Debug;
use std::ops::Range;
use std::sync::Mutex;

/// Answers by their questions.
#[derive(Default)]
pub struct Answers(pub Vec<(String, String)>);

impl Answers {
    // In one line: to lay them out would take longer than to ask for them.
    fn add(&mut self, question: impl Into<String>, answer: &impl Debug) {
        self.0.push((question.into(), format!("{answer:?}")));
    }

    /// The answer to the first question of a name.
    pub fn of(&self, name: &str) -> &str {
        &self.0.iter().find(|(question, _)| question == name).unwrap().1
    }

    /// Notes where two stores do not give the same answers, for [`assert_no_difference`].
    pub fn compare(&self, expected: &Self, what: &str) {
        assert_eq!(self.0.len(), expected.0.len(), "{what}");
        for ((question, found), (_, expected)) in self.0.iter().zip(&expected.0) {
            if found == expected {
                continue;
            }
            // Where they begin to differ, with what stands before.
            let same = found.chars().zip(expected.chars()).take_while(|(a, b)| a == b).count();
            let near = |text: &str| -> String {
                text.chars().skip(same.saturating_sub(300)).take(500).collect()
            };
            let (found, expected) = (near(found), near(expected));
            let difference = format!("{what}, {question}:\n{found}\nexpected:\n{expected}");
            DIFFERENCES.lock().unwrap().push(difference);
        }
    }
}

static DIFFERENCES: Mutex<Vec<String>> = Mutex::new(Vec::new());

/// Panics where answers differed, with the first of each question.
pub fn assert_no_difference() {
    let all = DIFFERENCES.lock().unwrap();
    let shown: Vec<&str> = all.iter().map(String::as_str).take(20).collect();
    assert!(all.is_empty(), "{} answers differ:\n{}", all.len(), shown.join("\n\n"));
}

/// Everything in an answer that does not depend on how a store keeps its rows.
pub fn told(answer: &Answer) -> Answer {
    let mut answer = Answer { rows_read: 0, ..answer.clone() };
    for arrivals in answer.arrivals.iter_mut() {
        // They are in no order.
        for totals in [&mut arrivals.totals, &mut arrivals.judged] {
            totals.exact_ns.sort_unstable();
            totals.bounds_ns.sort_unstable();
        }
    }
    answer
}

/// Questions about durations, of every kind.
pub fn questions() -> Vec<(String, Question)> {
    let mut all: Vec<(String, Question)> = super::world::questions(Some(500))
        .into_iter()
        .map(|(name, question)| (name.to_owned(), question))
        .collect();
    let acpd = || Question { limit_ns: Some(500), points: true, ..Question::acpd("X::a", "c") };
    let minute = 101 * MINUTE_NS..102 * MINUTE_NS;
    let attributes = |filters: &[&str], by: &[&str]| Question {
        attributes: AttributeSelection::parse(filters, by).unwrap(),
        ..acpd()
    };
    let judged = |judged| Question { judged, ..acpd() };
    let each_root = |required, receivers, timeout_ns| {
        judged(VerdictSubject::Roots { required, receivers, timeout_ns })
    };
    let more = [
        ("hosts", Question { hosts: vec!["two".into(), "three".into()], ..acpd() }),
        ("a host of whole chains", Question { hosts: vec!["two".into()], ..Question::apcd("a") }),
        ("lengths alone", Question { points: false, ..acpd() }),
        ("a path", Question { path: Some("X::a/X::b/Y::c".into()), ..acpd() }),
        ("lengths", Question { duration_ns: 200..=700, start_ns: minute.clone(), ..acpd() }),
        ("corrected clocks", Question { clocks: Clocks::Corrected, ..acpd() }),
        ("each, lengths alone", Question { limit_ns: Some(300), ..Question::sync("Y::c") }),
        ("each of some lengths on hosts", {
            let hosts = vec!["two".into(), "three".into()];
            Question { hosts, duration_ns: 100..=300, start_ns: part(), ..Question::sync("d") }
        }),
        ("an attribute", attributes(&["tenant=acme"], &[])),
        ("by attributes", attributes(&[], &["tenant", "size"])),
        ("by an attribute of some", attributes(&["size=0.5"], &["tenant"])),
        ("pairs that arrived", judged(VerdictSubject::Arrived)),
        ("pairs as described", judged(VerdictSubject::Described)),
        ("all roots", each_root(Required::AtLeast(1), None, None)),
        ("all roots, two receivers", {
            each_root(Required::AtLeast(2), Some(Receivers::Hosts), Some(2000))
        }),
        ("roots of a minute", {
            let all = each_root(Required::AtLeast(1), None, None);
            Question { start_ns: minute, ..all }
        }),
    ];
    all.extend(more.map(|(name, question)| (name.to_owned(), question)));
    all
}

/// All answers of a store. Its rows are of [`super::world`].
pub fn answers(location: &StoreLocation, cache: &DurationCache) -> Answers {
    let mut answers = asked(location, |view, answers| {
        view.about_durations(answers);
        view.about_inputs(answers);
        view.with_cache(answers, cache);
        view.about_rows(answers);
        view.about_attributes(answers);
    });
    for (name, range) in [("all", i64::MIN..i64::MAX), ("a part", part())] {
        let (rows, damage) = location.transactions(range).unwrap();
        let rows = rows.map(Result::unwrap).collect();
        answers.add(format!("transactions of {name}"), &(in_order(rows), damage));
    }
    answers
}

/// Those answers of a store that a cache may keep, and those that are made with one.
pub fn kept_answers(location: &StoreLocation, cache: &DurationCache) -> Answers {
    asked(location, |view, answers| view.with_cache(answers, cache))
}

/// What is asked of one moment of a store.
fn asked(location: &StoreLocation, ask: impl Fn(&Asked<'_>, &mut Answers)) -> Answers {
    let of_moment = location.with(|view| {
        let asked = Asked { view, limits: Limits::default(), progress: Progress::default() };
        let mut answers = Answers::default();
        ask(&asked, &mut answers);
        Ok(answers)
    });
    of_moment.unwrap()
}

/// Answers about durations, on which the hosts' clocks have a bearing.
pub fn duration_answers(location: &StoreLocation) -> Answers {
    let mut answers = Answers::default();
    let cache = DurationCache::default();
    location
        .with(|view| {
            answers = Answers::default();
            let asked = Asked { view, limits: Limits::default(), progress: Progress::default() };
            asked.about_durations(&mut answers);
            asked.about_inputs(&mut answers);
            asked.with_cache(&mut answers, &cache);
            Ok(())
        })
        .unwrap();
    answers
}

/// The same rows in an order that does not depend on how a store keeps them: rows whose paths have
/// the same text stand together in one store and not in another.
fn in_order(mut rows: Vec<Transaction>) -> Vec<Transaction> {
    rows.sort_by_key(|row| (row.chain, row.id, row.start_ns));
    rows
}

/// The number of the worst of a class, and those of them that no other row is as bad as by chance.
fn certain((class, rows): (ClassName, Vec<Transaction>)) -> (ClassName, usize, Vec<Transaction>) {
    let (count, last) = (rows.len(), rows.last().map(|row| row.elapsed_ns));
    let worse = rows.into_iter().filter(|row| Some(row.elapsed_ns) > last);
    (class, count, in_order(worse.collect()))
}

/// A time that begins and ends within minutes.
fn part() -> Range<i64> {
    100 * MINUTE_NS + 7_000_000_000..102 * MINUTE_NS + 9_000_000_000
}

struct Asked<'a> {
    view: &'a StoreView,
    limits: Limits,
    progress: Progress,
}

impl Asked<'_> {
    fn with_rows<T>(&self, question: &Question, ask: impl FnOnce(&Snapshot) -> T) -> T {
        ask(&self.view.rows_of(&[question], &self.limits, &self.progress).unwrap())
    }

    fn about_durations(&self, answers: &mut Answers) {
        // Many questions have points in common, each of which is where it is.
        let mut located = HashSet::new();
        for (name, question) in questions() {
            let answer = self.view.ask(&question, &self.limits).unwrap();
            answers.add(&name, &told(&answer));
            // Where the durations came from says which chain they are of.
            for point in answer.points.iter().take(5).filter(|point| located.insert(**point)) {
                answers.add(format!("{name}, {point:?}"), &self.view.locate(point).unwrap());
            }
        }
    }

    fn with_cache(&self, answers: &mut Answers, cache: &DurationCache) {
        let asking = QueryEnvironment { limits: &self.limits, progress: &self.progress, cache };
        for (name, question) in questions() {
            let of_kind = question.judged == VerdictSubject::Durations && !question.split;
            if !of_kind || question.clocks == Clocks::Corrected {
                continue;
            }
            let again = self.view.ask_again(&question, &asking).unwrap();
            answers.add(format!("{name}, again"), &told(&again));
            for scale in [Scale::Linear, Scale::Log] {
                let raster = Raster { width: 20, height: 30, scale };
                let mut picture = self.view.scatter(&question, raster, &asking).unwrap();
                picture.rows_read = 0;
                answers.add(format!("{name}, picture"), &picture);
            }
            for order in [ChainOrder::Longest, ChainOrder::Shortest, ChainOrder::First] {
                let chains = self.view.list_chains(&question, (order, 50), &asking).unwrap();
                answers.add(format!("{name}, {order:?}"), &chains);
            }
            let slow = Question { duration_ns: 400..=u64::MAX, ..question.clone() };
            self.with_rows(&question, |rows| {
                let context = (question.start_ns.clone(), 100);
                let mut hops = hops(rows, &slow, context, &asking).unwrap();
                // Hosts with as many chains are in no order.
                hops.hosts.sort_by_key(|host| format!("{host:?}"));
                answers.add(format!("{name}, hops"), &hops);
            });
        }
        let a = Question { start_ns: i64::MIN..101 * MINUTE_NS, ..Question::acpd("X::a", "c") };
        let b = Question { start_ns: 101 * MINUTE_NS..i64::MAX, ..a.clone() };
        let rows = self.view.rows_of(&[&a, &b], &self.limits, &self.progress).unwrap();
        answers.add("compare", &compare((&rows, &a), (&rows, &b), 100, &asking).unwrap());
        self.contrasts(answers, &asking);
    }

    fn contrasts(&self, answers: &mut Answers, asking: &QueryEnvironment<'_>) {
        let question = Question::acpd("X::a", "c");
        let later = Question { start_ns: 101 * MINUTE_NS..i64::MAX, ..question.clone() };
        self.with_rows(&question, |rows| {
            let told = |found: AttributeContrast| format!("{found:?}");
            let slow = slow_attributes(rows, &question, (SlowLimit::Above(400), 500), asking);
            answers.add("contrast of slow ones", &told(slow.unwrap()));
            let all = i64::MIN..i64::MAX;
            let selected = selected_attributes(rows, &later, (all, 500), asking);
            answers.add("contrast of selected ones", &told(selected.unwrap()));
            let times = compared_attributes((rows, &question), (rows, &later), 500, asking);
            answers.add("contrast of times", &told(times.unwrap()));
        });
    }

    fn about_inputs(&self, answers: &mut Answers) {
        for case in [InputCase::All, InputCase::Best, InputCase::Worst, InputCase::Age] {
            for (name, question) in [
                ("all", Question { points: true, ..Question::acpd("X::a", "c") }),
                ("a minute", Question { start_ns: part(), ..Question::acpd("X::b", "Y::d") }),
                ("few", Question { points: true, ..Question::acpd("X::b", "Y::d") }),
            ] {
                let mut found =
                    self.view.ask_inputs(&question, case, &self.limits, &self.progress).unwrap();
                let rows_read = found.answer.rows_read;
                found.answer = told(&found.answer);
                answers.add(format!("inputs, {case:?}, {name}"), &(found, rows_read));
            }
        }
    }

    fn about_rows(&self, answers: &mut Answers) {
        answers.add("classes' names", &self.view.names().unwrap());
        answers.add("extent", &self.view.extent().unwrap());
        let whole = 101 * MINUTE_NS..102 * MINUTE_NS;
        for range in [i64::MIN..i64::MAX, part(), whole, 1..2] {
            let rows = self.view.rows(std::slice::from_ref(&range), &self.progress).unwrap();
            let name = |what| format!("{what} in {range:?}");
            answers.add(name("paths"), &self.view.paths(&range, &self.progress).unwrap());
            answers.add(name("classes"), &self.view.classes(&range).unwrap());
            for most in [100, 10_000] {
                let (found, damage) = sample(&rows, &range, most, &self.progress).unwrap();
                answers.add(name("a sample"), &(in_order(found), damage));
            }
            for by in [WorstBy::Elapsed, WorstBy::Cpu] {
                for (hosts, class) in [
                    (Vec::new(), None),
                    (vec!["two".to_owned()], Some(ClassSelector("Y::d".into()))),
                ] {
                    let start_ns = range.clone();
                    let question = WorstQuery { start_ns, hosts, class, count: 7, by };
                    let (found, _) = worst(&rows, &question, &self.progress).unwrap();
                    answers.add(
                        name("the worst"),
                        &found.into_iter().map(certain).collect::<Vec<_>>(),
                    );
                }
            }
            let loads = self.view.loads(&range, std::time::Duration::from_secs(60)).unwrap();
            answers.add(name("loads"), &loads);
            for by in [vec![], vec!["tenant"]] {
                let selection = AttributeSelection::parse(&["size"], &by[..]).unwrap();
                let groups =
                    self.view.class_groups(&range, &selection, &self.limits, &self.progress);
                answers.add(name("classes by attributes"), &groups.unwrap());
            }
        }
    }

    fn about_attributes(&self, answers: &mut Answers) {
        for (start_ns, most) in [(i64::MIN..i64::MAX, None), (part(), None), (0..i64::MAX, Some(1))]
        {
            let (threads, progress) = (2, &self.progress);
            let rows = AttributeRows { start_ns, most, threads, progress };
            answers.add("attributes", &self.view.attribute_names(&rows).unwrap());
            for key in ["tenant", "size", "nowhere"] {
                let key: AttributeKey = key.parse().unwrap();
                answers.add("values", &self.view.attribute_values(&key, &rows).unwrap());
            }
            answers.add("versions", &self.view.service_versions(&rows).unwrap());
        }
    }
}

/// Durations over several parents.
pub fn input_answers(location: &StoreLocation) -> Answers {
    let mut answers = Answers::default();
    location
        .with(|view| {
            answers = Answers::default();
            let asked = Asked { view, limits: Limits::default(), progress: Progress::default() };
            asked.about_inputs(&mut answers);
            Ok(())
        })
        .unwrap();
    answers
}

/// The chains with these ids, looked for everywhere, near, and far away.
pub fn chains(location: &StoreLocation, ids: &[(ChainId, i64)]) -> Answers {
    let mut answers = Answers::default();
    for (id, start_ns) in ids {
        for near in [None, Some(*start_ns..start_ns + 1), Some(0..1)] {
            answers.add(format!("chain {id} near {near:?}"), &location.chain(*id, near).unwrap());
        }
    }
    answers
}

/// What rows of a class say, in an order of their own.
pub fn excerpts(location: &StoreLocation, class: (&str, &str), range: &Range<i64>) -> Vec<String> {
    let class = ClassName { application: class.0.into(), class: class.1.into() };
    let mut rows = Vec::new();
    location.excerpts(&class, range, &mut |row| rows.push(format!("{row:?}"))).unwrap();
    rows.sort();
    rows
}

/// A point where nothing is.
pub const NOWHERE: Point = Point { start_ns: 5, duration_ns: 1 };
