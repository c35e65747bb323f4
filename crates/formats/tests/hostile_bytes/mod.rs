//! What fuzzing of the readers checks: `fuzz/fuzz_targets/{arm_xml,csv_rows}.rs`.
#![allow(dead_code, unreachable_pub)] // every user uses some of it

use chronoscope_formats::rows::{self, Builder};
use chronoscope_formats::{arm_xml, csv_rows};
use chronoscope_model::Transaction;

/// Any bytes as XML: no panic, no hang; and what was read is written so that it reads the same.
pub fn check_xml(bytes: &[u8]) {
    let read = |bytes: &[u8]| arm_xml::Reader::new(bytes).map_while(Result::ok).collect::<Vec<_>>();
    let write = |rows: &[Transaction]| {
        let mut writer = arm_xml::Writer::new(Vec::new()).expect("memory");
        rows.iter().for_each(|row| writer.write(row).expect("memory"));
        writer.finish().expect("memory")
    };
    let rows = read(bytes);
    assert!(rows.len() * 20 <= bytes.len(), "rows out of nothing");
    let written = write(&rows);
    let again: Result<Vec<_>, _> = arm_xml::Reader::new(&written[..]).collect();
    // As bytes: not every number is equal to itself.
    assert_eq!(write(&again.expect("our own document")), written);
    build(&rows);
}

/// The same for CSV.
pub fn check_csv(bytes: &[u8]) {
    let Ok(reader) = csv_rows::Reader::new(bytes) else { return };
    let rows: Vec<_> = reader.map_while(Result::ok).collect();
    let write = |rows: &[Transaction]| {
        let mut writer = csv_rows::Writer::new(Vec::new()).expect("memory");
        rows.iter().for_each(|row| writer.write(row).expect("memory"));
        writer.finish().expect("memory")
    };
    let written = write(&rows);
    let again: Result<Vec<_>, _> = csv_rows::Reader::new(&written[..]).expect("a header").collect();
    assert_eq!(write(&again.expect("our own table")), written);
    build(&rows);
}

/// What may be imported becomes rows, one for each.
fn build(transactions: &[Transaction]) {
    let mut builder = Builder::default();
    let fit = transactions.iter().filter(|t| rows::check(t).is_ok());
    fit.clone().for_each(|t| builder.push(t));
    assert_eq!(builder.into_parts().0.len(), fit.count());
}
