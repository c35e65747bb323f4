//! The columns against those of CSV, and what both databases get.

use super::*;
use chronoscope_model::{ChainId, ClassName, Extras, Names, Record, Status, TransactionId};

/// A transaction with everything that is hard to write.
fn hard() -> Transaction {
    let process = |pid| ProcessName {
        application: "MRTS".into(),
        host: "tab\there".into(),
        pid,
        start_ns: -7,
    };
    Transaction {
        class: ClassName { application: "MRTS".into(), class: "back\\slash\n\0\r".into() },
        process: Some(process(u32::MAX)),
        start_ns: i64::MIN,
        elapsed_ns: 5,
        id: TransactionId(u64::MAX),
        chain: ChainId(1 << 127),
        status: Status::Failed,
        path: "MRTS::ä".into(),
        root_start_ns: Some(i64::MAX),
        root_process: Some(process(1)),
        properties: vec![("k\"".into(), "'\u{1}".into())],
        metrics: vec![("m".into(), f64::NAN)],
        extras: Extras { run_queue_ns: Some(9), ..Extras::default() },
        ..Transaction::from_record(&Record::default(), b"", &Names::default())
    }
}

/// The same columns in the same order, with the same values: a null is CSV's empty field, and an id
/// of the upper half its negative.
#[test]
fn columns_are_those_of_csv() {
    let transactions =
        [hard(), Transaction::from_record(&Record::default(), b"", &Names::default())];
    let mut writer = csv_rows::Writer::new(Vec::new()).unwrap();
    transactions.iter().for_each(|t| writer.write(t).unwrap());
    let text = writer.finish().unwrap();
    let mut reader = csv::Reader::from_reader(&text[..]);
    let names: Vec<_> = reader.headers().unwrap().iter().map(str::to_owned).collect();
    assert_eq!(names, COLUMNS[..names.len()].iter().map(|c| c.name).collect::<Vec<_>>());
    for (t, record) in transactions.iter().zip(reader.records()) {
        let cells = cells(t);
        for ((field, cell), column) in record.unwrap().iter().zip(&cells).zip(COLUMNS) {
            let same = match cell {
                Cell::Null => field.is_empty() && column.nullable,
                Cell::Integer(n) => {
                    field.parse() == Ok(*n) || field.parse() == Ok(n.cast_unsigned())
                }
                Cell::Text(text) => field == text,
            };
            assert!(same, "{}: {field:?} {cell:?}", column.name);
        }
    }
}

#[test]
fn the_script_is_one_transaction_and_has_a_line_a_row() {
    let mut writer = postgres::Writer::new(Vec::new(), "t_1".parse().unwrap()).unwrap();
    writer.write(&hard()).unwrap();
    let text = String::from_utf8(writer.finish().unwrap()).unwrap();
    let rows = text.split_once("FROM STDIN;\n").unwrap().1.split_once("\n\\.\n").unwrap().0;
    assert_eq!(rows.lines().count(), 1);
    assert_eq!(rows.split('\t').count(), COLUMN_COUNT);
    assert!(rows.starts_with("MRTS\tback\\\\slash\\n\u{fffd}\\r\ttab\\there\t4294967295\t"));
    assert_eq!(text.matches("BEGIN;").count(), 1);
    assert!(text.ends_with("ANALYZE t_1;\nCOMMIT;\n"), "{text}");
}

#[test]
fn rows_are_in_the_database_when_it_is_finished_and_not_before() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("db");
    let table: TableName = "transactions".parse().unwrap();
    let count = || {
        let db = rusqlite::Connection::open(&path).unwrap();
        db.query_row("SELECT count(*) FROM transactions", [], |row| row.get::<_, i64>(0))
    };
    let row = |rows: &mut sqlite::Rows<'_>| rows.write(&hard());
    sqlite::create(&path, &"other".parse().unwrap(), row).unwrap();
    let stop = |rows: &mut sqlite::Rows<'_>| -> Result<(), sqlite::SqliteError> {
        rows.write(&hard())?;
        Err(sqlite::SqliteError::Exists { table: "stopped here".into() })
    };
    sqlite::add(&path, &table, stop).unwrap_err();
    assert!(count().is_err(), "it was not finished");
    sqlite::add(&path, &table, row).unwrap();
    assert_eq!(count(), Ok(1));
    let error = sqlite::add(&path, &table, row).unwrap_err();
    assert!(matches!(error, sqlite::SqliteError::Exists { .. }), "{error}");
    let db = rusqlite::Connection::open(&path).unwrap();
    let (id, class, status): (i64, String, String) = db
        .query_row("SELECT id, class, status FROM transactions", [], |row| {
            Ok((row.get(0)?, row.get(1)?, row.get(2)?))
        })
        .unwrap();
    assert_eq!((id, class.as_str(), status.as_str()), (-1, "back\\slash\n\0\r", "FAILED"));
}

#[test]
fn a_name_of_a_table_needs_no_escape() {
    assert!("t1_x".parse::<TableName>().is_ok());
    for name in ["", "1a", "a b", "A", "a;drop", "ä", &"a".repeat(64)] {
        assert!(name.parse::<TableName>().is_err(), "{name:?}");
    }
}
