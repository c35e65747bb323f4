//! A connection that was welcomed: rows out, acknowledgements in, clocks compared.

use super::link::Link;
use super::link_error::LinkError;
use super::offset::{self, Offset, Offsets};
use super::rows::{self, Outgoing, Read, SpoolDrop};
use crate::protocol::{
    self, AgentMessage, ClockReply, ClockRequest, CollectorMessage, FromAgent, FromCollector, Rows,
};
use chronoscope_clock as clock;
use chronoscope_model::ProcessId;
use chronoscope_store::wire::{self, Extras};
use chronoscope_store::{ClockReading, DELIVERED_ALL};
use std::collections::VecDeque;
use std::future::pending;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;
use tokio::sync::mpsc::{self, Receiver, Sender, error::TrySendError};
use tokio::task::{JoinError, JoinHandle};
use tokio::time::{sleep, timeout};
use tonic::client::Grpc;
use tonic::codegen::http::uri::PathAndQuery;
use tonic::transport::Channel;
use tonic::{Request, Streaming};
use tonic_prost::ProstCodec;

/// Messages that are under way without having been acknowledged.
const WINDOW: usize = 16;
/// Time limit for an acknowledgement, and for the reply with the time.
const ANSWER_WITHIN: Duration = Duration::from_secs(30);
/// Interval at which the collector is told up to when rings are read, while there is no other
/// message.
const DELIVERED_EVERY: Duration = Duration::from_secs(1);
/// Interval between two checks for new rows in the spool.
const LOOK_EVERY: Duration = Duration::from_millis(10);

/// The way to the collector, with the hello on it.
pub(super) fn channel(
    hello: FromAgent,
) -> Result<(Sender<AgentMessage>, Receiver<AgentMessage>), LinkError> {
    // The window, the hello, and a clock reading.
    let (sender, receiver) = mpsc::channel(WINDOW + 2);
    offer(&sender, hello)?;
    Ok((sender, receiver))
}

/// Puts a message on the way; gives it back when there is no room.
fn offer(sender: &Sender<AgentMessage>, kind: FromAgent) -> Result<Option<FromAgent>, LinkError> {
    match sender.try_send(AgentMessage { kind: Some(kind) }) {
        Ok(()) => Ok(None),
        Err(TrySendError::Full(message)) => Ok(message.kind),
        Err(TrySendError::Closed(_)) => Err(LinkError::Closed),
    }
}

/// How a connection ended without an error.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum SessionEnd {
    /// Everything is delivered that is to be, or time is over.
    Delivered,
    /// The collector at this index of the list is preferred, and answers again.
    Preferred(usize),
}

/// State of a connection.
pub(super) struct Session<'a> {
    link: &'a Link,
    grpc: Grpc<Channel>,
    sender: Sender<AgentMessage>,
    /// The row that is read from the spool next.
    next_row: u64,
    /// The rows after the messages that are under way.
    in_flight: VecDeque<u64>,
    /// Messages that wait for a place in the window.
    ready: VecDeque<Outgoing>,
    /// Number of dropped rows that the collector was told of.
    dropped_told: u64,
    reading: Option<JoinHandle<Result<Read, LinkError>>>,
    offsets: Offsets,
    exchange: Option<JoinHandle<Option<Offset>>>,
    /// When the collector was heard last, or had nothing to say; monotonic nanoseconds.
    heard_ns: u64,
    /// Delivery notes last sent to the collector, and when: monotonic nanoseconds.
    delivered_told: (Vec<(ProcessId, i64)>, u64),
    /// When all rows of the spool were acknowledged last, as far as this connection knows: UTC,
    /// nanoseconds since 1970.
    caught_up_ns: i64,
}

/// Events that the connection reacts to.
enum Event {
    Answer(Result<Option<CollectorMessage>, tonic::Status>),
    Read(Result<Result<Read, LinkError>, JoinError>),
    Time(Result<Option<Offset>, JoinError>),
    Look,
}

impl<'a> Session<'a> {
    pub(super) fn new(
        link: &'a Link,
        grpc: Grpc<Channel>,
        sender: Sender<AgentMessage>,
        next_row: u64,
    ) -> Self {
        Self {
            link,
            grpc,
            sender,
            next_row,
            in_flight: VecDeque::new(),
            ready: VecDeque::new(),
            dropped_told: 0,
            reading: None,
            offsets: Offsets::new(),
            exchange: None,
            heard_ns: clock::monotonic_ns(),
            delivered_told: (Vec::new(), 0),
            caught_up_ns: i64::MIN,
        }
    }

    /// Delivers until everything is delivered that is to be, or time is over; or until the
    /// collector at the index `back` is to be gone back to, and nothing is under way.
    pub(super) async fn run(
        &mut self,
        answers: &mut Streaming<CollectorMessage>,
        back: &AtomicUsize,
    ) -> Result<SessionEnd, LinkError> {
        loop {
            // Asked before the spool is looked at: what is in it then is all there will be.
            let ending = self.link.shared.is_ending();
            let preferred = Some(back.load(Ordering::Relaxed)).filter(|index| *index < usize::MAX);
            match preferred.filter(|_| !ending) {
                Some(index) if self.in_flight.is_empty() => {
                    return Ok(SessionEnd::Preferred(index));
                }
                Some(_) => {}
                None => {
                    self.fill_window()?;
                    self.ask_time();
                    self.tell_delivered(ending)?;
                }
            }
            if ending && (self.link.shared.is_over() || self.has_delivered_all()) {
                return Ok(SessionEnd::Delivered);
            }
            self.check_silence()?;
            let event = tokio::select! {
                answer = answers.message() => Event::Answer(answer),
                read = joined(&mut self.reading) => Event::Read(read),
                time = joined(&mut self.exchange) => Event::Time(time),
                () = sleep(LOOK_EVERY) => Event::Look,
            };
            self.react(event)?;
        }
    }

    fn react(&mut self, event: Event) -> Result<(), LinkError> {
        match event {
            Event::Answer(answer) => {
                let answer = answer.map_err(|status| LinkError::refused(&status))?;
                self.acknowledged(answer.ok_or(LinkError::Closed)?)
            }
            Event::Read(read) => {
                self.reading = None;
                let Read { messages, next_row, dropped } = read??;
                self.next_row = next_row;
                self.dropped_told = dropped.unwrap_or(self.dropped_told);
                self.ready.extend(messages);
                Ok(())
            }
            Event::Time(time) => {
                self.exchange = None;
                match self.offsets.take(time?) {
                    Some(best) => self.tell_clock(best),
                    None => Ok(()),
                }
            }
            Event::Look => Ok(()),
        }
    }

    /// Sends what is ready, up to the window, and has more made ready.
    fn fill_window(&mut self) -> Result<(), LinkError> {
        while self.in_flight.len() < WINDOW
            && let Some(Outgoing { rows, end_row }) = self.ready.pop_front()
        {
            self.link.spool.sending(end_row)?;
            if let Some(FromAgent::Rows(rows)) = offer(&self.sender, FromAgent::Rows(rows))? {
                self.ready.push_front(Outgoing { rows, end_row });
                break;
            }
            self.in_flight.push_back(end_row);
            self.link.cuts().sent(end_row);
        }
        if self.reading.is_some() || !self.ready.is_empty() {
            return Ok(());
        }
        let spool = &self.link.spool;
        let (rows, told) = (spool.dropped_rows(), self.dropped_told);
        let dropped = (rows > told).then_some(SpoolDrop {
            rows,
            new_rows: rows - told,
            from_ns: self.caught_up_ns,
        });
        if self.next_row < spool.durable_rows() {
            let (spool, next_row) = (spool.clone(), self.next_row);
            let host = self.link.host.clone();
            let end_row_max = self.link.cuts().after(next_row);
            self.reading = Some(tokio::task::spawn_blocking(move || {
                rows::read(&spool, next_row, end_row_max, dropped, &host)
            }));
        } else if let Some(dropped) = dropped {
            let rows = rows::only_dropped(spool.origin(), self.next_row, dropped, &self.link.host)?;
            if offer(&self.sender, FromAgent::Rows(rows))?.is_none() {
                self.dropped_told = dropped.rows;
            }
        }
        Ok(())
    }

    fn has_delivered_all(&self) -> bool {
        self.in_flight.is_empty()
            && self.ready.is_empty()
            && self.reading.is_none()
            && self.next_row >= self.link.spool.durable_rows()
    }

    /// Tells up to when rings are read, once all their rows are acknowledged: a quiet host has no
    /// rows that the notes could come with.
    fn tell_delivered(&mut self, ending: bool) -> Result<(), LinkError> {
        let (told, at_ns) = &self.delivered_told;
        let now_ns = clock::monotonic_ns();
        let is_due =
            ending || now_ns >= at_ns.saturating_add(crate::duration::nanos(DELIVERED_EVERY));
        if !is_due || !self.has_delivered_all() {
            return Ok(());
        }
        let (row, delivered, names) = self.link.spool.delivered();
        if row > self.next_row || delivered == *told {
            return Ok(());
        }
        // The rings are read to here, by and large: their own deliveries say it exactly.
        let caught_up_ns = delivered.iter().map(|(_, at)| *at).filter(|at| *at < DELIVERED_ALL);
        self.caught_up_ns = caught_up_ns.min().unwrap_or(self.caught_up_ns);
        let extras = Extras { delivered: delivered.clone(), ..Extras::default() };
        let message = wire::Message { extras, names, ..wire::Message::default() };
        let rows = FromAgent::Rows(Rows::pack(self.next_row, &message)?);
        if offer(&self.sender, rows)?.is_none() {
            self.delivered_told = (delivered, now_ns);
            self.in_flight.push_back(self.next_row);
        }
        Ok(())
    }

    fn check_silence(&mut self) -> Result<(), LinkError> {
        let now_ns = clock::monotonic_ns();
        if self.in_flight.is_empty() {
            self.heard_ns = now_ns;
        }
        if now_ns - self.heard_ns > crate::duration::nanos(ANSWER_WITHIN) {
            return Err(LinkError::Silent { what: "an acknowledgement", within: ANSWER_WITHIN });
        }
        Ok(())
    }

    fn acknowledged(&mut self, answer: CollectorMessage) -> Result<(), LinkError> {
        let Some(FromCollector::Ack(ack)) = answer.kind else {
            return Err(LinkError::Unexpected { wanted: "an acknowledgement" });
        };
        self.heard_ns = clock::monotonic_ns();
        self.link.check_sent(ack.row)?;
        while let Some(end_row) = self.in_flight.pop_front_if(|end_row| *end_row <= ack.row) {
            // Only rows that were sent can be acknowledged, whatever the collector says.
            self.link.spool.acknowledge(end_row)?;
            self.link.cuts().acknowledged(end_row);
        }
        Ok(())
    }

    /// Asks what time it is there, when that is due.
    fn ask_time(&mut self) {
        if self.exchange.is_none() && clock::monotonic_ns() >= self.offsets.next_ns() {
            let request = self.link.request(ClockRequest {});
            self.exchange = Some(tokio::spawn(exchange(self.grpc.clone(), request)));
        }
    }

    /// Tells the best of some exchanges.
    fn tell_clock(&self, best: Offset) -> Result<(), LinkError> {
        let Offset { at_ns, offset_ns, error_ns } = best;
        {
            let mut status = self.link.shared.status();
            status.clock_offset_ns = Some(offset_ns);
            status.clock_error_ns = Some(error_ns);
        }
        let clocks = self.link.shared.hosts().into_iter();
        let clocks = clocks.map(|host| ClockReading { host, at_ns, offset_ns, error_ns });
        let extras = Extras { clocks: clocks.collect(), ..Extras::default() };
        let message = wire::Message { extras, ..wire::Message::default() };
        // Without room in the channel the reading is dropped: the next one is as good.
        offer(&self.sender, FromAgent::Rows(Rows::pack(self.unsent_row(), &message)?)).map(drop)
    }

    /// The row that the collector gets next: rows that were read may still wait for a place in the
    /// window, and one that was told of a later row would take them for old ones.
    fn unsent_row(&self) -> u64 {
        self.ready.front().map_or(self.next_row, |waiting| waiting.rows.first_row)
    }
}

/// One exchange of stamps; `None` when it fails or says nothing, which the next one may not.
pub(super) async fn exchange(
    mut grpc: Grpc<Channel>,
    request: Request<ClockRequest>,
) -> Option<Offset> {
    grpc.ready().await.ok()?;
    let path = PathAndQuery::from_static(protocol::CLOCK);
    let codec = ProstCodec::<ClockRequest, ClockReply>::default();
    let asked_ns = clock::utc_now_ns();
    let reply = timeout(ANSWER_WITHIN, grpc.unary(request, path, codec)).await;
    let answered_ns = clock::utc_now_ns();
    let reply = reply.ok()?.ok()?.into_inner();
    offset::estimate([asked_ns, reply.received_ns, reply.sent_ns, answered_ns]).ok()
}

/// The result of a task; never, when there is none.
async fn joined<T>(task: &mut Option<JoinHandle<T>>) -> Result<T, JoinError> {
    match task {
        Some(task) => task.await,
        None => pending().await,
    }
}

#[cfg(test)]
mod tests {
    use super::super::delivery_state::DeliveryState;
    use super::super::target::Target;
    use super::*;
    use crate::protocol::Hello;
    use chronoscope_store::{Spool, SpoolOptions, StreamId};
    use std::sync::Arc;
    use tonic::transport::Endpoint;

    /// A collector that is slow to acknowledge hears of a clock while rows wait for the window: the
    /// message must not name a row behind them.
    #[tokio::test]
    async fn a_clock_is_told_under_the_number_of_the_first_row_that_is_not_sent() {
        let dir = tempfile::tempdir().unwrap();
        let spool = Spool::open(dir.path(), SpoolOptions::default(), 0).unwrap();
        let target = Target::new("http://127.0.0.1:9", None, None, false).unwrap();
        let shared = Arc::new(DeliveryState::default());
        let link = Link::new(Arc::new(spool), vec![target], dir.path().into(), shared);
        let grpc = Grpc::new(Endpoint::from_static("http://127.0.0.1:9").connect_lazy());
        let hello = Hello::new(StreamId(1), "h".to_owned());
        let (sender, mut receiver) = channel(FromAgent::Hello(hello)).unwrap();
        let mut session = Session::new(&link, grpc, sender, 0);
        let messages = WINDOW as u64 + 3;
        let read = (0..messages).map(|at| {
            let mut message = wire::Message::default();
            (0..10).for_each(|_| message.batch.push(chronoscope_model::Record::default(), b""));
            Outgoing { rows: Rows::pack(at * 10, &message).unwrap(), end_row: at * 10 + 10 }
        });
        let read = Read { messages: read.collect(), next_row: messages * 10, dropped: None };
        session.react(Event::Read(Ok(Ok(read)))).unwrap();
        session.fill_window().unwrap();
        session.tell_clock(Offset { at_ns: 1, offset_ns: 2, error_ns: 3 }).unwrap();
        let mut first_rows = Vec::new();
        while let Ok(AgentMessage { kind: Some(kind) }) = receiver.try_recv() {
            if let FromAgent::Rows(rows) = kind {
                first_rows.push(rows.first_row);
            }
        }
        // The last one is that of the clock.
        assert_eq!(first_rows, (0..=WINDOW as u64).map(|at| at * 10).collect::<Vec<_>>());
    }
}
