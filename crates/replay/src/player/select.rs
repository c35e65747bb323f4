//! Transport and purpose of an input, and its selection from a recording.

use crate::capture::{Arrival, ArrivalContent};
use crate::wire::Endpoint;
use std::net::{IpAddr, SocketAddr};
use std::str::FromStr;

/// Transport of an input.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Transport {
    /// UDP datagrams.
    Udp,
    /// TCP streams.
    Tcp,
}

/// Purpose of an input: thinning the load leaves queries out.
#[derive(
    Clone,
    Copy,
    Debug,
    Default,
    PartialEq,
    Eq,
    PartialOrd,
    Ord,
    serde::Serialize,
    serde::Deserialize,
)]
#[serde(rename_all = "lowercase")]
pub enum FeedKind {
    /// The input changes the state of the system.
    #[default]
    State,
    /// The input is a query.
    Query,
}

/// Selection from a recording: `udp 8600`, `tcp 10.0.0.9:80`, `8600`, `channel NAME` of a journal.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Select {
    transport: Option<Transport>,
    address: Option<IpAddr>,
    port: Option<u16>,
    pub(super) channel: Option<String>,
}

impl FromStr for Select {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let mut select = Self::default();
        let mut words = text.split_whitespace();
        while let Some(word) = words.next() {
            match word {
                "udp" => select.transport = Some(Transport::Udp),
                "tcp" => select.transport = Some(Transport::Tcp),
                "channel" => select.channel = Some(words.by_ref().collect::<Vec<_>>().join(" ")),
                _ => {
                    if let Ok(at) = word.parse::<SocketAddr>() {
                        (select.address, select.port) = (Some(at.ip()), Some(at.port()));
                    } else if let Ok(port) = word.parse() {
                        select.port = Some(port);
                    } else if let Ok(address) = word.parse() {
                        select.address = Some(address);
                    } else {
                        return Err(format!(
                            "\"{word}\" in \"{text}\" is neither udp, tcp, a port, an address nor \
                             `channel NAME`"
                        ));
                    }
                }
            }
        }
        Ok(select)
    }
}

impl Select {
    pub(super) fn takes(&self, arrival: &Arrival) -> bool {
        let transport = match arrival.what {
            ArrivalContent::Datagram(_) => Transport::Udp,
            _ => Transport::Tcp,
        };
        let address = self.address.map(|ip| Endpoint::from(SocketAddr::new(ip, 0)).address);
        self.transport.is_none_or(|wanted| wanted == transport)
            && address.is_none_or(|wanted| wanted == arrival.to.address)
            && self.port.is_none_or(|wanted| wanted == arrival.to.port)
    }
}
