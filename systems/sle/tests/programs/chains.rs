//! What both programs record is one chain.

use crate::station::{Station, until};
use chronoscope_model::{Batch, Record};
use chronoscope_record::read::{self, Cursors, Ring};
use std::path::Path;

/// What a process recorded.
struct Recorded {
    ring: Ring,
    batch: Batch,
}

impl Recorded {
    fn all(folder: &Path) -> Vec<Self> {
        let open = |path: &std::path::PathBuf| {
            let mut ring = Ring::open(path).unwrap();
            let mut batch = Batch::default();
            ring.drain(&mut Cursors::default(), usize::MAX, &mut batch).unwrap();
            ring.refresh_names().unwrap();
            Self { ring, batch }
        };
        read::find_rings(folder).iter().map(open).collect()
    }
}

fn of_class(all: &[Recorded], application: &str, class: &str) -> Vec<Record> {
    let mut found = Vec::new();
    for one in all.iter().filter(|one| one.ring.process().application == application) {
        let names = one.ring.names();
        let is_it =
            |record: &&Record| names.class(record.class).is_some_and(|name| name.class == class);
        found.extend(one.batch.records().iter().filter(is_it).copied());
    }
    found
}

#[test]
fn a_cltu_is_a_chain_across_both_processes() {
    let station = Station::new();
    station.json(&["-i", "cltu1", "send", "--generate", "50", "--until-radiated", "30"]);
    // The provider says that the last is radiated, and then ends its transaction.
    until(|| {
        let all = Recorded::all(station.folder.path());
        of_class(&all, "SLE provider", "radiateCltu").len() == 50
    });
    let all = Recorded::all(station.folder.path());
    let of = |application, class| {
        let found = of_class(&all, application, class);
        assert_eq!(found.len(), 50, "{application}::{class}");
        found
    };
    let roots = of("SLE user", "cltuTransferData");
    let received = of("SLE provider", "receiveCltu");
    let queued = of("SLE provider", "queueCltu");
    let radiated = of("SLE provider", "radiateCltu");
    let acknowledged = of("SLE user", "acknowledgeCltu");
    let child_of = |parent: &Record, among: &[Record]| {
        let found: Vec<_> = among.iter().filter(|record| record.parent == parent.id).collect();
        assert_eq!(found.len(), 1);
        assert_eq!(found[0].chain_high, parent.chain_high);
        assert_eq!(found[0].chain_low, parent.chain_low);
        *found[0]
    };
    for root in &roots {
        assert!(root.parent.is_none());
        let receive = child_of(root, &received);
        assert_ne!(receive.process, root.process);
        let queue = child_of(&receive, &queued);
        child_of(&queue, &radiated);
        child_of(root, &acknowledged);
    }
    for class in ["bind", "start", "stop", "unbind"] {
        assert_eq!(of_class(&all, "SLE user", class).len(), 1, "{class}");
    }
}

#[test]
fn a_transfer_buffer_is_a_chain_across_both_processes() {
    let station = Station::new();
    station.json(&["-i", "onlc1", "receive", "--frames", "2000"]);
    let all = Recorded::all(station.folder.path());
    let received = of_class(&all, "SLE user", "receiveBuffer");
    let delivered = of_class(&all, "SLE provider", "deliverBuffer");
    assert!(received.len() >= 2000 / 80, "{}", received.len());
    for record in &received {
        let parent = delivered.iter().find(|parent| parent.id == record.parent).unwrap();
        assert_eq!((record.chain_high, record.chain_low), (parent.chain_high, parent.chain_low));
    }
}

#[test]
fn an_annotated_frame_carries_its_chain() {
    // So slow that the provider's ring still has what the user had, however late it is read.
    let instances = Station::with("", "annotate = true").instances.clone();
    let station = Station::of(&instances.replace("rate = 20000", "rate = 2000"), &[]);
    station.json(&["-i", "onlc1", "receive", "--frames", "500"]);
    let all = Recorded::all(station.folder.path());
    let received = of_class(&all, "SLE user", "receiveFrame");
    let delivered = of_class(&all, "SLE provider", "deliverFrame");
    assert!(received.len() >= 500);
    for record in &received {
        let parent = delivered.iter().find(|parent| parent.id == record.parent).unwrap();
        assert_eq!((record.level, record.root_start_ns), (1, parent.start_ns));
    }
}
