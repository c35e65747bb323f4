//! The working position's process: subscribes to the message server and draws.

use super::browser::{self, Air, BrowserCounts, Browsers, Limits, SharedAir};
use super::chart::Chart;
use super::map::{self, MapLayers};
use super::{
    LoadSeen, Picture, Policy, PositionCounts, Surface, UpdateMode, View, WorkingPosition,
};
use crate::geodesy::Wgs84;
use crate::link::{Signals, Upstream, UpstreamCounts, announce};
use chronoscope_clock as clock;
use chronoscope_origin::AllowedHosts;
use mio::{Events, Poll, Token};
use std::io::{self, ErrorKind};
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::time::Duration;

/// Settings of the working position.
#[derive(Clone, Debug)]
pub struct ServerSettings {
    /// The message server.
    pub messages: SocketAddr,
    /// View of the picture.
    pub view: View,
    /// Layers of the map.
    pub layers: MapLayers,
    /// Policy for collecting updates.
    pub policy: Policy,
    /// File that gets the picture at the end and on SIGUSR1.
    pub png: Option<PathBuf>,
    /// Settings for browsers; if present, no picture is drawn here.
    pub browsers: Option<BrowserSettings>,
}

/// Settings for serving browsers.
#[derive(Clone, Debug)]
pub struct BrowserSettings {
    /// Address that browsers connect to.
    pub listen: SocketAddr,
    /// File that gets the address listened on.
    pub port_file: Option<PathBuf>,
    /// Names under which they ask, beside `localhost` and every IP address.
    pub allow_hosts: Vec<String>,
    /// Initial centre of their pictures.
    pub centre: Wgs84,
    /// Whether it was given, by itself or by radars.
    pub centre_is_given: bool,
    /// Initial height of the shown area, NM.
    pub height_nm: f64,
}

/// Summary of the process for `--json`. It has no CPU time: a replay must print the same every
/// time, and the caller of the program can measure it.
#[derive(Clone, Debug, serde::Serialize)]
pub struct Summary {
    /// Format of this summary; raised when a field changes its meaning.
    pub version: u32,
    /// Seconds from the start to the end.
    pub seconds: f64,
    /// Targets shown at the end.
    pub targets: usize,
    /// Number of changes between standard mode and averaging.
    pub mode_changes: u64,
    /// The changes themselves: to which mode, and when; the first thousand.
    pub changes: Vec<Change>,
    /// Seconds in averaging mode.
    pub averaging_seconds: f64,
    /// Statistics of the load.
    pub load: LoadSeen,
    /// Counts of updates.
    pub position: PositionCounts,
    /// The subscription to the message server.
    pub messages: UpstreamCounts,
    /// The browsers, where they are served.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub browsers: Option<BrowserCounts>,
}

/// A change of the mode.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize)]
pub struct Change {
    /// Time, UTC nanoseconds since 1970.
    pub utc_ns: i64,
    /// Whether updates are collected from now on.
    pub averaging: bool,
}

/// Changes that the summary lists.
const CHANGES_MAX: usize = 1000;
const SIGNALS: Token = Token(0);
const MESSAGES: Token = Token(1);
/// Interval of status line and mode, ns.
pub(super) const TICK_NS: u64 = 1_000_000_000;
/// Reads before clock and signals are looked after again.
pub(super) const READS_A_TURN: usize = 4;

/// Runs until SIGINT or SIGTERM.
///
/// # Errors
/// When the poll cannot be set up or fails for good, or the picture cannot be written.
pub fn run(settings: &ServerSettings) -> io::Result<Summary> {
    let mut poll = Poll::new()?;
    let mut signals = Signals::catch(poll.registry(), SIGNALS)?;
    let mut upstream = Upstream::new(settings.messages, MESSAGES);
    let (surface, browsers) = surface(settings)?;
    let begin_ns = clock::monotonic_ns();
    let mut process = Process {
        position: WorkingPosition::new(surface, settings.policy, begin_ns),
        tick_ns: begin_ns,
        undrained_ns: None,
        averaging_ns: 0,
        changes: Vec::new(),
    };
    // A file that cannot be written is refused at once, not at the end.
    if let Some(path) = &settings.png {
        let new = beside(path);
        let tried = std::fs::File::create(&new).and_then(|_| std::fs::remove_file(&new));
        tried.map_err(|e| cannot_write(path, &e))?;
    }
    let mut events = Events::with_capacity(16);
    while !signals.stop() {
        let now_ns = clock::monotonic_ns();
        upstream.tick(poll.registry(), now_ns);
        let wait_ns = if upstream.is_readable() {
            0
        } else {
            let due =
                [upstream.deadline_ns(), process.position.deadline_ns(), Some(process.tick_ns)];
            due.into_iter().flatten().min().unwrap_or(now_ns).saturating_sub(now_ns)
        };
        match poll.poll(&mut events, Some(Duration::from_nanos(wait_ns))) {
            Err(e) if e.kind() != ErrorKind::Interrupted => return Err(e),
            _ => {}
        }
        let awake_ns = clock::monotonic_ns();
        for event in &events {
            match event.token() {
                SIGNALS => signals.acknowledge(),
                _ => upstream.ready(event, awake_ns),
            }
        }
        process.turn(&mut upstream, awake_ns);
        if signals.take_picture()
            && let Some(path) = &settings.png
            && let Err(e) = save(&process.position, path)
        {
            say!("radar-display: {e}");
        }
    }
    if let Some(path) = &settings.png {
        save(&process.position, path)?;
    }
    let mut summary = process.summary(begin_ns, &upstream);
    if let Some((browsers, air)) = browsers {
        drop(browsers); // no browser leaves between the counts
        summary.browsers = air.lock().ok().map(|air| air.counts());
    }
    Ok(summary)
}

/// Makes the surface that is drawn on: browsers, which are served from then on, or a picture.
fn surface(settings: &ServerSettings) -> io::Result<(Surface, Option<(Browsers, SharedAir)>)> {
    let Some(to) = &settings.browsers else {
        let map = map::draw(&settings.view, &settings.layers);
        return Ok((Picture::new(settings.view.clone(), map).into(), None));
    };
    let air = match &settings.layers.file {
        Some(map) => Air::new(to.centre).with_map(map).map_err(io::Error::other)?,
        None => Air::new(to.centre),
    };
    let air = Arc::new(Mutex::new(air));
    let mut chart = Chart::new(to.centre, to.height_nm, &settings.layers);
    chart.centre_is_given = to.centre_is_given;
    let map = serde_json::to_string(&chart)?;
    let browsers = browser::listen(
        to.listen,
        Arc::clone(&air),
        map,
        Limits::default(),
        AllowedHosts::new(to.allow_hosts.iter().cloned(), "--allow-host"),
    )?;
    let address = browsers.address();
    if !address.ip().is_loopback() {
        say!(
            "radar-display: whoever reaches {address} sees the air situation: there is neither \
             token nor TLS. Listen on 127.0.0.1 behind a proxy that has them."
        );
    }
    say!("radar-display: the working position is at http://{address}/");
    announce("radar-display", "browsers", address, to.port_file.as_deref())?;
    Ok((Arc::clone(&air).into(), Some((browsers, air))))
}

struct Process {
    position: WorkingPosition,
    tick_ns: u64,
    /// Begin of the present time in which input was never fully processed.
    undrained_ns: Option<u64>,
    averaging_ns: u64,
    changes: Vec<Change>,
}

impl Process {
    /// Processes received and due work.
    fn turn(&mut self, upstream: &mut Upstream, awake_ns: u64) {
        let awake_cpu_ns = clock::thread_cpu_ns();
        for _ in 0..READS_A_TURN {
            if !upstream.is_readable() {
                break;
            }
            self.undrained_ns.get_or_insert(awake_ns);
            let now_ns = clock::monotonic_ns();
            let position = &mut self.position;
            upstream.read(now_ns, |block| position.block(block, now_ns));
            position.draw_pending(now_ns);
            let read_ns = clock::monotonic_ns();
            let backlog_ns = self.undrained_ns.map_or(0, |since| read_ns.saturating_sub(since));
            if self.position.behind(backlog_ns, read_ns) {
                self.changed(UpdateMode::Averaging, clock::utc_now_ns());
            }
        }
        let now_ns = clock::monotonic_ns();
        self.position.draw_pending(now_ns);
        self.position.hand_over();
        let done_ns = clock::monotonic_ns();
        let backlog_ns = self.undrained_ns.map_or(0, |since| done_ns.saturating_sub(since));
        let cpu_ns = clock::thread_cpu_ns() - awake_cpu_ns;
        self.position.worked(done_ns - awake_ns, cpu_ns, backlog_ns);
        if !upstream.is_readable() {
            self.undrained_ns = None;
        }
        if done_ns >= self.tick_ns {
            self.tick(done_ns, upstream.is_connected());
        }
    }

    fn tick(&mut self, now_ns: u64, connected: bool) {
        let since_ns = (now_ns + TICK_NS).saturating_sub(self.tick_ns);
        if self.position.load().mode() == UpdateMode::Averaging {
            self.averaging_ns += since_ns;
        }
        self.tick_ns = now_ns + TICK_NS;
        let utc_ns = clock::utc_now_ns();
        if let Some(mode) = self.position.tick(utc_ns, now_ns, connected) {
            self.changed(mode, utc_ns);
        }
    }

    fn changed(&mut self, mode: UpdateMode, utc_ns: i64) {
        if self.changes.len() < CHANGES_MAX {
            self.changes.push(Change { utc_ns, averaging: mode == UpdateMode::Averaging });
        }
        match mode {
            UpdateMode::Averaging => say!("radar-display: overloaded, collecting updates (MPA)"),
            UpdateMode::Standard => say!("radar-display: drawing each update again"),
        }
    }

    fn summary(&self, begin_ns: u64, upstream: &Upstream) -> Summary {
        let seconds = |ns: u64| Duration::from_nanos(ns).as_secs_f64();
        Summary {
            version: 2,
            seconds: seconds(clock::monotonic_ns() - begin_ns),
            targets: self.position.target_count(),
            mode_changes: self.position.load().switches(),
            changes: self.changes.clone(),
            averaging_seconds: seconds(self.averaging_ns),
            load: self.position.load().seen(),
            position: self.position.counts(),
            messages: upstream.counts(),
            browsers: None,
        }
    }
}

/// Writes the picture at once: who looks finds a whole one.
fn save(position: &WorkingPosition, path: &Path) -> io::Result<()> {
    let png = position.png().ok_or_else(|| io::Error::other("the picture cannot be encoded"))?;
    let new = beside(path);
    let written = std::fs::write(&new, png).and_then(|()| std::fs::rename(&new, path));
    written.map_err(|e| cannot_write(path, &e))
}

/// The file that is written before it takes the place of `path`.
fn beside(path: &Path) -> PathBuf {
    let mut new = path.as_os_str().to_owned();
    new.push(".new");
    new.into()
}

fn cannot_write(path: &Path, why: &io::Error) -> io::Error {
    io::Error::new(why.kind(), format!("cannot write {}: {why}", path.display()))
}
