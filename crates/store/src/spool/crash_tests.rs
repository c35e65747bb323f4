//! A spool that crashes at every change of a file, and whose files are cut at every byte: what was
//! reported durable is read exactly once or was dropped and counted; cursors go with their rows.

use super::{Spool, SpoolOptions};
use crate::crash::steps_of;
use crate::crash_points::{Life, passing, tempdir};
use crate::disk::Disk;
use crate::{Append, Positions, StoreError};
use bytemuck::Zeroable;
use chronoscope_model::{Batch, ClassName, Names, ProcessId, Record, TransactionId};
use std::path::Path;

const PROCESS: ProcessId = ProcessId(9);
/// Some six blocks a file, and fewer files than the life below would need.
const OPTIONS: SpoolOptions = SpoolOptions { bytes_max: 36_000, file_bytes: 9_000 };

/// Knowledge of the caller.
#[derive(Debug, Default)]
struct Told {
    /// All rows below are durable, as the spool reported.
    durable: u64,
    /// All rows below were acknowledged.
    acknowledged: u64,
}

/// Ten rows whose ids are their numbers in the ring.
fn batch(first: u64) -> Batch {
    let mut batch = Batch::default();
    for id in first..first + 10 {
        batch.push(Record { id: TransactionId(id), ..Record::zeroed() }, b"context");
    }
    batch
}

/// A life of a spool: reads the "ring" from where the cursors say, appends, syncs, sends,
/// acknowledges; at times nobody receives, and the oldest rows are dropped.
fn live(disk: Disk, dir: &Path, told: &mut Told) -> Result<(), StoreError> {
    let spool = Spool::open_on(disk, dir, OPTIONS, 0)?;
    let mut names = Names::default();
    for round in 0..40u64 {
        let next = spool.cursors(PROCESS).map_or(0, |cursors| cursors[0].1);
        names.add_class(ClassName { application: "A".into(), class: format!("c{round}") });
        let cursors: [(ProcessId, Positions); 1] = [(PROCESS, vec![(0, next + 10)])];
        let rows = batch(next);
        let input = Append {
            batch: Some(&rows),
            names: Some(&names),
            cursors: &cursors,
            lost: &[(PROCESS, next)],
            ..Append::default()
        };
        passing(spool.append(&input, 0))?;
        if round % 3 != 0
            && let Some(row) = passing(spool.sync())?
        {
            told.durable = told.durable.max(row);
        }
        let receiving = !(12..=34).contains(&round);
        if receiving && let Some(Some(block)) = passing(spool.read(told.acknowledged))? {
            let end_row = block.end_row();
            told.acknowledged = end_row;
            passing(spool.acknowledge(end_row))?;
        }
    }
    Ok(())
}

/// Everything durable comes out once and in order, as ring and cursors say; what does not was
/// acknowledged or dropped.
fn check(dir: &Path, told: &Told, what: &str) {
    let mut id = None;
    for life in ["after the crash", "once more"] {
        let what = format!("{what}, {life}, {told:?}");
        let spool = Spool::open(dir, OPTIONS, 0).unwrap();
        assert_eq!(spool.recovery().damage, [], "{what}");
        assert_eq!(*id.get_or_insert(spool.id()), spool.id(), "{what}");
        let cursor = spool.cursors(PROCESS).map_or(0, |cursors| cursors[0].1);
        assert_eq!(cursor, spool.durable_rows(), "{what}: cursors and rows go together");
        assert!(cursor >= told.durable, "{what}");
        let mut row = 0;
        let mut first = None;
        while let Some(block) = spool.read(row).unwrap() {
            assert!(row == 0 || block.first_row == row, "{what}: a hole before {block:?}");
            first.get_or_insert(block.first_row);
            let ids: Vec<u64> = block.batch.records().iter().map(|r| r.id.0).collect();
            let wanted: Vec<u64> = (block.first_row..block.end_row()).collect();
            assert_eq!(ids, wanted, "{what}");
            assert!(block.batch.records().iter().all(|r| block.batch.context(r) == b"context"));
            row = block.end_row();
        }
        assert!(row == cursor || first.is_none(), "{what}: rows end at {row}, not {cursor}");
        let gone = first.unwrap_or(cursor);
        assert!(
            gone <= told.acknowledged.max(told.acknowledged + spool.dropped_rows()),
            "{what}: {gone} rows are gone, {} of them dropped",
            spool.dropped_rows()
        );
        assert!(spool.ledger().names.classes().count() > 0 || cursor == 0, "{what}: names");
    }
}

const LIFE: Life<Told> = Life {
    live,
    check,
    whole: |dir, told| {
        let spool = Spool::open(dir, OPTIONS, 0).unwrap();
        assert!(spool.dropped_rows() > 0 && told.acknowledged > 0, "the life must come to all");
    },
    again: |told| told,
    opening: 12,
};

#[test]
fn a_crash_at_any_step_loses_and_doubles_nothing() {
    LIFE.crash_at_each_step();
}

#[test]
fn an_error_at_any_step_that_passes_loses_and_doubles_nothing() {
    LIFE.fail_at_each_step();
}

/// The newest file ends anywhere: whole blocks are there, the torn one is not, nothing else is
/// harmed, and the spool goes on.
#[test]
fn a_file_cut_at_any_byte_keeps_its_whole_blocks() {
    let dir = tempdir();
    let spool = Spool::open(dir.path(), SpoolOptions::default(), 0).unwrap();
    let path = crate::layout::log_file(dir.path(), 0);
    let mut ends = Vec::new();
    for round in 0..4 {
        let cursors: [(ProcessId, Positions); 1] = [(PROCESS, vec![(0, round * 10 + 10)])];
        let rows = batch(round * 10);
        let input = Append { batch: Some(&rows), cursors: &cursors, ..Append::default() };
        let row = spool.append(&input, 0).unwrap();
        ends.push((std::fs::metadata(&path).unwrap().len(), row));
    }
    spool.sync().unwrap();
    drop(spool);
    let bytes = std::fs::read(&path).unwrap();
    let identity = std::fs::read(crate::layout::spool(dir.path())).unwrap();
    for cut in steps_of(bytes.len() as u64 + 1).map(|cut| usize::try_from(cut).unwrap()) {
        let dir = tempdir();
        std::fs::create_dir_all(crate::layout::log_dir(dir.path())).unwrap();
        std::fs::write(crate::layout::spool(dir.path()), &identity).unwrap();
        std::fs::write(crate::layout::log_file(dir.path(), 0), &bytes[..cut]).unwrap();
        let whole = ends.iter().filter(|(end, _)| *end <= cut as u64).map(|(_, row)| *row);
        let told = Told { durable: whole.max().unwrap_or(0), acknowledged: 0 };
        let spool = Spool::open(dir.path(), SpoolOptions::default(), 0).unwrap();
        assert_eq!(spool.durable_rows(), told.durable, "cut at {cut}");
        let rows = batch(told.durable);
        let cursors: [(ProcessId, Positions); 1] = [(PROCESS, vec![(0, told.durable + 10)])];
        let mut names = Names::default();
        names.add_class(ClassName { application: "A".into(), class: "c".into() });
        let input = Append {
            batch: Some(&rows),
            names: Some(&names),
            cursors: &cursors,
            ..Append::default()
        };
        spool.append(&input, 0).unwrap();
        spool.sync().unwrap();
        drop(spool);
        check(dir.path(), &told, &format!("cut at {cut}"));
    }
}
