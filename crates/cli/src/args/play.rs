//! Arguments of `chronoscope replay CAPTURE --real-time` and `--factor`.

use chronoscope_replay::player::{Select, Transport};
use clap::Args;
use std::net::{SocketAddr, ToSocketAddrs};

/// Plays a capture or journal against a running system, without a virtual clock.
#[derive(Debug, Args)]
#[command(group = clap::ArgGroup::new("where").multiple(true))]
pub(crate) struct Play {
    /// Play a recording at its original speed to --to or --map: no scenario, no virtual clock
    #[arg(long, conflicts_with_all = ["factor", "verify"], requires = "where")]
    pub(crate) real_time: bool,
    /// Play a recording this many times as fast
    #[arg(long, value_name = "N", value_parser = factor, requires = "where",
          conflicts_with = "verify")]
    pub(crate) factor: Option<f64>,
    /// With --real-time or --factor: send all recorded udp or tcp input to ADDRESS:PORT
    #[arg(long, value_name = "udp|tcp:ADDR", value_parser = to, group = "where")]
    pub(crate) to: Vec<Target>,
    /// With --real-time or --factor: send the input recorded for one destination to another: "udp
    /// 8600=HOST:PORT", "tcp 10.0.0.9:80=HOST:PORT", "udp channel NAME=HOST:PORT" of a journal
    #[arg(long, value_name = "SELECT=ADDR", value_parser = map, group = "where")]
    pub(crate) map: Vec<Target>,
}

/// Destination of recorded input.
#[derive(Clone, Debug)]
pub(crate) struct Target {
    /// The argument as given; it names the delivered input.
    pub(crate) name: String,
    pub(crate) select: Select,
    pub(crate) transport: Transport,
    pub(crate) address: SocketAddr,
}

impl Play {
    /// Speed relative to the recording; `None` for a replay under a virtual clock.
    pub(crate) fn factor(&self) -> Option<f64> {
        self.factor.or(self.real_time.then_some(1.0))
    }
}

pub(super) fn factor(text: &str) -> Result<f64, String> {
    let factor = text.parse().ok().filter(|factor: &f64| (1e-3..=1e9).contains(factor));
    factor.ok_or(format!("{text:?}: expected a number from 0.001 to 1,000,000,000"))
}

fn to(text: &str) -> Result<Target, String> {
    let form = || format!("{text:?}: expected udp:ADDRESS:PORT or tcp:ADDRESS:PORT");
    let (transport, address) = text.split_once(':').ok_or_else(form)?;
    target(transport, address, form)
}

fn map(text: &str) -> Result<Target, String> {
    let form = || format!("{text:?}: expected SELECT=ADDRESS:PORT, as in \"udp 8600=127.0.0.1:1\"");
    let (select, address) = text.rsplit_once('=').ok_or_else(form)?;
    target(select, address, form)
}

fn target(select: &str, address: &str, form: impl Fn() -> String) -> Result<Target, String> {
    let transport = match select.split_whitespace().next() {
        Some("udp") => Transport::Udp,
        Some("tcp") => Transport::Tcp,
        _ => return Err(format!("{} (udp or tcp comes first)", form())),
    };
    // A journal's channel has no transport of its own.
    let words = match select.split_once(" channel ") {
        Some((_, name)) => format!("channel {name}"),
        None => select.to_owned(),
    };
    let resolved = address.to_socket_addrs().map_err(|error| format!("{address}: {error}"))?.next();
    let name = select.replace([' ', ':', '/'], "-");
    let address = resolved.ok_or_else(form)?;
    Ok(Target { name, select: words.parse()?, transport, address })
}
