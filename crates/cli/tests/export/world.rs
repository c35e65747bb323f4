//! A store with chains, and the program.

use chronoscope_formats::rows::Builder;
use chronoscope_model::{
    ChainId, ClassName, Extras, Flags, ProcessName, Status, Transaction, TransactionId,
};
use chronoscope_store::{Append, Options, Store};
use std::path::PathBuf;
use std::process::{Command, Output};

/// 2026-11-21T12:00:00Z
pub(crate) const NOON: i64 = 1_795_262_400_000_000_000;

const STEPS: [(&str, &str); 3] =
    [("MRTS", "decodePlots"), ("MSG", "forward"), ("CWP", "redraw/all")];

/// A folder with a store and with what is made from it.
pub(crate) struct World {
    pub(crate) dir: tempfile::TempDir,
}

impl World {
    pub(crate) fn new() -> Self {
        Self { dir: tempfile::tempdir().unwrap() }
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    pub(crate) fn run(&self, args: &[&str]) -> Output {
        let mut command = Command::new(env!("CARGO_BIN_EXE_chronoscope"));
        command.args(args).env("CHRONOSCOPE_DATA", self.path("data")).env("TZ", "UTC");
        command.output().unwrap()
    }

    /// Stores transactions: the first half is sealed, the rest is not.
    pub(crate) fn store(&self, transactions: &[Transaction]) {
        let store = Store::open(&self.path("data"), Options::default(), NOON).unwrap();
        let (sealed, open) = transactions.split_at(transactions.len() / 2);
        for (part, seal) in [(sealed, true), (open, false)] {
            let mut builder = Builder::default();
            part.iter().for_each(|t| builder.push(t));
            let (batch, names) = builder.into_parts();
            let input = Append { batch: Some(&batch), names: Some(&names), ..Append::default() };
            store.append(&input, NOON).unwrap();
            store.sync().unwrap();
            if seal {
                store.seal_all(NOON).unwrap();
            }
        }
    }

    /// Exports, and returns what is on stdout.
    pub(crate) fn export(&self, args: &[&str]) -> String {
        let output = self.run(&[&["export"], args].concat());
        assert!(output.status.success(), "{args:?}: {}", text(&output.stderr));
        text(&output.stdout)
    }
}

pub(crate) fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// A chain of three on three hosts.
pub(crate) fn chain(number: u64, foreign: bool) -> Vec<Transaction> {
    let start_ns = NOON + i64::try_from(number).unwrap() * 1_000_000_000;
    let process = |step: usize| ProcessName {
        application: STEPS[step].0.into(),
        host: format!("host-{step}"),
        pid: 100,
        start_ns: 0,
    };
    let words = |step: usize| format!("{}::{}", STEPS[step].0, STEPS[step].1);
    let of_step = |step: usize| {
        let id = number * 10 + step as u64 + 1;
        Transaction {
            class: ClassName { application: STEPS[step].0.into(), class: STEPS[step].1.into() },
            process: Some(process(step)),
            thread: 7,
            start_ns: start_ns + step as i64 * 2_000_000,
            elapsed_ns: 1_000_001 + number,
            cpu_ns: 900_000,
            process_cpu_ns: (step == 1).then_some(5),
            status: if number % 7 == 3 { Status::Failed } else { Status::Good },
            id: TransactionId(id),
            parent: TransactionId(if step == 0 { 0 } else { id - 1 }),
            chain: ChainId(u128::MAX - u128::from(number)),
            flags: if foreign { Flags::FOREIGN } else { Flags::default() },
            level: if foreign { 0 } else { u16::try_from(step).unwrap() },
            path: match foreign {
                true => String::new(),
                false => (0..=step).map(words).collect::<Vec<_>>().join("/"),
            },
            root_start_ns: (!foreign).then_some(start_ns),
            root_process: (!foreign).then(|| process(0)),
            properties: vec![("callsign".into(), "\"DLH\"\n<1>, \u{1}".into())],
            metrics: vec![("plots".into(), 0.1 + 0.2)],
            extras: Extras::default(),
        }
    };
    (0..3).map(of_step).collect()
}

/// Native chains, and foreign ones.
pub(crate) fn chains(native: u64, foreign: u64) -> Vec<Transaction> {
    let native_chains = (0..native).flat_map(|number| chain(number, false));
    native_chains.chain((native..native + foreign).flat_map(|number| chain(number, true))).collect()
}
