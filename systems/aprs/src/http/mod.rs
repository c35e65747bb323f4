//! The web side: status page, `status.json` and `counterdata` as aprsc's tools read them, metrics
//! for Prometheus, upload of packets, and clients that come by WebSocket.
//!
//! It runs in a thread of its own and asks the rest through [`Backend`]; nothing that a browser
//! does takes time of a worker beyond the making of its own rows.

mod seam;

pub use seam::{Backend, Ports};
