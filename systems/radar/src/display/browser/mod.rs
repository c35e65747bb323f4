//! The working position in a browser: HTTP, a WebSocket, and its protocol.
//!
//! | request | answer |
//! |---|---|
//! | `GET /` | the page |
//! | `GET /map.json` | what lies under the targets ([`Chart`](super::chart::Chart)) |
//! | `GET /socket` | a WebSocket: frames ([`wire`]) and words to the page, acknowledgements back |
//!
//! Control messages are JSON in text messages. To the page: `status` once a second and `ping`. From
//! the page: `{"ack": frame}` when a frame has been handed to the compositor, `{"later_us":
//! duration}` when the browser has reported how much later one was presented, `{"pong": number}`,
//! `{"visible": true}` when it becomes visible (it gets all tracks), `{"visible": false}`.
//!
//! It runs in a thread of its own; [`Air`] is the state that both threads share. A browser that
//! acknowledges or receives nothing for [`Limits::silent`] is cut; so is one that sends a message
//! that our page never sends. A page of another origin is refused. There is no token: a warning is
//! printed when the address is not loopback.
//!
//! Not here: TLS, for which a proxy is put in front.

mod air;
mod alerting;
mod attend;
mod limits;
mod outbox;
mod serve;
pub mod wire;

pub use air::{Air, BrowserCounts, Health, SharedAir};
pub use limits::Limits;
pub use outbox::{NeverSent, Outbox, OutboxCounts};
pub(in crate::display) use serve::embedded;
pub use serve::{Browsers, listen};
