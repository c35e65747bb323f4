//! The radar chain on the hosts of a test bed, from the first program to the last row.

use super::hosts::{CENTRE, Host, Hosts};
use super::program::{Program, cpu_s_of};
use super::split::Split;
use super::throttle::Throttle;
use super::{Bed, Sending};
use crate::machine;
use anyhow::{Context, Result, bail};
use chronoscope_clock::{monotonic_ns, sleep, utc_now_ns};
use chronoscope_radar::port_files::{ChainPort, PortFiles};
use serde::Serialize;
use serde_json::Value;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

const TRACKER: usize = 1;
const MESSAGES: usize = 2;
const FIRST_DISPLAY: usize = 3;
/// Time for the last plots to become pixels, after the generator has ended.
const SETTLE: Duration = Duration::from_millis(1500);

/// Settings of a run.
#[derive(Clone, Debug)]
pub struct Setup {
    /// A folder below that of the bed.
    pub name: String,
    /// Options of the generator besides where to send and for how long.
    pub scenario: Vec<OsString>,
    /// Options of each display.
    pub displays: Vec<Vec<OsString>>,
    /// Number of hosts for displays; 0: everything is on one host.
    pub display_hosts: usize,
    /// For how long plots are sent.
    pub seconds: u32,
    /// Sending policy of tracker and message server.
    pub sending: Sending,
    /// Share of the time for which the first display may run, in (0, 1]; it is stopped meanwhile.
    pub share: f64,
    /// Whether programs record.
    pub record: bool,
}

/// Use of processors by a kind of program.
#[derive(Clone, Debug, Serialize)]
pub struct Role {
    /// Role of the processes.
    pub role: &'static str,
    /// Number of processes.
    pub processes: usize,
    /// CPU time of all of them, in seconds, from the first plot on.
    pub cpu_s: f64,
    /// The same as a number of processors.
    pub processors: f64,
    /// Where the time of their threads went; `None` of a program that is not looked at.
    pub split: Option<Split>,
}

impl Role {
    /// Takes off what they had used before there was any traffic: they start and draw their map.
    fn less(&mut self, idle: &Self, seconds: f64) {
        self.cpu_s -= idle.cpu_s;
        self.processors = self.cpu_s / seconds;
        self.split = self.split.zip(idle.split).map(|(split, idle)| split.less(idle));
    }
}

/// Result of a run.
#[derive(Debug)]
pub struct Ran {
    /// Folder of the store.
    pub data: PathBuf,
    /// The picture of the first display.
    pub picture: PathBuf,
    /// Summaries of the programs.
    pub tracker: Value,
    /// … of the message server.
    pub messages: Value,
    /// … of the displays, in order.
    pub displays: Vec<Value>,
    /// Last status of the collector, and of each agent.
    pub collector: Value,
    /// … of the agents.
    pub agents: Vec<Value>,
    /// Use of processors by role.
    pub roles: Vec<Role>,
    /// Hosts of the run.
    pub hosts: Vec<Host>,
    /// Whether they were apart.
    pub apart: bool,
    /// Packets carried and lost between hosts.
    pub carried: Option<[u64; 2]>,
    /// For how long plots were sent, in seconds.
    pub seconds: f64,
    /// Load average of the machine while plots were sent: mean and largest, of all programs.
    pub load: [f64; 2],
    /// Whether a signal ended it early.
    pub interrupted: bool,
}

/// Programs of a chain that runs, in the order in which they are ended.
struct Running {
    /// Address on which the tracker receives plots.
    plots: String,
    tracker: Program,
    messages: Program,
    displays: Vec<Program>,
    agents: Vec<Program>,
    collector: Program,
}

impl Setup {
    /// Runs it.
    ///
    /// # Errors
    /// When a program cannot be started or fails. A signal is none: what there is then is given
    /// back.
    pub fn run(&self, bed: &Bed) -> Result<Ran> {
        let folder = bed.fresh(&self.name)?;
        let one_host = bed.one_host || self.display_hosts == 0;
        let hosts = Hosts::new(&self.host_names(), one_host, true)?;
        let files = PortFiles::new(&folder);
        self.plans(bed, &hosts, &folder, &files)?;
        let mut running = self.start(bed, &hosts, &folder, &files)?;
        let first = running.displays.first().context("no display")?.id();
        let throttle = Throttle::start(first, self.share);
        let (began_ns, lab_cpu_s) = (monotonic_ns(), own_cpu_s());
        let idle = running.roles(0.0, 0.0, 1.0);
        let mut generator = self.generator(bed, &hosts, &folder, &running.plots)?;
        let mut load = Vec::new();
        let interrupted = self.attend(bed, &mut generator, &mut running, &mut load)?;
        generator.ask_to_end();
        let generator_cpu_s = generator.cpu_s();
        let seconds = (monotonic_ns() - began_ns) as f64 / 1e9;
        // An end by SIGTERM is well; its summary is not needed.
        let _ = generator.wait();
        sleep(SETTLE);
        drop(throttle);
        let tracker = running.tracker.end()?;
        sleep(SETTLE);
        let messages = running.messages.end()?;
        running.displays.iter_mut().for_each(Program::ask_to_end);
        let displays = running.displays.iter_mut().map(Program::end).collect::<Result<_>>()?;
        running.agents.iter_mut().for_each(Program::ask_to_end);
        let agents = running.agents.iter_mut().map(Program::end).collect::<Result<_>>()?;
        let collector = running.collector.end()?;
        let lab_cpu_s = own_cpu_s() - lab_cpu_s;
        let mut roles = running.roles(generator_cpu_s, lab_cpu_s, seconds);
        roles.iter_mut().zip(&idle).for_each(|(role, idle)| role.less(idle, seconds));
        Ok(Ran {
            data: folder.join("data"),
            picture: folder.join("display.png"),
            tracker,
            messages,
            displays,
            collector,
            agents,
            roles,
            apart: hosts.are_apart(),
            carried: hosts.carried(),
            hosts: hosts.all().to_vec(),
            seconds,
            load: [
                load.iter().sum::<f64>() / load.len().max(1) as f64,
                load.iter().copied().fold(0.0, f64::max),
            ],
            interrupted,
        })
    }

    fn host_names(&self) -> Vec<String> {
        let mut names: Vec<String> = ["centre", "mrts", "msg"].map(str::to_owned).to_vec();
        names.extend((1..=self.display_hosts.max(1)).map(|number| format!("cwp{number:03}")));
        names
    }

    /// The flight plans of the scenario, which the generator writes before it sends anything.
    fn plans(&self, bed: &Bed, hosts: &Hosts, folder: &Path, files: &PortFiles) -> Result<()> {
        let mut command = bed.program("radar-generator")?;
        command.args(&self.scenario).args(files.generator("127.0.0.1:9"));
        command.args(["--duration", "0.2"]).env("CHRONOSCOPE_RECORD", "off");
        hosts.start(CENTRE, folder, "plans", &mut command)?.wait()?;
        Ok(())
    }

    fn generator(&self, bed: &Bed, hosts: &Hosts, folder: &Path, to: &str) -> Result<Program> {
        let mut command = bed.program("radar-generator")?;
        command.args(&self.scenario).args(["--to", to, "--json"]);
        command.args(["--speed", &bed.speed.to_string()]);
        command.args(["--duration", &self.seconds.to_string()]).env("CHRONOSCOPE_RECORD", "off");
        hosts.start(CENTRE, folder, "generator", &mut command)
    }

    /// Starts everything but the generator; returns when all are connected.
    fn start(&self, bed: &Bed, hosts: &Hosts, folder: &Path, files: &PortFiles) -> Result<Running> {
        let at = |host: usize| format!("{}:0", hosts.all()[host].address);
        let record = |command: &mut Command| {
            command.env("CHRONOSCOPE_RECORD", if self.record { "on" } else { "off" });
        };
        let (mut collector, collector_at) = collector(bed, hosts, folder)?;
        let agents = agents(bed, hosts, folder, &collector_at)?;
        collector.must_run()?;

        let mut command = bed.program("radar-tracker")?;
        command.args(files.tracker()).args(["--plots", &at(TRACKER), "--listen", &at(TRACKER)]);
        command.arg("--json").args(self.sending.options());
        record(&mut command);
        let mut tracker = hosts.start(TRACKER, folder, "tracker", &mut command)?;
        let plots = tracker.listens(files, ChainPort::Plots)?;
        let tracks = tracker.listens(files, ChainPort::Tracks)?;

        let mut command = bed.program("radar-messages")?;
        command.args(files.messages(&tracks)).args(["--listen", &at(MESSAGES), "--json"]);
        command.args(self.sending.options());
        record(&mut command);
        let mut messages = hosts.start(MESSAGES, folder, "messages", &mut command)?;
        let updates = messages.listens(files, ChainPort::Updates)?;
        tracker.says(|said| said.contains("subscriber 1 "))?;

        let mut displays = Vec::new();
        for (number, options) in self.displays.iter().enumerate() {
            let host = FIRST_DISPLAY + number % self.display_hosts.max(1);
            let mut command = bed.program("radar-display")?;
            command.args(files.display(&updates)).arg("--json").args(options);
            if number == 0 {
                command.arg("--png").arg(folder.join("display.png"));
            }
            record(&mut command);
            let name = format!("display{:03}", number + 1);
            displays.push(hosts.start(host, folder, &name, &mut command)?);
            bed.go_on()?;
        }
        bed.say(&format!("{}: waiting for {} displays", self.name, displays.len()));
        let count = displays.len();
        messages.says(|said| said.matches(") connected").count() >= count)?;
        Ok(Running { plots, tracker, messages, displays, agents, collector })
    }

    /// Waits until the generator has ended by itself, and looks at the machine's load meanwhile.
    /// Returns whether a signal arrived before.
    fn attend(
        &self,
        bed: &Bed,
        generator: &mut Program,
        running: &mut Running,
        load: &mut Vec<f64>,
    ) -> Result<bool> {
        let begin_ns = monotonic_ns();
        while !generator.is_over()? {
            if bed.go_on().is_err() {
                return Ok(true);
            }
            generator.note_cpu();
            load.push(machine::load());
            running.tracker.must_run()?;
            running.messages.must_run()?;
            running.displays.iter_mut().try_for_each(Program::must_run)?;
            running.agents.iter_mut().try_for_each(Program::must_run)?;
            running.collector.must_run()?;
            let passed_s = (monotonic_ns() - begin_ns) as f64 / 1e9;
            bed.say_sometimes(&format!("{}: {passed_s:.0} of {} s", self.name, self.seconds));
            sleep(Duration::from_millis(100));
        }
        Ok(false)
    }
}

impl Ran {
    /// Mean use of processors by the programs of a role.
    #[must_use]
    pub fn processors(&self, role: &str) -> f64 {
        self.roles.iter().filter(|one| one.role == role).map(|one| one.processors).sum()
    }
}

impl Running {
    fn roles(&self, generator_s: f64, lab_s: f64, seconds: f64) -> Vec<Role> {
        let of = |role, programs: &[&Program]| Role {
            role,
            processes: programs.len(),
            cpu_s: programs.iter().map(|one| one.cpu_s()).sum(),
            processors: 0.0,
            split: Some(programs.iter().map(|one| one.split()).fold(Split::default(), Split::plus)),
        };
        let alone = |role, cpu_s| Role { role, processes: 1, cpu_s, processors: 0.0, split: None };
        let mut roles = vec![
            alone("generator", generator_s),
            of("tracker", &[&self.tracker]),
            of("message server", &[&self.messages]),
            of("displays", &self.displays.iter().collect::<Vec<_>>()),
            of("agents", &self.agents.iter().collect::<Vec<_>>()),
            of("collector", &[&self.collector]),
            alone("network", lab_s),
        ];
        roles.iter_mut().for_each(|role| role.processors = role.cpu_s / seconds);
        roles
    }
}

/// The collector, which listens where hosts are apart; else it reads the rings itself.
fn collector(bed: &Bed, hosts: &Hosts, folder: &Path) -> Result<(Program, String)> {
    let mut command = bed.program("chronoscope")?;
    command.args(["serve", "--wait-late", "10s", "--json", "--data"]).arg(folder.join("data"));
    std::fs::create_dir_all(hosts.rings(CENTRE))?;
    command.arg("--rings").arg(hosts.rings(CENTRE));
    // Beyond loopback, but in a network without other hosts.
    let at = format!("{}:0", hosts.all()[CENTRE].address);
    command.args(["--listen", &at, "--insecure"]);
    let mut collector = hosts.start(CENTRE, folder, "collector", &mut command)?;
    let said = collector.says(|said| said.contains("/status"))?;
    let url = said.split_once("answering on ").and_then(|(_, rest)| rest.split_once("/status"));
    let url = url.with_context(|| format!("the collector did not print its address: {said}"))?.0;
    Ok((collector, url.to_owned()))
}

/// One agent for each host but the centre; none on a single host.
fn agents(bed: &Bed, hosts: &Hosts, folder: &Path, to: &str) -> Result<Vec<Program>> {
    let mut agents = Vec::new();
    if !hosts.are_apart() {
        return Ok(agents);
    }
    for (host, about) in hosts.all().iter().enumerate().skip(CENTRE + 1) {
        let mut command = bed.program("chronoscope")?;
        std::fs::create_dir_all(hosts.rings(host))?;
        command.args(["agent", "--insecure", "--json", "--to", to]);
        command.arg("--rings").arg(hosts.rings(host));
        command.arg("--spool").arg(folder.join(format!("spool-{}", about.name)));
        let name = format!("agent-{}", about.name);
        agents.push(hosts.start(host, folder, &name, &mut command)?);
    }
    // The first readings of the clocks come within a second.
    sleep(Duration::from_secs(1));
    for agent in &mut agents {
        agent.must_run()?;
    }
    Ok(agents)
}

fn own_cpu_s() -> f64 {
    cpu_s_of(std::process::id()).unwrap_or(0.0)
}

/// Recorded flights if available; else as many artificial ones, which is reported.
///
/// # Errors
/// When a signal arrived meanwhile.
pub fn live_traffic(bed: &Bed) -> Result<(Vec<OsString>, &'static str)> {
    let recording = match &bed.recording {
        Some(path) if !path.is_file() => bail!("{}: no such recording", path.display()),
        Some(path) => Some(path.clone()),
        None => {
            let told = Command::new(bed.root.join("tools/flights")).output();
            let told = told.ok().filter(|output| output.status.success());
            told.map(|output| String::from_utf8_lossy(&output.stdout).trim().into())
        }
    };
    bed.go_on()?;
    match recording {
        Some(path) => {
            let words = [OsString::from("--scenario"), "live".into(), "--recording".into()];
            Ok((words.into_iter().chain([path.into()]).collect(), "recorded flights over Germany"))
        }
        None => {
            eprintln!(
                "radar-testbed: NO RECORDED FLIGHTS (tools/flights): artificial flights are used"
            );
            let words = ["--scenario", "circles", "--flights", "24"].map(OsString::from);
            Ok((words.to_vec(), "720 artificial flights: no recorded ones"))
        }
    }
}

/// Begin of a run, for people.
#[must_use]
pub fn now() -> String {
    crate::machine::utc(utc_now_ns())
}
