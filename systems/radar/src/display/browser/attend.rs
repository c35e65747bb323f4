//! Session of one browser: its WebSocket from the upgrade until it ends.

use super::air::{Desk, SharedAir, lock};
use super::limits::Limits;
use axum::extract::ws::{CloseFrame, Message, WebSocket, close_code};
use chronoscope_clock as clock;
use futures_util::stream::{SplitSink, SplitStream};
use futures_util::{SinkExt, StreamExt};
use std::collections::VecDeque;
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tokio::time::timeout;

/// Most octets of a message from a page: its words are short.
pub(super) const MESSAGE_BYTES_MAX: usize = 512;
/// Questions to a page that may be unanswered.
const PINGS_MAX: usize = 16;
/// For saying why it is cut.
const GOODBYE: Duration = Duration::from_secs(1);

/// Message of a page: exactly one of these fields is present.
#[derive(Debug, Default, serde::Deserialize)]
#[serde(deny_unknown_fields)]
struct Said {
    ack: Option<u32>,
    pong: Option<u32>,
    visible: Option<bool>,
    later_us: Option<u32>,
}

/// Reason why the session ended.
#[derive(Debug)]
enum End {
    /// The browser left, or the connection broke.
    Left,
    /// It acknowledges or receives nothing.
    Slow,
    /// It broke the protocol.
    Protocol(String),
}

/// Questions on their way: number, and when it was asked.
type Pings = Mutex<VecDeque<(u32, u64)>>;

/// Serves one browser until it leaves or is cut.
pub(super) async fn attend(socket: WebSocket, air: SharedAir, limits: Limits) {
    let (mut sink, stream) = socket.split();
    let admitted = lock(&air).admit();
    let Some(desk) = admitted else {
        let full = close(close_code::AGAIN, "too many browsers are served here");
        let _ = timeout(GOODBYE, sink.send(full)).await;
        return;
    };
    let pings = Pings::default();
    let end = tokio::select! {
        end = send(&mut sink, &desk, &pings, limits) => end,
        end = receive(stream, &desk, &pings, &air) => end,
    };
    {
        let mut air = lock(&air);
        match &end {
            End::Left => {}
            End::Slow => air.counts.cut_slow += 1,
            End::Protocol(_) => air.counts.cut_protocol += 1,
        }
        air.leave(&desk);
    }
    let goodbye = match end {
        End::Left => return,
        End::Slow => {
            say!("radar-display: a browser was cut: it shows nothing of what it gets");
            close(close_code::POLICY, "nothing was acknowledged for too long")
        }
        End::Protocol(why) => {
            say!("radar-display: a browser was cut: {why}");
            close(close_code::PROTOCOL, "that is not what a page says")
        }
    };
    let _ = timeout(GOODBYE, sink.send(goodbye)).await;
}

fn close(code: u16, reason: &'static str) -> Message {
    Message::Close(Some(CloseFrame { code, reason: reason.into() }))
}

async fn send(
    sink: &mut SplitSink<WebSocket, Message>,
    desk: &Arc<Desk>,
    pings: &Pings,
    limits: Limits,
) -> End {
    let silent_ns = u64::try_from(limits.silent.as_nanos()).unwrap_or(u64::MAX);
    let every_ns = u64::try_from(limits.ping_every.as_nanos()).unwrap_or(u64::MAX);
    let (mut ping, mut asked_ns) = (0_u32, 0_u64);
    loop {
        let now_ns = clock::monotonic_ns();
        if desk.outbox().unacknowledged_ns(now_ns) > silent_ns {
            return End::Slow;
        }
        let mut messages = Vec::new();
        if now_ns.saturating_sub(asked_ns) >= every_ns {
            (ping, asked_ns) = (ping.wrapping_add(1), now_ns);
            let mut pings = lock(pings);
            pings.truncate(PINGS_MAX - 1);
            pings.push_front((ping, now_ns));
            messages.push(Message::Text(format!("{{\"kind\":\"ping\",\"ping\":{ping}}}").into()));
        }
        messages.extend(desk.take_words().map(|words| Message::Text((&*words).into())));
        let frame = desk.outbox().take(now_ns, clock::utc_now_ns());
        messages.extend(frame.map(|octets| Message::Binary(octets.into())));
        if messages.is_empty() {
            // Whether it has become silent is looked at then, too.
            let _ = timeout(limits.ping_every, desk.changed.notified()).await;
        }
        for message in messages {
            match timeout(limits.silent, sink.send(message)).await {
                Ok(Ok(())) => {}
                Ok(Err(_)) => return End::Left,
                Err(_) => return End::Slow,
            }
        }
    }
}

async fn receive(
    mut stream: SplitStream<WebSocket>,
    desk: &Arc<Desk>,
    pings: &Pings,
    air: &SharedAir,
) -> End {
    while let Some(message) = stream.next().await {
        let words = match message {
            Ok(Message::Text(words)) => words,
            Ok(Message::Ping(_) | Message::Pong(_)) => continue,
            Ok(Message::Close(_)) => return End::Left,
            Ok(Message::Binary(_)) => return End::Protocol("it sent octets".to_owned()),
            Err(error) => {
                // A connection that breaks is no offence; a message that is none is.
                let why = error.to_string();
                let broken = why.contains("reset") || why.contains("closing handshake");
                return if broken { End::Left } else { End::Protocol(why) };
            }
        };
        let now_ns = clock::monotonic_ns();
        let said: Said = match serde_json::from_str(&words) {
            Ok(said) => said,
            Err(error) => return End::Protocol(format!("its words are not ours: {error}")),
        };
        if let Some(frame) = said.ack {
            if let Err(error) = desk.outbox().acknowledge(frame) {
                return End::Protocol(error.to_string());
            }
            // What waited for room may go.
            desk.changed.notify_one();
        }
        if let Some(pong) = said.pong {
            let mut pings = lock(pings);
            if let Some(at) = pings.iter().position(|(ping, _)| *ping == pong) {
                desk.outbox().answered(now_ns - pings[at].1);
                pings.truncate(at); // those before are not answered any more
            }
        }
        if let Some(later_us) = said.later_us {
            desk.outbox().presented_later(u64::from(later_us) * 1000);
        }
        match said.visible {
            Some(true) => lock(air).show(desk, now_ns),
            Some(false) => desk.outbox().hide(),
            None => {}
        }
    }
    End::Left
}
