use super::samples::{class, name, transaction};
use super::*;
use chronoscope_model::{ChainId, Status, TransactionId};
use proptest::prelude::*;

fn bare(class: ClassName, id: u64, parent: u64) -> Transaction {
    Transaction {
        class,
        process: None,
        thread: 1,
        start_ns: 1000 * i64::try_from(id).unwrap(),
        elapsed_ns: 5,
        cpu_ns: 3,
        process_cpu_ns: None,
        status: Status::Good,
        id: TransactionId(id),
        parent: TransactionId(parent),
        chain: ChainId(9),
        flags: Flags::default(),
        level: 0,
        path: String::new(),
        root_start_ns: None,
        root_process: None,
        properties: Vec::new(),
        metrics: Vec::new(),
        extras: chronoscope_model::Extras::default(),
    }
}

fn there_and_back(transactions: &[Transaction]) -> Vec<Transaction> {
    let mut builder = Builder::default();
    transactions.iter().for_each(|transaction| builder.push(transaction));
    assert_eq!(builder.len(), transactions.len());
    let (batch, names) = builder.into_parts();
    let back = |row| Transaction::from_record(row, batch.context(row), &names);
    batch.records().iter().map(back).collect()
}

#[test]
fn a_chain_without_paths_gets_them_from_its_ancestors() {
    let process = ProcessName { application: "A".into(), host: "h".into(), pid: 7, start_ns: 1 };
    let root = Transaction { process: Some(process.clone()), ..bare(name("A", "in"), 1, 0) };
    // Children before their parents, as they end.
    let rows = [bare(name("B", "c"), 3, 2), bare(name("B", "GET /x"), 2, 1), root];
    let back = there_and_back(&rows);
    assert_eq!(back[0].path, "A::in/B::GET /x/B::c");
    let levels: Vec<_> = back.iter().map(|t| t.level).collect();
    assert_eq!(levels, [2, 1, 0]);
    assert!(back.iter().all(|t| t.root_start_ns == Some(1000)));
    assert!(back.iter().all(|t| t.root_process.as_ref() == Some(&process)));
}

#[test]
fn without_all_ancestors_a_row_is_foreign() {
    let rows = [bare(name("B", "c"), 3, 2), bare(name("B", "d"), 2, 77)];
    for back in there_and_back(&rows) {
        assert!(back.flags.contains(Flags::FOREIGN));
        assert_eq!((back.path.as_str(), back.root_start_ns), ("", None));
    }
}

#[test]
fn a_circle_of_parents_is_foreign_and_ends() {
    let rows = [bare(name("B", "c"), 3, 2), bare(name("B", "d"), 2, 3), bare(name("B", "e"), 4, 4)];
    let back = there_and_back(&rows);
    assert!(back.iter().all(|t| t.flags.contains(Flags::FOREIGN)));
}

#[test]
fn a_very_deep_chain_costs_no_memory_without_end() {
    let rows: Vec<_> = (1..=20_000).map(|id| bare(name("A", "loop"), id, id - 1)).collect();
    let back = there_and_back(&rows);
    let native = back.iter().filter(|t| !t.flags.contains(Flags::FOREIGN)).count();
    assert_eq!(native, 257); // levels 0 to 256
}

#[test]
fn what_does_not_fit_is_cut_and_flagged() {
    let long = "é".repeat(200);
    let t = Transaction {
        flags: Flags::FOREIGN,
        properties: vec![("k".into(), long)],
        ..bare(name("A", "a"), 1, 0)
    };
    let back = there_and_back(&[t]);
    assert!(back[0].flags.contains(Flags::CONTEXT_CUT));
    assert!(back[0].properties.iter().all(|(_, value)| value.len() <= 255));
}

#[test]
fn names_with_separators_are_recognised() {
    let mut builder = Builder::default();
    let odd = name("WEB", "a::b/C::d");
    let native = |class: ClassName, path: &str| Transaction {
        path: path.into(),
        root_start_ns: Some(3),
        ..bare(class, 1, 0)
    };
    builder.push(&native(odd.clone(), "WEB::a::b/C::d"));
    builder.push(&native(name("C", "d"), "WEB::a::b/C::d/C::d"));
    let (batch, names) = builder.into_parts();
    let of = ClassId::of(&odd.application, &odd.class);
    let paths: Vec<_> = batch.records().iter().map(|record| record.path).collect();
    assert_eq!(names.path(paths[0]), Some(&[of][..]));
    assert_eq!(names.path(paths[1]), Some(&[of, ClassId::of("C", "d")][..]));
    assert_eq!(paths[1], PathId::of(&[of, ClassId::of("C", "d")]));
}

proptest! {
    /// The promise: words become rows and the same words again.
    #[test]
    fn rows_read_back_as_the_words_they_were(
        transactions in prop::collection::vec(transaction(), 0..12)
    ) {
        prop_assert_eq!(there_and_back(&transactions), transactions);
    }

    #[test]
    fn any_text_of_a_path_is_survived(text in "[a/:?…]{0,40}", class in class()) {
        let t = Transaction { path: text, root_start_ns: Some(1), ..bare(class, 1, 0) };
        prop_assert_eq!(there_and_back(&[t]).len(), 1);
    }
}
