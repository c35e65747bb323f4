//! Transactions for property tests: every field, strange names, gaps.

use chronoscope_model::{
    ChainId, ClassName, Flags, ProcessName, Status, Transaction, TransactionId,
};
use proptest::prelude::*;

pub(crate) fn name(application: &str, class: &str) -> ClassName {
    ClassName { application: application.into(), class: class.into() }
}

fn word() -> impl Strategy<Value = String> {
    prop_oneof![
        4 => "[a-zA-Z_.]{1,6}",
        1 => "[a-z]{0,2}/[a-z]{0,2}",
        1 => "[a-z]{0,2}::[a-z]{0,2}",
        1 => "\\PC{0,6}",
    ]
}

pub(crate) fn class() -> impl Strategy<Value = ClassName> {
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

/// Names and paths of ancestors, one of which may be a gap.
fn path(class: &ClassName, above: &[ClassName], gap: bool) -> String {
    // A class that is called `?` has a name: only an id's sixteen digits stand without an application.
    let text = |c: &ClassName| match super::paths::unnamed(&c.application, &c.class) {
        Some(_) => c.class.clone(),
        None => c.to_string(),
    };
    let mut words: Vec<String> = above.iter().map(text).collect();
    if gap && !words.is_empty() {
        words.insert(1, "…".to_owned());
    }
    words.push(text(class));
    words.join("/")
}

prop_compose! {
    pub(crate) fn transaction()(
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
            extras: Default::default(),
        }
    }
}
