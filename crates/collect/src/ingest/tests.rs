//! Rows from outside: into files and into a cluster.

use super::batches::renamed;
use super::limits::OPEN_SLOTS_MAX;
use super::*;
use chronoscope_model::{
    ChainId, ClassId, ClassName, ProcessId, ProcessName, Record, TransactionId,
};
use chronoscope_store::{
    ClockReading, Delivery, Loss, Options, RemoteError, RemoteNotes, StoreError,
};
use std::sync::Mutex;

const AGENT: StreamId = StreamId(9);

fn rows(ids: std::ops::Range<u64>) -> wire::Message {
    let mut message = wire::Message::default();
    for id in ids {
        let record = Record { id: TransactionId(id), ..Record::default() };
        message.batch.push(record, b"");
    }
    message
}

fn door(dir: &std::path::Path) -> (Arc<Store>, Ingest) {
    let store = Arc::new(Store::open(dir, Options::default(), 0).unwrap());
    (store.clone(), Ingest::into_files(store))
}

#[test]
fn what_comes_twice_is_taken_once_also_in_other_pieces() {
    let dir = tempfile::tempdir().unwrap();
    let (store, ingest) = door(dir.path());
    let next = |first_row, ids| ingest.deliver(AGENT, first_row, &rows(ids)).unwrap().next_row;
    assert_eq!(next(0, 0..10), 10);
    assert_eq!(next(0, 0..10), 10);
    assert_eq!(next(5, 5..12), 12, "two of seven are new");
    assert_eq!(store.backlog().rows, 12);
    assert_eq!(next(20, 20..25), 25, "what the sender dropped does not come");
    assert_eq!(next(14, 14..18), 25, "and is not taken after what came behind it");
    assert_eq!(store.backlog().rows, 17);
    assert_eq!(ingest.next_row(AGENT).unwrap(), Some(25));
    assert_eq!(store.durable_rows(), 17, "who is told so may forget them");
    assert_eq!(ingest.next_row(StreamId(8)).unwrap(), None);
}

#[test]
fn rows_go_where_their_chain_continues() {
    let alias =
        |chain, continues| ChainAlias { chain: ChainId(chain), continues: ChainId(continues) };
    let mut batch = Batch::default();
    for chain in [1, 2, 3] {
        batch.push(Record { chain_low: chain, ..Record::default() }, b"");
    }
    let renamed = renamed(&batch, &[alias(1, 2), alias(2, 9)]).unwrap();
    let chains: Vec<_> = renamed.records().iter().map(|record| record.chain().0).collect();
    assert_eq!(chains, [9, 9, 3]);
    assert!(
        super::batches::renamed(&batch, &[alias(1, 2), alias(2, 1)]).is_some(),
        "a circle ends"
    );
    assert_eq!(super::batches::renamed(&batch, &[]), None);
}

#[test]
fn how_far_a_sender_is_survives_with_its_rows() {
    let dir = tempfile::tempdir().unwrap();
    let (store, ingest) = door(dir.path());
    let receipt = ingest.deliver(AGENT, 0, &rows(0..10)).unwrap();
    ingest.settle(receipt).unwrap();
    drop((store, ingest));
    let (store, ingest) = door(dir.path());
    assert_eq!(ingest.deliver(AGENT, 0, &rows(0..10)).unwrap().next_row, 10);
    assert_eq!(store.backlog().rows, 10);
}

/// Rows of so many minutes, from a minute of 2023 on.
fn of_minutes(count: i64) -> wire::Message {
    let mut message = wire::Message::default();
    for minute in 0..count {
        let root_start_ns = 1_700_000_000_000_000_000 + minute * chronoscope_store::MINUTE_NS;
        let id = TransactionId(u64::try_from(minute).unwrap() + 1);
        message.batch.push(Record { id, root_start_ns, ..Record::default() }, b"");
    }
    message
}

/// One request opened 1,440 minutes: sealing them stopped the collector.
#[test]
fn the_network_opens_a_bounded_number_of_minutes_and_rings_go_on() {
    let dir = tempfile::tempdir().unwrap();
    let (store, ingest) = door(dir.path());
    let take = |batch: &Batch| ingest.take(RowSource::Once, batch, &Names::default(), &[]);
    let refused = take(&of_minutes(1440).batch).unwrap_err();
    assert!(matches!(refused, IngestError::Minutes) && refused.is_passing(), "{refused}");
    assert_eq!(store.backlog().rows, 0, "all or nothing");
    take(&of_minutes(OPEN_SLOTS_MAX as i64).batch).unwrap();
    assert!(matches!(take(&of_minutes(257).batch), Err(IngestError::Minutes)));
    take(&of_minutes(100).batch).unwrap(); // of minutes that are open
    let mut now = Batch::default();
    let root_start_ns = clock::utc_now_ns();
    now.push(Record { root_start_ns, ..Record::default() }, b"");
    take(&now).unwrap();
    // Rings do not come by this door.
    let input = Append { batch: Some(&of_minutes(1440).batch), ..Append::default() };
    store.append(&input, clock::utc_now_ns()).unwrap();
}

#[test]
fn a_message_of_very_many_minutes_comes_in_little_by_little() {
    let dir = tempfile::tempdir().unwrap();
    let (store, ingest) = door(dir.path());
    let message = of_minutes(600);
    let mut tries = 0;
    while ingest.deliver(AGENT, 0, &message).is_err() {
        tries += 1;
        let (open, _) = store.opened_by(&std::collections::BTreeSet::new());
        assert_eq!(open, OPEN_SLOTS_MAX);
        store.seal_all(clock::utc_now_ns()).unwrap();
    }
    assert_eq!((tries, store.backlog().rows), (2, 600), "each row once");
    assert_eq!(ingest.next_row(AGENT).unwrap(), Some(600));
}

/// Rings may still fill the half of the memory that the network leaves them.
#[test]
fn the_network_leaves_memory_to_rings() {
    let dir = tempfile::tempdir().unwrap();
    let options = Options { buffer_bytes: 100_000, ..Options::default() };
    let store = Arc::new(Store::open(dir.path(), options, 0).unwrap());
    let ingest = Ingest::into_files(store.clone());
    let batch = rows(0..500).batch;
    let take = || ingest.take(RowSource::Once, &batch, &Names::default(), &[]);
    let refused = std::iter::repeat_with(take).take(100).find_map(Result::err).unwrap();
    assert!(matches!(refused, IngestError::Busy(StoreError::Backlog { .. })), "{refused}");
    let input = Append { batch: Some(&batch), ..Append::default() };
    store.append(&input, 0).unwrap();
}

/// A cluster that takes everything, and was empty when this process came.
#[derive(Debug, Default)]
struct EmptyCluster {
    names: Mutex<Names>,
    next_row: Mutex<Option<u64>>,
    noted: Arc<Mutex<Noted>>,
    aliases: Mutex<Vec<ChainAlias>>,
}

type Noted = (Vec<Loss>, Vec<(ProcessId, Delivery)>, Vec<ClockReading>);

impl RemoteStore for EmptyCluster {
    fn with_names(&self, look: &mut dyn FnMut(&Names)) {
        look(&self.names.lock().unwrap());
    }

    fn wanted_row(&self, _: u128) -> Result<Option<u64>, RemoteError> {
        Ok(*self.next_row.lock().unwrap())
    }

    fn next_row(&self, _: u128) -> Result<Option<u64>, RemoteError> {
        Ok(*self.next_row.lock().unwrap())
    }

    fn insert(&self, _: &Batch, names: &Names, _: u128) -> Result<(), RemoteError> {
        self.names.lock().unwrap().merge(names);
        Ok(())
    }

    fn add_aliases(&self, aliases: &[ChainAlias]) -> Result<(), RemoteError> {
        self.aliases.lock().unwrap().extend(aliases);
        Ok(())
    }

    fn insert_stream(
        &self,
        _: u128,
        first_row: u64,
        batch: &Batch,
        names: &Names,
    ) -> Result<u64, RemoteError> {
        self.names.lock().unwrap().merge(names);
        let next_row = first_row + batch.len() as u64;
        *self.next_row.lock().unwrap() = Some(next_row);
        Ok(next_row)
    }

    fn note(&self, notes: &RemoteNotes<'_>) -> Result<(), RemoteError> {
        let mut noted = self.noted.lock().unwrap();
        noted.0.extend_from_slice(notes.losses);
        noted.1.extend_from_slice(notes.delivered);
        noted.2.extend_from_slice(notes.clocks);
        Ok(())
    }
}

fn cluster() -> Ingest {
    Ingest::into_cluster(EmptyCluster::default())
}

/// The bounds were a local store's only.
#[test]
fn a_cluster_is_brought_a_bounded_number_of_minutes_and_names() {
    let ingest = cluster();
    let take = |batch: &Batch| ingest.take(RowSource::Once, batch, &Names::default(), &[]);
    assert!(matches!(take(&of_minutes(1440).batch), Err(IngestError::Minutes)));
    take(&of_minutes(OPEN_SLOTS_MAX as i64).batch).unwrap();
    assert!(matches!(take(&of_minutes(257).batch), Err(IngestError::Minutes)));

    let ingest = cluster();
    let hello = Hello::new(AGENT, "host".into());
    ingest.agent_came(AGENT, &hello);
    let refused = ingest.deliver(AGENT, 0, &of_minutes(600)).unwrap_err();
    assert!(matches!(refused, IngestError::Minutes), "{refused}");
    assert_eq!(ingest.deliver(AGENT, 0, &of_minutes(256)).unwrap().next_row, 256, "are there");

    let mut message = wire::Message::default();
    let now_ns = clock::utc_now_ns();
    for number in 0..20_000 {
        let name = ClassName { application: "A".into(), class: number.to_string() };
        let class = ClassId::of(&name.application, &name.class);
        message.names.add_class(name);
        let record = Record { class, root_start_ns: now_ns, ..Record::default() };
        message.batch.push(record, b"");
    }
    assert_eq!(ingest.deliver(AGENT, 256, &message).unwrap().next_row, 20_256);
    let other_rows = ingest.agents()[0].other_rows;
    assert_eq!(other_rows, 20_000 - 16_384, "of the class (other)");
}

#[test]
fn rows_under_numbers_of_others_are_refused() {
    let dir = tempfile::tempdir().unwrap();
    let (store, ingest) = door(dir.path());
    let batch = rows(0..3).batch;
    let take = |source| ingest.take(source, &batch, &Names::default(), &[]);
    assert!(take(RowSource::Once).is_ok());
    assert!(take(RowSource::Keyed(3)).is_ok());
    assert!(take(RowSource::Keyed(3)).is_ok());
    assert_eq!(store.durable_rows(), 6, "the third time they came with the same key");
    let wrong = take(RowSource::Stream { id: AGENT, first_row: 5, end_row: 9 }).unwrap_err();
    assert_eq!(wrong.to_string(), "3 rows do not match the numbers from 5 to 9");
    assert!(take(RowSource::Stream { id: AGENT, first_row: 5, end_row: 8 }).is_ok());
}

/// Losses are noted before a message is acknowledged; how far rings are read, and readings of
/// clocks, when the collector asks for it.
#[test]
fn a_cluster_is_told_of_losses_deliveries_and_clocks() {
    let cluster = EmptyCluster::default();
    let noted = cluster.noted.clone();
    let ingest = Ingest::into_cluster(cluster);
    let hello = Hello::new(StreamId(1), "h".to_owned());
    ingest.agent_came(StreamId(1), &hello);
    let process = ProcessId(7);
    let loss = Loss { process, from_ns: 1, until_ns: 2, rows: 3 };
    let reading = ClockReading { host: "h".to_owned(), at_ns: 5, offset_ns: 6, error_ns: 7 };
    let extras = wire::Extras {
        lost: vec![(process, 3)],
        losses: vec![loss],
        delivered: vec![(process, 9)],
        clocks: vec![reading.clone()],
        ..wire::Extras::default()
    };
    let message = wire::Message { extras, ..wire::Message::default() };
    ingest.deliver(StreamId(1), 0, &message).unwrap();
    assert_eq!(*noted.lock().unwrap(), (vec![loss], vec![], vec![]));
    ingest.flush_notes().unwrap();
    let delivery = Delivery { until_ns: 9, exports: false };
    assert_eq!(*noted.lock().unwrap(), (vec![loss], vec![(process, delivery)], vec![reading]));
    ingest.flush_notes().unwrap();
    assert_eq!(noted.lock().unwrap().1.len(), 1, "once");
}

/// Rows that an agent's numbers leave out are losses of that agent's host.
#[test]
fn a_gap_is_a_loss_in_a_cluster_too() {
    let cluster = EmptyCluster::default();
    let noted = cluster.noted.clone();
    let ingest = Ingest::into_cluster(cluster);
    let hello = Hello::new(StreamId(1), "h".to_owned());
    ingest.agent_came(StreamId(1), &hello);
    let deliver = |first_row, lost: &[(ProcessId, u64)]| {
        let mut batch = Batch::default();
        batch.push(Record { start_ns: clock::utc_now_ns(), ..Record::default() }, b"");
        let extras = wire::Extras { lost: lost.to_vec(), ..wire::Extras::default() };
        let message = wire::Message { batch, extras, ..wire::Message::default() };
        ingest.deliver(StreamId(1), first_row, &message).unwrap()
    };
    deliver(0, &[]);
    assert_eq!(deliver(5, &[]).gap_rows, 4);
    let losses = noted.lock().unwrap().0.clone();
    assert_eq!(losses.iter().map(|loss| loss.rows).collect::<Vec<_>>(), [4]);
    assert_eq!(deliver(9, &[(ProcessId(7), 3)]).gap_rows, 3, "what a ring lost is none of it");
}

/// What a message without rows says may overtake rows that are under way: they come all the same.
#[test]
fn a_reading_of_a_clock_ahead_of_rows_makes_none_of_them_old() {
    let ingest = cluster();
    ingest.agent_came(AGENT, &Hello::new(AGENT, "h".to_owned()));
    let next = |first_row, message: &wire::Message| {
        let receipt = ingest.deliver(AGENT, first_row, message).unwrap();
        (receipt.next_row, receipt.gap_rows)
    };
    let clocks = vec![ClockReading { host: "h".to_owned(), at_ns: 5, offset_ns: 6, error_ns: 7 }];
    let extras = wire::Extras { clocks, ..wire::Extras::default() };
    let reading = wire::Message { extras, ..wire::Message::default() };
    assert_eq!(next(100, &reading), (100, 0), "an unknown spool may begin anywhere");
    assert_eq!(next(100, &of_minutes(10)), (110, 0));
    assert_eq!(next(150, &reading), (110, 0), "ahead of 40 rows");
    assert_eq!(next(110, &of_minutes(40)), (150, 0));
}

/// Where all rows were dropped there are none to tell it with.
#[test]
fn rows_declared_as_dropped_without_rows_are_no_gap() {
    let ingest = cluster();
    ingest.agent_came(AGENT, &Hello::new(AGENT, "h".to_owned()));
    let next = |first_row, message: &wire::Message| {
        let receipt = ingest.deliver(AGENT, first_row, message).unwrap();
        (receipt.next_row, receipt.gap_rows)
    };
    next(0, &of_minutes(10));
    let name = ProcessName {
        application: "chronoscope agent 09".to_owned(),
        host: "h".to_owned(),
        pid: 0,
        start_ns: 0,
    };
    let extras = wire::Extras { lost: vec![(name.id(), 40)], ..wire::Extras::default() };
    let mut names = Names::default();
    names.add_process(name);
    let dropped = wire::Message { extras, names, ..wire::Message::default() };
    assert_eq!(next(50, &dropped), (50, 0));
    assert_eq!(next(50, &of_minutes(1)), (51, 0));
}
