//! What stands beside the path of a chain: calls inside a hop, and further parents.

#![allow(clippy::unwrap_used, clippy::cast_possible_wrap, reason = "helpers of tests")]

mod world;

use chronoscope_model::context::{self, ContextEntry};
use chronoscope_model::{
    Batch, ChainId, ClassId, ClassName, Flags, FurtherParent, NO_PROCESS_CPU, Names, ParentRoot,
    PathId, ProcessId, Record, TransactionId,
};
use chronoscope_store::{Append, MINUTE_NS, Options, Store};
use serde_json::{Value, json};
use std::path::Path;
use world::{BEGIN_NS, World};

const CHAINS: u64 = 200;
/// Of an order that waits for its customer, and of the others: elapsed time, and that of the lookup.
const SLOW_NS: (u64, u64) = (430_000, 410_000);
const QUICK_NS: (u64, u64) = (25_000, 5_000);

const NAMES: [(&str, &str); 3] =
    [("shop", "handleOrder"), ("shop", "lookup_customer"), ("bill", "charge")];

fn classes() -> [ClassId; 3] {
    NAMES.map(|(application, class)| ClassId::of(application, class))
}

fn is_slow(chain: u64) -> bool {
    chain.is_multiple_of(10)
}

fn start_ns(chain: u64) -> i64 {
    BEGIN_NS + chain as i64 * 10_000_000
}

/// The order, as what takes it besides its own names it.
fn link(chain: u64) -> FurtherParent {
    let root = ParentRoot {
        start_ns: start_ns(chain),
        process: ProcessId::NONE,
        level: 0,
        path: PathId::of(&classes()[..1]),
    };
    FurtherParent { chain: ChainId(chain.into()), id: TransactionId(chain * 10), root: Some(root) }
}

/// An order that looks its customer up and waits for it; then a charge, which takes the order before
/// as well.
fn add_chain(batch: &mut Batch, chain: u64) {
    let [order, lookup, charge] = classes();
    let (elapsed_ns, lookup_ns) = if is_slow(chain) { SLOW_NS } else { QUICK_NS };
    let begin_ns = start_ns(chain);
    let row = |index: u64, class, path: &[ClassId], start_ns, elapsed_ns| Record {
        start_ns,
        elapsed_ns,
        process_cpu_ns: NO_PROCESS_CPU,
        chain_low: chain,
        id: TransactionId(chain * 10 + index),
        parent: TransactionId(if index == 0 { 0 } else { chain * 10 }),
        class,
        path: PathId::of(path),
        root_start_ns: begin_ns,
        level: u16::from(index > 0),
        ..Record::default()
    };
    batch.push(row(0, order, &[order], begin_ns, elapsed_ns), b"");
    batch.push(row(1, lookup, &[order, lookup], begin_ns + 1_000, lookup_ns), b"");
    let mut context = [0; 256];
    let size = context::append(&mut context, 0, ContextEntry::Parent(link(chain - 1))).unwrap();
    let end_ns = begin_ns + elapsed_ns as i64;
    let mut taking = row(2, charge, &[order, charge], end_ns + 1_000, 7_000);
    taking.flags = Flags::FURTHER_PARENTS.0;
    batch.push(taking, &context[..size]);
}

fn fill(dir: &Path) {
    let mut names = Names::default();
    for (application, class) in NAMES {
        names.add_class(ClassName { application: application.into(), class: class.into() });
    }
    let [order, lookup, charge] = classes();
    for path in [vec![order], vec![order, lookup], vec![order, charge]] {
        names.add_path(PathId::of(&path), path);
    }
    let mut batch = Batch::default();
    (1..=CHAINS).for_each(|chain| add_chain(&mut batch, chain));
    let now_ns = BEGIN_NS + 10 * MINUTE_NS;
    let store = Store::open(dir, Options::default(), now_ns).unwrap();
    let input = Append { batch: Some(&batch), names: Some(&names), ..Append::default() };
    store.append(&input, now_ns).unwrap();
    store.sync().unwrap();
    store.seal_all(now_ns).unwrap();
}

const SELECTED: &str = "root=shop::handleOrder&leaf=bill::charge";

#[test]
fn a_slow_call_that_is_no_hop_is_named_inside_its_parent() {
    let world = World::of(fill, |_| ());
    let hops = world.answer(&format!("hops?{SELECTED}&min_ns=300000"));
    assert_eq!((&hops["selected"], &hops["rest"]), (&(CHAINS / 10).into(), &180.into()));
    let sentence = hops["sentence"].as_str().unwrap();
    let named = "is the work of shop::handleOrder: shop::lookup_customer takes 410.00 µs of \
                 430.00 µs there, else 5.00 µs of 25.00 µs";
    assert!(sentence.ends_with(named), "{sentence}");
    let work = |hop: &&Value| hop["hop"] == "shop::handleOrder" && hop["part"] == "work";
    let work = hops["hops"].as_array().unwrap().iter().find(work).unwrap();
    let inside = json!([{"class": "shop::lookup_customer", "selected_mean_ns": 410_000.0,
        "rest_mean_ns": 5_000.0}]);
    assert_eq!(work["inside"], inside);
    let others = hops["hops"].as_array().unwrap().iter().filter(|hop| *hop != work);
    assert!(others.clone().count() > 0 && others.clone().all(|hop| hop["inside"] == json!([])));
}

#[test]
fn further_parents_are_in_the_chain_and_in_the_graph() {
    let world = World::of(fill, |_| ());
    let chain = world.answer(&format!("chains/{}", ChainId(20)));
    let row = |class: &str| {
        chain["rows"].as_array().unwrap().iter().find(|row| row["class"] == class).unwrap()
    };
    let link = json!({"chain": ChainId(19).to_string(), "id": TransactionId(190).to_string(),
        "class": "shop::handleOrder", "root_start_ns": start_ns(19)});
    assert_eq!(row("charge")["links"], json!([link]));
    assert_eq!(row("handleOrder")["links"], json!([]));
    assert_eq!(row("charge")["links_unknown"], false);
    let graph = world.answer("graph");
    let edges = graph["edges"].as_array().unwrap();
    let links: Vec<&Value> = edges.iter().filter(|edge| edge["link"] == true).collect();
    assert_eq!(links.len(), 1, "{graph}");
    let pair = (links[0]["from"].as_str().unwrap(), links[0]["to"].as_str().unwrap());
    assert_eq!((pair, &links[0]["sampled"]), (("shop::handleOrder", "bill::charge"), &true.into()));
    assert!(links[0]["count"].as_u64().unwrap() > 0);
    assert_eq!(edges.len(), 3, "two calls and a link");
}
