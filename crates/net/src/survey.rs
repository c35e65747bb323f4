//! Measures what [`crate::verdict`] wants to know of a path, in seconds.

use crate::answer::request::{self, Probe};
use crate::answer::{
    AnswerClient, AnswerError, CallError, Options as Answering, Server, Transferred,
};
use crate::probe::{self, Load, Peer, ProbeOptions, Prober, Series, Target};
use crate::verdict::{Bulk, PathMeasurements, SizedRoundTrip, Sizes};
use std::io;
use std::net::{Ipv4Addr, SocketAddr};
use std::time::Duration;

/// Options of a survey.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Options {
    /// Sizes of the round trips, the smaller first.
    pub octets: [u32; 2],
    /// Steady round trips of each size.
    pub count: u32,
    /// Interval between two round trips.
    pub every: Duration,
    /// A reply later than this counts as lost.
    pub timeout: Duration,
    /// Bulk data to the server, and from it.
    pub bulk: [Option<request::Bulk>; 2],
}

impl Default for Options {
    /// 20 round trips of 64 and of 1400 octets, 25 MB in at most two seconds each way.
    fn default() -> Self {
        Self {
            octets: [64, 1400],
            count: 20,
            every: Duration::from_millis(5),
            timeout: Duration::from_secs(1),
            bulk: [Some(request::Bulk { octets: 25_000_000, at_most_ms: 2000 }); 2],
        }
    }
}

/// Reasons why there is nothing to judge.
#[derive(Debug, thiserror::Error)]
pub enum SurveyError {
    /// No round trip was made.
    #[error("{server} does not reply to echo over UDP: {why}")]
    Silent {
        /// Address of the server.
        server: SocketAddr,
        /// Reason for the failure.
        why: String,
    },
    /// The server would not, or could not.
    #[error(transparent)]
    Call(#[from] CallError),
    /// This host cannot reply to itself.
    #[error(transparent)]
    Answer(#[from] AnswerError),
    /// Error of this host.
    #[error("this host cannot send requests: {0}")]
    System(#[from] io::Error),
}

/// Measurements of a survey.
#[derive(Clone, Debug, PartialEq)]
pub struct Survey {
    /// Sizes of the round trips.
    pub octets: [u32; 2],
    /// Between the hosts, of both sizes.
    pub between: [Series; 2],
    /// On each host with itself, of both sizes: here, there. There only where the server does it.
    pub alone: [Option<[Series; 2]>; 2],
    /// Durations of making a connection.
    pub connect: Series,
    /// Bulk data to the server, and from it.
    pub bulk: [Option<Transferred>; 2],
    /// Measurements that failed, with the reason.
    pub troubles: Vec<String>,
}

/// Measures; `say` is called before each step.
///
/// # Errors
/// [`SurveyError`]: without round trips or bulk data between the hosts there is nothing to judge.
pub fn survey(
    caller: &AnswerClient,
    options: &Options,
    say: &mut dyn FnMut(&str),
) -> Result<Survey, SurveyError> {
    let server = caller.server;
    let mut troubles = Vec::new();
    say("round trips");
    let between = both(options, |octets| series(Target::Udp(peer(server)), octets, options))?;
    if median(&between[0]).is_none() || median(&between[1]).is_none() {
        let why = format!("{} of {} were lost", lost(&between), 2 * options.count + 2);
        return Err(SurveyError::Silent { server, why });
    }
    let connect = series(Target::Connect(peer(server)), options.octets[0], options)?;
    say("round trips on this host");
    let here = Server::start(Answering::new((Ipv4Addr::LOCALHOST, 0).into()))?;
    let own = both(options, |octets| series(Target::Udp(peer(here.address())), octets, options))?;
    here.stop();
    say("round trips on the other host");
    let theirs = both(options, |octets| caller.probe(&probe(server, octets, options)));
    let theirs = match theirs {
        Ok(measured) => Some(measured.map(Series::from)),
        Err(error) => {
            troubles.push(format!("round trips on the other host are not known: {error}"));
            None
        }
    };
    let mut bulk = [None; 2];
    if let Some(limits) = options.bulk[0] {
        say("bulk data to the other host");
        bulk[0] = Some(caller.send(limits)?);
    }
    if let Some(limits) = options.bulk[1] {
        say("bulk data from the other host");
        bulk[1] = Some(caller.receive(limits)?);
    }
    let alone = [Some(own), theirs];
    Ok(Survey { octets: options.octets, between, alone, connect, bulk, troubles })
}

impl Survey {
    /// In the numbers that are judged; `hosts` are the names of both.
    #[must_use]
    pub fn seen(&self, hosts: [String; 2]) -> PathMeasurements {
        let sizes = |series: &[Series; 2]| -> Option<Sizes> {
            let ns = [median(&series[0])?, median(&series[1])?];
            Some([0, 1].map(|size| SizedRoundTrip { octets: self.octets[size], ns: ns[size] }))
        };
        let bulk = |way: usize| {
            self.bulk[way].map(|moved| Bulk {
                bits_per_s: moved.bits_per_s(),
                cpu: [moved.here, moved.there],
            })
        };
        PathMeasurements {
            hosts,
            between: sizes(&self.between).unwrap_or([SizedRoundTrip { octets: 0, ns: 0.0 }; 2]),
            alone: [0, 1].map(|host| self.alone[host].as_ref().and_then(sizes)),
            connect_ns: median(&self.connect),
            bulk: [bulk(0), bulk(1)],
        }
    }
}

/// Median of the steady ones, in nanoseconds.
#[must_use]
pub fn median(series: &Series) -> Option<f64> {
    series.summary().p50_ns.map(|ns| ns as f64)
}

fn both<T, E>(
    options: &Options,
    mut measure: impl FnMut(u32) -> Result<T, E>,
) -> Result<[T; 2], E> {
    Ok([measure(options.octets[0])?, measure(options.octets[1])?])
}

fn lost(between: &[Series; 2]) -> usize {
    let lost = |series: &Series| {
        let steady = series.steady.iter().filter(|(_, took_ns)| took_ns.is_none());
        steady.count() + usize::from(series.first_ns.is_none())
    };
    between.iter().map(lost).sum()
}

fn series(target: Target, octets: u32, options: &Options) -> io::Result<Series> {
    let asking = ProbeOptions { octets: octets as usize, timeout: options.timeout };
    let mut prober = Prober::new(target, asking);
    let load = Load {
        count: options.count,
        every: options.every,
        timeout: options.timeout,
        ..Load::default()
    };
    probe::run(&load, |_| prober.ask())
}

fn probe(server: SocketAddr, octets: u32, options: &Options) -> Probe {
    let whole = |time: u128| u64::try_from(time).unwrap_or(u64::MAX);
    Probe {
        target: Target::Udp(peer(server)).to_string(),
        octets: octets as usize,
        count: options.count,
        every_us: whole(options.every.as_micros()),
        timeout_ms: whole(options.timeout.as_millis()),
    }
}

/// An address as a target has it.
#[must_use]
pub fn peer(address: SocketAddr) -> Peer {
    Peer { host: address.ip().to_string(), port: address.port() }
}
