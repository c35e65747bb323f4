//! What senders say besides rows, on its way to a cluster.
//!
//! Losses go at once, before their message is acknowledged: nobody says them again. How far rings
//! are read and what clocks showed is said again and again, and waits to be written together: a
//! small insert costs a database as much as a large one.

use super::error::{IngestError, refused_by_cluster};
use crate::gaps::{Sender, gap_process};
use chronoscope_model::{Names, ProcessId};
use chronoscope_store::{
    ClockReading, DELIVERED_ALL, Delivery, Loss, Minute, RemoteNotes, RemoteStore, StreamId, wire,
};
use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Readings of clocks that wait at most; the oldest is dropped for one more.
const CLOCKS_MAX: usize = 4096;
/// Processes whose deliveries are remembered; then all are forgotten, and told again.
const PROCESSES_MAX: usize = 65_536;

/// Notes that wait for being written.
#[derive(Debug, Default)]
pub(super) struct ClusterNotes(Mutex<Waiting>);

#[derive(Debug, Default)]
struct Waiting {
    /// How far each process has delivered, and whether that was written.
    delivered: BTreeMap<ProcessId, (Delivery, bool)>,
    clocks: Vec<ClockReading>,
    /// Processes that were named and may have no row: one that says nothing else is silent.
    named: Names,
}

impl ClusterNotes {
    /// Writes the losses of a message, with the rows that its number leaves out.
    pub(super) fn write_losses(
        &self,
        rows: &dyn RemoteStore,
        message: &wire::Message,
        gap: Option<(StreamId, &Sender, u64)>,
    ) -> Result<(), IngestError> {
        let extras = &message.extras;
        let mut losses = extras.losses.clone();
        let mut names = Names::default();
        if let Some((id, sender, gap_rows)) = gap {
            let process = gap_process(id, &sender.host);
            let from_ns = self.delivered_until_ns(rows, &sender.host);
            // To the end of the minute: a message that comes again tells the same loss.
            let until_ns = Minute::of(sender.now_ns).end_ns();
            losses.push(Loss { process: process.id(), from_ns, until_ns, rows: gap_rows });
            names.add_process(process);
        }
        if losses.is_empty() && extras.lost.is_empty() {
            return Ok(());
        }
        let of =
            losses.iter().map(|loss| loss.process).chain(extras.lost.iter().map(|lost| lost.0));
        let of: Vec<ProcessId> = of.collect();
        let mut add = |known: &Names| {
            let known = of.iter().filter_map(|id| known.process(*id));
            known.for_each(|name| {
                names.add_process(name.clone());
            });
        };
        add(&message.names);
        rows.with_names(&mut add);
        let notes = RemoteNotes {
            names: &names,
            lost: &extras.lost,
            losses: &losses,
            delivered: &[],
            clocks: &[],
        };
        rows.note(&notes).map_err(refused_by_cluster)
    }

    /// Keeps what a message says of deliveries and clocks, and the processes that it names; its rows
    /// are stored.
    pub(super) fn keep(&self, message: &wire::Message, names: &Names) {
        self.named(names);
        let delivered = message.extras.delivered.iter();
        self.delivered(
            delivered.map(|(id, until_ns)| (*id, Delivery { until_ns: *until_ns, exports: false })),
        );
        let mut waiting = self.lock();
        waiting.clocks.extend_from_slice(&message.extras.clocks);
        let excess = waiting.clocks.len().saturating_sub(CLOCKS_MAX);
        waiting.clocks.drain(..excess);
    }

    /// Keeps the processes among some names.
    pub(super) fn named(&self, names: &Names) {
        let mut waiting = self.lock();
        for (_, name) in names.processes() {
            waiting.named.add_process(name.clone());
        }
        if waiting.named.processes().count() > PROCESSES_MAX {
            waiting.named = Names::default();
        }
    }

    /// Keeps how far processes have delivered.
    pub(super) fn delivered(&self, delivered: impl Iterator<Item = (ProcessId, Delivery)>) {
        let mut waiting = self.lock();
        for (process, delivery) in delivered {
            if waiting.delivered.len() >= PROCESSES_MAX {
                waiting.delivered.clear();
            }
            let known = waiting.delivered.entry(process).or_insert((delivery, false));
            if delivery > known.0 {
                *known = (delivery, false);
            }
        }
    }

    /// Writes what waits. What cannot be written waits on.
    pub(super) fn flush(&self, rows: &dyn RemoteStore) -> Result<(), IngestError> {
        let (delivered, clocks, names) = {
            let mut waiting = self.lock();
            let new = waiting.delivered.iter_mut().filter(|(_, (_, is_written))| !is_written);
            let new = new.map(|(process, (delivery, is_written))| {
                *is_written = true;
                (*process, *delivery)
            });
            let new = new.collect::<Vec<_>>();
            (new, std::mem::take(&mut waiting.clocks), std::mem::take(&mut waiting.named))
        };
        let is_named = names.processes().next().is_some();
        if delivered.is_empty() && clocks.is_empty() && !is_named {
            return Ok(());
        }
        let (delivered, clocks) = (&delivered[..], &clocks[..]);
        let notes = RemoteNotes { names: &names, lost: &[], losses: &[], delivered, clocks };
        let written = rows.note(&notes).map_err(refused_by_cluster);
        if written.is_err() {
            let mut waiting = self.lock();
            for (process, delivery) in delivered {
                let known = waiting.delivered.get_mut(process);
                if let Some(known) = known.filter(|(known, _)| known == delivery) {
                    known.1 = false;
                }
            }
            let newer = std::mem::replace(&mut waiting.clocks, clocks.to_vec());
            waiting.clocks.extend(newer);
            waiting.named.merge(&names);
        }
        written
    }

    /// Everything of a host that ended before is here, as far as this collector was told.
    fn delivered_until_ns(&self, rows: &dyn RemoteStore, host: &str) -> i64 {
        let delivered: Vec<_> =
            self.lock().delivered.iter().map(|(id, (known, _))| (*id, known.until_ns)).collect();
        let mut until_ns = None;
        rows.with_names(&mut |names| {
            let of_host = |id| names.process(id).is_some_and(|name| name.host == host);
            let of_host = delivered.iter().filter(|(id, at)| *at < DELIVERED_ALL && of_host(*id));
            until_ns = of_host.map(|(_, at)| *at).min();
        });
        until_ns.unwrap_or(i64::MIN)
    }

    fn lock(&self) -> MutexGuard<'_, Waiting> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
