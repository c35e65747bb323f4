//! Messages between threads.

use std::sync::mpsc;
use std::thread;

use super::Extent;
use super::table::{Table, timed};

pub(crate) fn run(extent: Extent, table: &mut Table) {
    table.section("channels (ns a message)");
    let batches = extent.batches / 5 + 1;
    for senders in [1_u64, 4] {
        let found = timed(batches, || {
            let (sender, receiver) = mpsc::channel();
            stream(
                senders,
                40_000,
                move || sender.clone(),
                |count| {
                    assert_eq!(receiver.iter().take(count).count(), count);
                },
            )
        });
        table.row(&format!("std mpsc, unbounded, {senders}:1"), None, found);
        let found = timed(batches, || {
            let (sender, receiver) = mpsc::sync_channel(1024);
            stream_bounded(senders, 40_000, &sender, &receiver)
        });
        table.row(&format!("std mpsc, room for 1024, {senders}:1"), None, found);
    }
    let (there, requests) = mpsc::sync_channel::<u64>(1);
    let (answer, back) = mpsc::sync_channel::<u64>(1);
    let other = thread::spawn(move || requests.iter().try_for_each(|value| answer.send(value)));
    let found = timed(batches, || {
        for value in 0..1000 {
            there.send(value).unwrap();
            assert_eq!(back.recv().unwrap(), value);
        }
        1000
    });
    table.row("there and back between two threads", None, found);
    drop(there);
    other.join().unwrap().unwrap();
}

/// Sends `count` numbers in all from so many threads; how many.
fn stream(
    senders: u64,
    count: u64,
    sender: impl Fn() -> mpsc::Sender<u64>,
    receive: impl FnOnce(usize),
) -> u64 {
    let threads: Vec<_> = (0..senders)
        .map(|_| {
            let sender = sender();
            thread::spawn(move || (0..count / senders).try_for_each(|value| sender.send(value)))
        })
        .collect();
    receive(usize::try_from(count).unwrap());
    threads.into_iter().for_each(|thread| thread.join().unwrap().unwrap());
    count
}

fn stream_bounded(
    senders: u64,
    count: u64,
    sender: &mpsc::SyncSender<u64>,
    receiver: &mpsc::Receiver<u64>,
) -> u64 {
    thread::scope(|scope| {
        for _ in 0..senders {
            let sender = sender.clone();
            scope.spawn(move || {
                (0..count / senders).try_for_each(|value| sender.send(value)).unwrap();
            });
        }
        let all = usize::try_from(count).unwrap();
        assert_eq!(receiver.iter().take(all).count(), all);
    });
    count
}
