//! Verdicts on stores in which roots lack leaves, for every reason that there is.
#![allow(clippy::unwrap_used, clippy::cast_possible_truncation)] // a test may panic

#[path = "../../store/tests/support/mod.rs"]
mod support;

use chronoscope_chain::VerdictState;
use chronoscope_chain::arrivals::Unknown;
use chronoscope_model::context::{self, ContextEntry};
use chronoscope_model::{
    Batch, ChainId, Flags, FurtherParent, ProcessId, ProcessName, Record, TransactionId,
};
use chronoscope_query::{Answer, Limits, Question, Receivers, Required, VerdictSubject, ask};
use chronoscope_store::{Append, DELIVERED_ALL, Loss, MINUTE_NS, Options, Snapshot, Store};
use std::path::Path;
use support::{Chains, foreign, open, push};

const MINUTE: i64 = 100;
const START_NS: i64 = MINUTE * MINUTE_NS;
const LIMIT_NS: u64 = 1_000_000_000;
/// Roots of a batch start a millisecond apart.
const MS: i64 = 1_000_000;
const EACH_ROOT: VerdictSubject =
    VerdictSubject::Roots { required: Required::AtLeast(1), receivers: None, timeout_ns: None };

/// `roots` chains, of which the first `arrived` are whole and of the others only the root is here.
fn batch(chains: &mut Chains, roots: u64, arrived: u64) -> Batch {
    let mut batch = Batch::default();
    for n in 0..roots {
        let rows = chains.chain(START_NS + n as i64 * MS);
        let rows = if n < arrived { &rows[..] } else { &rows[..1] };
        rows.iter().for_each(|row| push(&mut batch, *row));
    }
    batch
}

/// All processes of the chains have delivered until then.
fn delivered(chains: &Chains, until_ns: i64) -> Vec<(ProcessId, i64)> {
    chains.names.processes().map(|(id, _)| (id, until_ns)).collect()
}

fn displays(chains: &Chains) -> Vec<ProcessId> {
    let displays = chains.names.processes().filter(|(_, name)| name.application == "CWP");
    displays.map(|(id, _)| id).collect()
}

struct CarriedAncestors {
    delivered: Vec<(ProcessId, i64)>,
    losses: Vec<Loss>,
}

fn store(dir: &Path, chains: &Chains, batch: &Batch, told: &CarriedAncestors) -> Store {
    let store = open(dir, Options::default(), MINUTE);
    let lost: Vec<_> = told.losses.iter().map(|loss| (loss.process, loss.rows)).collect();
    let input = Append {
        batch: Some(batch),
        names: Some(&chains.names),
        delivered: &told.delivered,
        losses: &told.losses,
        lost: &lost,
        ..Append::default()
    };
    store.append(&input, START_NS).unwrap();
    store.sync().unwrap();
    store
}

fn question(judged: VerdictSubject) -> Question {
    Question {
        judged,
        limit_ns: Some(LIMIT_NS),
        ..Question::acpd("MRTS::decodePlots", "CWP::TargetView_redraw")
    }
}

fn asked(dir: &Path, judged: VerdictSubject) -> Answer {
    ask(&Snapshot::open(dir).unwrap(), &question(judged), &Limits::default()).unwrap()
}

fn state(dir: &Path, judged: VerdictSubject) -> VerdictState {
    asked(dir, judged).verdict.unwrap().state()
}

/// As the rows wait, sealed, and after the writer has started anew: one answer.
fn in_every_form(dir: &Path, store: Store, check: impl Fn()) {
    check();
    store.seal_all(START_NS).unwrap();
    check();
    drop(store);
    let _store = open(dir, Options::default(), MINUTE + 1);
    check();
}

#[test]
fn sixty_of_a_hundred_lost_is_no_requirement_that_holds() {
    for is_foreign in [false, true] {
        let dir = tempfile::tempdir().unwrap();
        let mut chains = Chains::default();
        let mut rows = batch(&mut chains, 100, 40);
        if is_foreign {
            rows = foreign(&rows);
        }
        let told = CarriedAncestors {
            delivered: delivered(&chains, START_NS + MINUTE_NS),
            losses: vec![],
        };
        let store = store(dir.path(), &chains, &rows, &told);
        in_every_form(dir.path(), store, || {
            let described = asked(dir.path(), VerdictSubject::Described);
            let verdict = described.verdict.unwrap();
            assert_eq!((verdict.state(), verdict.not_arrived), (VerdictState::Undetermined, 60));
            assert_eq!(described.distribution.unwrap().count, 40);
            let each = asked(dir.path(), EACH_ROOT);
            let totals = each.arrivals.unwrap().totals;
            assert_eq!((totals.roots, totals.arrived, totals.missing), (100, 40, 60));
            assert_eq!(each.verdict.unwrap().state(), VerdictState::DoesNotHold);
            assert_eq!(state(dir.path(), VerdictSubject::Arrived), VerdictState::Holds);
        });
    }
}

#[test]
fn a_root_is_open_until_every_display_has_delivered_its_time() {
    let dir = tempfile::tempdir().unwrap();
    let mut chains = Chains::default();
    let rows = batch(&mut chains, 10, 4);
    let mut told =
        CarriedAncestors { delivered: delivered(&chains, START_NS + 100 * MS), losses: vec![] };
    let store = store(dir.path(), &chains, &rows, &told);
    let totals = || asked(dir.path(), EACH_ROOT).arrivals.unwrap().totals;
    assert_eq!((totals().arrived, totals().open), (4, 6));
    assert_eq!(state(dir.path(), EACH_ROOT), VerdictState::Undetermined);
    // All but one of the displays go on, long enough that the other is not only a little behind.
    let silent = displays(&chains)[0];
    told.delivered = delivered(&chains, START_NS + 60_000 * MS);
    told.delivered.retain(|(id, _)| *id != silent);
    let more = Append { delivered: &told.delivered, ..Append::default() };
    store.append(&more, START_NS).unwrap();
    let found = asked(dir.path(), EACH_ROOT).arrivals.unwrap();
    assert_eq!(found.totals.unknown[Unknown::Silent as usize], 6);
    assert_eq!(found.silent[0].process.id(), silent);
    assert_eq!(found.silent[0].delivered_ns, Some(START_NS + 100 * MS));
    // The process has ended, and its ring was read to the end.
    store.append(&Append { delivered: &[(silent, DELIVERED_ALL)], ..more }, START_NS).unwrap();
    assert_eq!(totals().missing, 6);
    assert_eq!(state(dir.path(), EACH_ROOT), VerdictState::DoesNotHold);
}

#[test]
fn a_root_is_unknown_where_rows_were_lost_in_its_time() {
    let dir = tempfile::tempdir().unwrap();
    let mut chains = Chains::default();
    let mut rows = batch(&mut chains, 10, 0);
    // Ten more, half a minute later.
    for n in 0..10 {
        push(&mut rows, chains.chain(START_NS + 30_000 * MS + n * MS)[0]);
    }
    let display = displays(&chains)[1];
    let loss =
        Loss { process: display, from_ns: START_NS, until_ns: START_NS + 2_000 * MS, rows: 3 };
    let told = CarriedAncestors {
        delivered: delivered(&chains, START_NS + 50_000 * MS),
        losses: vec![loss],
    };
    let store = store(dir.path(), &chains, &rows, &told);
    in_every_form(dir.path(), store, || {
        let found = asked(dir.path(), EACH_ROOT).arrivals.unwrap();
        assert_eq!(found.totals.unknown[Unknown::Lost as usize], 10);
        assert_eq!(found.totals.missing, 10, "after the loss");
        assert_eq!(found.roots_lost_max, 0, "no root is recorded by a display");
    });
}

#[test]
fn a_root_that_was_lost_may_have_missed() {
    let dir = tempfile::tempdir().unwrap();
    let mut chains = Chains::default();
    let rows = batch(&mut chains, 1000, 1000);
    let tracker = rows.records()[0].process;
    let loss = Loss { process: tracker, from_ns: START_NS, until_ns: START_NS + 500 * MS, rows: 4 };
    let told = CarriedAncestors {
        delivered: delivered(&chains, START_NS + MINUTE_NS),
        losses: vec![loss],
    };
    store(dir.path(), &chains, &rows, &told);
    let each = asked(dir.path(), EACH_ROOT);
    assert_eq!(each.arrivals.unwrap().roots_lost_max, 4);
    assert_eq!(each.verdict.unwrap().state(), VerdictState::Undetermined, "4 of 1004 is too many");
    let later = Question { start_ns: START_NS + 501 * MS..i64::MAX, ..question(EACH_ROOT) };
    let later = ask(&Snapshot::open(dir.path()).unwrap(), &later, &Limits::default()).unwrap();
    assert_eq!(later.verdict.unwrap().state(), VerdictState::Holds);
}

#[test]
fn a_store_that_does_not_say_how_far_rings_were_read_decides_nothing() {
    let dir = tempfile::tempdir().unwrap();
    let mut chains = Chains::default();
    let rows = batch(&mut chains, 10, 4);
    store(dir.path(), &chains, &rows, &CarriedAncestors { delivered: vec![], losses: vec![] });
    let found = asked(dir.path(), EACH_ROOT);
    assert_eq!(found.arrivals.unwrap().horizon_ns, None);
    assert_eq!(found.verdict.unwrap().state(), VerdictState::Undetermined);
    // What is here is enough where all arrived.
    let all = tempfile::tempdir().unwrap();
    let rows = batch(&mut chains, 10, 10);
    store(all.path(), &chains, &rows, &CarriedAncestors { delivered: vec![], losses: vec![] });
    assert_eq!(state(all.path(), EACH_ROOT), VerdictState::Holds);
}

#[test]
fn a_foreign_leaf_that_a_missing_row_cuts_off_leaves_its_root_unknown() {
    let dir = tempfile::tempdir().unwrap();
    let mut chains = Chains::default();
    let whole = foreign(&batch(&mut chains, 10, 10));
    let mut rows = Batch::default();
    // Of the first three chains the step in the middle is lost.
    for (n, record) in whole.records().iter().enumerate() {
        if n / 5 >= 3 || n % 5 != 2 {
            push(&mut rows, *record);
        }
    }
    let told =
        CarriedAncestors { delivered: delivered(&chains, START_NS + MINUTE_NS), losses: vec![] };
    let store = store(dir.path(), &chains, &rows, &told);
    in_every_form(dir.path(), store, || {
        let found = asked(dir.path(), EACH_ROOT);
        let totals = found.arrivals.unwrap().totals;
        assert_eq!((totals.arrived, totals.unlinked_leaves), (7, 3));
        assert_eq!(totals.unknown[Unknown::UnlinkedLeaf as usize], 3);
        assert_eq!(found.verdict.unwrap().state(), VerdictState::Undetermined);
    });
}

/// Ten chains of which the first arrived; a batch below it names the last four, or has links that
/// are not known.
fn linked_by_a_batch(form: fn(&Batch) -> Batch, named: bool) -> (tempfile::TempDir, Store) {
    let dir = tempfile::tempdir().unwrap();
    let mut chains = Chains::default();
    let mut rows = form(&batch(&mut chains, 10, 1));
    let roots: Vec<ChainId> =
        rows.records().iter().filter(|row| row.parent.is_none()).map(Record::chain).collect();
    let last = *rows.records().iter().rfind(|row| row.chain() == roots[0]).unwrap();
    let flags = last.flags | Flags::FURTHER_PARENTS.0;
    let consumer = Record { id: TransactionId(1 << 40), flags, ..last };
    let mut bytes = [0; 512];
    let links = roots.iter().rev().take(if named { 4 } else { 0 });
    let len = links.fold(0, |len, chain| {
        let parent = FurtherParent { chain: *chain, id: TransactionId(1), root: None };
        context::append(&mut bytes, len, ContextEntry::Parent(parent)).unwrap()
    });
    rows.push(consumer, &bytes[..len]);
    let told =
        CarriedAncestors { delivered: delivered(&chains, START_NS + MINUTE_NS), losses: vec![] };
    let store = store(dir.path(), &chains, &rows, &told);
    (dir, store)
}

#[test]
fn a_root_that_a_batch_links_to_is_unknown_and_not_missing() {
    for form in [foreign, Batch::clone] {
        let (dir, store) = linked_by_a_batch(form, true);
        in_every_form(dir.path(), store, || {
            let found = asked(dir.path(), EACH_ROOT).arrivals.unwrap();
            assert_eq!(found.unfollowed_links, 4);
            assert_eq!(found.totals.unknown[Unknown::FurtherParent as usize], 4);
            assert_eq!((found.totals.arrived, found.totals.missing), (1, 5));
        });
    }
}

/// Only links to the chains of the roots that are asked for are counted.
#[test]
fn links_to_chains_that_nobody_asked_for_are_not_counted() {
    for form in [foreign, Batch::clone] {
        let (dir, store) = linked_by_a_batch(form, true);
        in_every_form(dir.path(), store, || {
            let named = asked(dir.path(), EACH_ROOT).arrivals.unwrap().named;
            let starts: Vec<i64> = named.iter().map(|root| root.start_ns).collect();
            let links = |start_ns: std::ops::Range<i64>| {
                let question = Question { start_ns, ..question(EACH_ROOT) };
                let answer =
                    ask(&Snapshot::open(dir.path()).unwrap(), &question, &Limits::default());
                let found = answer.unwrap().arrivals.unwrap();
                (found.totals.roots, found.unfollowed_links)
            };
            // Of ten roots the first arrived, and links lead to the last four.
            assert_eq!(links(starts[7]..i64::MAX), (2, 2));
            assert_eq!(links(i64::MIN..starts[5]), (6, 0));
        });
    }
}

#[test]
fn a_batch_whose_links_are_not_known_may_be_of_any_root() {
    for form in [foreign, Batch::clone] {
        let (dir, store) = linked_by_a_batch(form, false);
        in_every_form(dir.path(), store, || {
            let found = asked(dir.path(), EACH_ROOT).arrivals.unwrap();
            assert_eq!(found.totals.unknown[Unknown::FurtherParent as usize], 9);
            assert_eq!((found.totals.arrived, found.totals.missing), (1, 0));
        });
    }
}

#[test]
fn a_root_whose_source_keeps_only_a_sample_is_unknown_and_not_missing() {
    let dir = tempfile::tempdir().unwrap();
    let mut chains = Chains::default();
    let all = foreign(&batch(&mut chains, 10, 4));
    let mut rows = Batch::default();
    let roots = all.records().iter().filter(|row| row.parent.is_none());
    let sampled: Vec<ChainId> = roots.map(Record::chain).skip(3).take(3).collect();
    for row in all.records() {
        let is_sampled = sampled.contains(&row.chain());
        let flags = row.flags | if is_sampled { Flags::SAMPLED.0 } else { 0 };
        rows.push(Record { flags, ..*row }, &[]);
    }
    let told =
        CarriedAncestors { delivered: delivered(&chains, START_NS + MINUTE_NS), losses: vec![] };
    let store = store(dir.path(), &chains, &rows, &told);
    in_every_form(dir.path(), store, || {
        let totals = asked(dir.path(), EACH_ROOT).arrivals.unwrap().totals;
        // Of the three chains one has its leaf, which is there whatever else was not recorded.
        assert_eq!((totals.arrived, totals.missing), (4, 4));
        assert_eq!(totals.unknown[Unknown::NotRecorded as usize], 2);
    });
}

#[test]
fn a_manifest_made_anew_does_not_hold_what_the_old_one_may_have_doubted() {
    for log_is_whole in [true, false] {
        let dir = tempfile::tempdir().unwrap();
        let mut chains = Chains::default();
        let rows = batch(&mut chains, 100, 100);
        let told = CarriedAncestors {
            delivered: delivered(&chains, START_NS + MINUTE_NS),
            losses: vec![],
        };
        let store = store(dir.path(), &chains, &rows, &told);
        store.seal_all(START_NS).unwrap();
        assert_eq!(state(dir.path(), EACH_ROOT), VerdictState::Holds);
        drop(store);
        std::fs::remove_file(dir.path().join("manifest")).unwrap();
        if !log_is_whole {
            for file in std::fs::read_dir(dir.path().join("log")).unwrap() {
                std::fs::remove_file(file.unwrap().path()).unwrap();
            }
        }
        chronoscope_store::repair(dir.path(), false, START_NS + MINUTE_NS).unwrap();
        let expected = if log_is_whole { VerdictState::Holds } else { VerdictState::Undetermined };
        assert_eq!(state(dir.path(), EACH_ROOT), expected);
    }
}

#[test]
fn an_unreadable_segment_decides_nothing() {
    let dir = tempfile::tempdir().unwrap();
    let mut chains = Chains::default();
    let rows = batch(&mut chains, 10, 4);
    let told = CarriedAncestors {
        delivered: delivered(&chains, START_NS + 3 * MINUTE_NS),
        losses: vec![],
    };
    let store = store(dir.path(), &chains, &rows, &told);
    store.seal_all(START_NS).unwrap();
    let other = chains.batch(MINUTE + 1, 1);
    support::append(&store, &chains, &other, MINUTE + 1);
    store.seal_all(START_NS).unwrap();
    let snapshot = Snapshot::open(dir.path()).unwrap();
    let last = snapshot.segments().last().unwrap();
    std::fs::write(&last.path, b"PAR1, or not").unwrap();
    let found = asked(dir.path(), EACH_ROOT);
    let totals = found.arrivals.unwrap().totals;
    assert_eq!((totals.missing, totals.unknown[Unknown::Damaged as usize]), (0, 6));
    assert_eq!(found.verdict.unwrap().state(), VerdictState::Undetermined);
}

#[test]
fn receivers_are_counted_and_not_leaves() {
    let dir = tempfile::tempdir().unwrap();
    let mut chains = Chains::default();
    let mut rows = batch(&mut chains, 6, 6);
    let leaves: Vec<Record> = rows.records().iter().filter(|r| r.level == 4).copied().collect();
    // Every root is displayed twice: of the first three by two processes, else by one.
    for (n, leaf) in leaves.iter().enumerate() {
        let other = displays(&chains).into_iter().find(|id| *id != leaf.process).unwrap();
        let process = if n < 3 { other } else { leaf.process };
        push(&mut rows, Record { id: TransactionId(1 << 40 | n as u64), process, ..*leaf });
    }
    let told =
        CarriedAncestors { delivered: delivered(&chains, START_NS + MINUTE_NS), losses: vec![] };
    let store = store(dir.path(), &chains, &rows, &told);
    let required = Required::AtLeast(2);
    let of = |receivers| VerdictSubject::Roots { required, receivers, timeout_ns: None };
    in_every_form(dir.path(), store, || {
        let arrived = |judged| asked(dir.path(), judged).arrivals.unwrap().totals.arrived;
        assert_eq!(arrived(of(None)), 6);
        assert_eq!(arrived(of(Some(Receivers::Processes))), 3);
        assert_eq!(arrived(of(Some(Receivers::Hosts))), 3);
    });
}

#[test]
fn a_deleted_minute_makes_what_came_before_it_unknown() {
    let dir = tempfile::tempdir().unwrap();
    let mut chains = Chains::default();
    let keep = Some(std::time::Duration::from_mins(5));
    let store = open(dir.path(), Options { keep, ..Options::default() }, MINUTE);
    let old = chains.batch(MINUTE - 6, 3);
    support::append(&store, &chains, &old, MINUTE);
    store.seal_all(START_NS).unwrap();
    let rows = foreign(&batch(&mut chains, 10, 4));
    let told = delivered(&chains, START_NS + MINUTE_NS);
    let input = Append {
        batch: Some(&rows),
        names: Some(&chains.names),
        delivered: &told,
        ..Append::default()
    };
    store.append(&input, START_NS).unwrap();
    while store.maintain(START_NS).unwrap().again {}
    let missing = || asked(dir.path(), EACH_ROOT).arrivals.unwrap().totals;
    assert_eq!((missing().missing, missing().unknown_roots()), (6, 0), "they are younger");
    assert_eq!(Snapshot::open(dir.path()).unwrap().expired_rows(), 15);
    let until = Snapshot::open(dir.path()).unwrap().ledger().expired_until_ns;
    assert_eq!(until, Some((MINUTE - 5) * MINUTE_NS));
    // An hour later their minute is deleted as well: what is left waits in the log.
    let late = chains.chain(START_NS - 6 * MINUTE_NS)[0];
    let mut more = Batch::default();
    push(&mut more, late);
    support::append(&store, &chains, &more, MINUTE);
    assert_eq!(missing().unknown[Unknown::Expired as usize], 1);
}

/// Leaves of foreign chains that were deleted on request make their roots unknown and not missing, and
/// whole chains that were deleted make a verdict undetermined.
#[test]
fn what_was_deleted_on_request_is_no_evidence_that_nothing_arrived() {
    let deleted = |range: std::ops::Range<i64>, as_foreign: bool| {
        let dir = tempfile::tempdir().unwrap();
        let mut chains = Chains::default();
        let rows = batch(&mut chains, 10, 10);
        let rows = if as_foreign { foreign(&rows) } else { rows };
        let delivered = delivered(&chains, DELIVERED_ALL);
        let told = CarriedAncestors { delivered, losses: vec![] };
        let store = store(dir.path(), &chains, &rows, &told);
        assert_eq!(state(dir.path(), EACH_ROOT), VerdictState::Holds);
        let what = chronoscope_store::RangeDeletion {
            start_ns: range,
            rows_max: u64::MAX,
            by: String::new(),
        };
        assert!(store.delete(&what, START_NS).unwrap().rows > 0);
        let answer = asked(dir.path(), EACH_ROOT);
        assert!(answer.losses.deleted_rows() > 0);
        (answer.arrivals.unwrap().totals, state(dir.path(), EACH_ROOT))
    };
    // The roots start within 10 ms, their leaves 4 ms after them: the last leaves go.
    let (totals, verdict) = deleted(START_NS + 10 * MS..START_NS + 60_000 * MS, true);
    assert_eq!((totals.roots, totals.missing), (10, 0));
    assert!(totals.unknown[Unknown::Deleted as usize] > 0, "{totals:?}");
    assert_eq!(verdict, VerdictState::Undetermined);
    // Whole chains: the roots that are left have all arrived, and nobody knows of the others.
    let (totals, verdict) = deleted(START_NS + 5 * MS..START_NS + 60_000 * MS, false);
    assert_eq!((totals.roots, totals.arrived, totals.missing), (5, 5, 0));
    assert_eq!(verdict, VerdictState::Undetermined);
}

#[test]
fn a_source_of_spans_that_nobody_knows_yet_is_allowed_for() {
    let dir = tempfile::tempdir().unwrap();
    let mut chains = Chains::default();
    let rows = foreign(&batch(&mut chains, 10, 4));
    let store =
        store(dir.path(), &chains, &rows, &CarriedAncestors { delivered: vec![], losses: vec![] });
    let exported = delivered(&chains, START_NS + 60_000 * MS);
    let note = |collector_ms| {
        let looked = [(ProcessId::NONE, START_NS + collector_ms * MS)];
        let note = Append { exported: &exported, delivered: &looked, ..Append::default() };
        store.append(&note, START_NS).unwrap();
        asked(dir.path(), EACH_ROOT)
    };
    // A consumer whose first batch waits may have shipped what is not here after 10 s.
    let early = note(10_000);
    let found = early.arrivals.unwrap();
    assert_eq!((found.totals.open, found.totals.missing, found.judged.roots), (6, 0, 0));
    assert_eq!(early.verdict.unwrap().state(), VerdictState::Undetermined);
    let late = note(17_000);
    let found = late.arrivals.unwrap();
    assert_eq!((found.totals.missing, found.judged.roots), (6, 10));
    assert_eq!(late.verdict.unwrap().state(), VerdictState::DoesNotHold);
}

#[test]
fn spans_that_ended_while_no_collector_was_there_may_be_lost() {
    let dir = tempfile::tempdir().unwrap();
    let mut chains = Chains::default();
    let rows = foreign(&batch(&mut chains, 10, 4));
    let away = Loss {
        process: ProcessId::NONE,
        from_ns: START_NS + 500 * MS,
        until_ns: START_NS + 9_000 * MS,
        rows: 0,
    };
    let looked = vec![(ProcessId::NONE, START_NS + 60_000 * MS)];
    let told = CarriedAncestors { delivered: looked, losses: vec![away] };
    let store = store(dir.path(), &chains, &rows, &told);
    let exported = delivered(&chains, START_NS + 60_000 * MS);
    store.append(&Append { exported: &exported, ..Append::default() }, START_NS).unwrap();
    in_every_form(dir.path(), store, || {
        let found = asked(dir.path(), EACH_ROOT);
        let arrivals = found.arrivals.unwrap();
        assert_eq!(arrivals.totals.unknown[Unknown::Lost as usize], 6);
        assert_eq!(arrivals.roots_lost_max, u64::MAX, "nobody counted them");
        assert_eq!(found.verdict.unwrap().state(), VerdictState::Undetermined);
    });
}

/// Rows that an agent's numbers left out may be of any program.
#[test]
fn a_gap_in_the_numbers_of_an_agent_leaves_verdicts_open() {
    let agent = format!("chronoscope agent {:032x} (gap)", 1);
    for (application, expected) in [
        (agent.as_str(), VerdictState::Undetermined),
        ("something else", VerdictState::DoesNotHold),
    ] {
        let dir = tempfile::tempdir().unwrap();
        let mut chains = Chains::default();
        let rows = batch(&mut chains, 10, 4);
        let host = chains.names.process(displays(&chains)[0]).unwrap().host.clone();
        let process =
            ProcessName { application: application.to_owned(), host, pid: 0, start_ns: -1 };
        chains.names.add_process(process.clone());
        let until_ns = START_NS + MINUTE_NS;
        let loss = Loss { process: process.id(), from_ns: i64::MIN, until_ns, rows: 1_831 };
        let told = CarriedAncestors { delivered: delivered(&chains, until_ns), losses: vec![loss] };
        let store = store(dir.path(), &chains, &rows, &told);
        in_every_form(dir.path(), store, || {
            assert_eq!(state(dir.path(), EACH_ROOT), expected);
        });
    }
}
