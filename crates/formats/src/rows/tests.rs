use super::*;
use chronoscope_model::{ChainId, Status, TransactionId};
use proptest::prelude::*;

fn name(application: &str, class: &str) -> ClassName {
    ClassName { application: application.into(), class: class.into() }
}

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

fn word() -> impl Strategy<Value = String> {
    prop_oneof![
        4 => "[a-zA-Z_.]{1,6}",
        1 => "[a-z]{0,2}/[a-z]{0,2}",
        1 => "[a-z]{0,2}::[a-z]{0,2}",
        1 => "\\PC{0,6}",
    ]
}

fn class() -> impl Strategy<Value = ClassName> {
    prop_oneof![
        9 => (word(), word()).prop_map(|(a, c)| name(&a, &c)),
        1 => (1u64..).prop_map(|id| name("", &format!("?{id:016x}"))),
    ]
}

fn process() -> impl Strategy<Value = ProcessName> {
    (word(), "[a-z]{1,5}", any::<u32>(), any::<i64>()).prop_map(
        |(application, host, pid, start_ns)| ProcessName { application, host, pid, start_ns },
    )
}

/// What names and paths may hold: ancestors, one of which may be a gap.
fn path(class: &ClassName, above: &[ClassName], gap: bool) -> String {
    let text = |c: &ClassName| match c.application.is_empty() && c.class.starts_with('?') {
        true => c.class.clone(),
        false => c.to_string(),
    };
    let mut words: Vec<String> = above.iter().map(text).collect();
    if gap && !words.is_empty() {
        words.insert(1, "…".to_owned());
    }
    words.push(text(class));
    words.join("/")
}

prop_compose! {
    fn transaction()(
        (class, above, gap) in (class(), prop::collection::vec(class(), 0..4), any::<bool>()),
        (process, root_process) in (prop::option::of(process()), prop::option::of(process())),
        (start_ns, elapsed_ns, cpu_ns) in any::<(i64, u64, u64)>(),
        process_cpu_ns in prop::option::of(0..u64::MAX),
        (id, parent, chain) in any::<(u64, u64, u128)>(),
        (thread, status, flags, level) in (any::<u32>(), 0u8..4, 0u8..32, any::<u16>()),
        root_start in any::<i64>(),
        properties in prop::collection::vec((word(), word()), 0..3),
        metrics in prop::collection::vec((word(), -1e300..1e300), 0..3),
    ) -> Transaction {
        let flags = Flags(flags);
        let native = !flags.contains(Flags::FOREIGN);
        Transaction {
            path: if native { path(&class, &above, gap) } else { String::new() },
            class, process, thread, start_ns, elapsed_ns, cpu_ns, process_cpu_ns,
            status: Status::from_number(status),
            id: TransactionId(id), parent: TransactionId(parent), chain: ChainId(chain),
            flags, level,
            root_start_ns: native.then_some(root_start),
            root_process: root_process.filter(|_| native),
            properties, metrics,
        }
    }
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
