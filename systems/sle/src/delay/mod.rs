//! A path with delay, for measurements: what a kernel without `netem` cannot do by itself.
//!
//! Two ways. [`Path`] is the true one: two network namespaces, each with a TUN device, and a thread
//! that carries every IP packet from one to the other after its delay; TCP runs end to end, with
//! its windows, acknowledgements and congestion control. It needs the right to make namespaces and
//! `/dev/net/tun`. [`Relay`] needs nothing: it relays connections, delays octets and holds no more
//! than a window in flight for one round trip (what the kernel keeps at either side comes on top).
//! That shows what a window does to throughput; it shows nothing of congestion control, and urgent
//! data ends in it.
//!
//! ```
//! use chronoscope_sle::delay::{Line, Wire};
//! use std::time::Duration;
//! let mut line = Line::new(Wire { one_way: Duration::from_millis(50), ..Wire::default() });
//! line.push(1_000, b"packet".to_vec());
//! assert_eq!(line.pop(50_000_999), None);
//! assert_eq!(line.pop(50_001_000).as_deref(), Some(&b"packet"[..]));
//! ```
//!
//! Not here: loss, reordering and jitter.

mod line;
mod path;
mod priority;
mod relay;

pub use chronoscope_lab::Namespace;
pub use line::{Line, Wire};
pub use path::{Buffers, Carried, DelayError, End, Path};
pub use relay::Relay;
