//! A replay of a scenario.

use super::description::Scenario;
use super::error::ScenarioError;
use super::numbers::Numbers;
use super::options::Options;
use super::output_folders::OutputFolders;
use super::report::{Count, ProcessReport, Report, WindowReport};
use super::values::fill;
use super::window::Span;
use super::{callgrind, isolation, outputs};
use crate::coordinator::{Coordinator, Outcome, ProcessOutcome, Progress, Settings};
use crate::heap;
use crate::player::{Answers, Feed, FeedKind, FeedPart, Player, Transport};
use crate::process::Program;
use crate::schedule::ScheduleMode;
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::io;
use std::net::{Ipv4Addr, SocketAddr, TcpListener, UdpSocket};
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Without a duration: virtual time between the last input and the end.
const AFTER_INPUTS: Duration = Duration::from_secs(10);
/// First of the ports of a replay with a network of its own.
const FIRST_PORT: u16 = 20_001;
/// Factor on the time that a process may run without waiting, under Callgrind.
const CALLGRIND_SLOWER: u32 = 100;
const SECOND_NS: i64 = 1_000_000_000;
/// Records that a thread's ring keeps when the replay records: four times the default, as a day
/// comes faster in a replay than in life, and who reads the rings shares the processor with it.
const SLOTS: &str = "65536";

struct Prepared<'a> {
    scenario: &'a Scenario,
    options: &'a Options,
    place: OutputFolders,
    bin: PathBuf,
    ports: BTreeMap<&'a str, u16>,
    not_isolated: Option<io::Error>,
    numbers: io::Result<Numbers>,
    preload: Vec<PathBuf>,
}

impl Scenario {
    /// Runs the scenario. `tell` gets the progress a few times a second.
    ///
    /// # Errors
    /// [`ScenarioError`] when the replay cannot begin. Later failures are in the report, with the
    /// measurements until then, which is also written to `report.json` in the output folder.
    pub fn run(
        &self,
        options: &Options,
        tell: &mut (dyn FnMut(Progress) + Send),
    ) -> Result<Report, ScenarioError> {
        if options.count == Count::Callgrind {
            callgrind::check().map_err(ScenarioError::NoValgrind)?;
        }
        // The thread gets a network and process numbers of its own, which its processes inherit.
        let done = std::thread::scope(|scope| {
            let thread = scope.spawn(|| {
                let not_isolated = isolation::enter_thread().err();
                Prepared::new(self, options, not_isolated, Numbers::new())?.run(tell)
            });
            thread.join()
        });
        done.unwrap_or_else(|panic| std::panic::resume_unwind(panic))
    }
}

impl<'a> Prepared<'a> {
    fn new(
        scenario: &'a Scenario,
        options: &'a Options,
        not_isolated: Option<io::Error>,
        numbers: io::Result<Numbers>,
    ) -> Result<Self, ScenarioError> {
        let at = |path: &Path| {
            let path = path.to_owned();
            move |error| ScenarioError::Io { path, error }
        };
        let bin = options.bin.canonicalize().map_err(at(&options.bin))?;
        let ports = ports(&scenario.ports, not_isolated.is_none()).map_err(at(&scenario.folder))?;
        let place = OutputFolders::make(scenario, &options.out)?;
        // One name for any version's folder: what programs know of their path is the same.
        let link = place.out.join("bin");
        std::os::unix::fs::symlink(&bin, &link).map_err(at(&link))?;
        let preload = preload(options, &place.time.0)?;
        Ok(Self { scenario, options, place, bin: link, ports, not_isolated, numbers, preload })
    }

    fn run(self, tell: &mut dyn FnMut(Progress)) -> Result<Report, ScenarioError> {
        let at = |path: &Path| {
            let path = path.to_owned();
            move |error| ScenarioError::Io { path, error }
        };
        let (options, out) = (self.options, &self.place.out);
        let (mut player, span) = self.player()?;
        let slower = if options.count == Count::Callgrind { CALLGRIND_SLOWER } else { 1 };
        let settings = Settings {
            mode: options.mode,
            start_utc_ns: span.start_ns,
            duration: span.duration(),
            window_after: span.window_after(),
            control: options.control.clone(),
            paused: options.paused,
            pace: options.pace,
            heap_pages: options.heap.then(|| self.place.time.0.clone()),
            after_inputs: (!self.scenario.inputs.is_empty()).then_some(AFTER_INPUTS),
            seed: self.scenario.seed,
            run_max: options.run_max * slower,
            hello_max: Settings::default().hello_max.min(options.run_max) * slower,
            interrupt: options.interrupt.clone(),
            limit: options.limit,
            counters: options.count == Count::Counters,
            own_numbers: self.numbers.is_ok(),
            ..Settings::default()
        };
        let programs = self.scenario.processes.iter().map(|process| self.program(process));
        let programs = programs.collect::<Result<Vec<_>, _>>()?;
        if options.count == Count::Callgrind {
            let folder = out.join("callgrind");
            std::fs::create_dir(&folder).map_err(at(&folder))?;
        }
        let time = &self.place.time.0;
        let failed = |error: crate::coordinator::Failure| io::Error::other(error.to_string());
        let mut coordinator = Coordinator::new(time, settings).map_err(failed).map_err(at(time))?;
        for program in &programs {
            let path = PathBuf::from(program.command.first().cloned().unwrap_or_default());
            coordinator.start(program).map_err(failed).map_err(at(&path))?;
        }
        let mut lead_in = outputs::Sizes::default();
        let outcome = coordinator.run_and_tell(&mut player, &mut |now| {
            if now.window_begins {
                lead_in = outputs::sizes(out);
            }
            tell(now);
        });
        let answers = player.finish();
        let mut report = self.report(&outcome, &player, &span);
        if let Err(error) = answers {
            report.remarks.push(format!("answers: {error}"));
        }
        match outputs::outputs(out, outcome.lead_in.map(|_| &lead_in)) {
            Ok(outputs) => report.outputs = outputs,
            Err(error) => report.remarks.push(format!("outputs: {error}")),
        }
        report.write(out).map_err(at(&out.join(Report::FILE)))?;
        Ok(report)
    }

    /// The player, and the instants of the replay.
    fn player(&self) -> Result<(Player, Span), ScenarioError> {
        let mut feeds = Vec::new();
        for input in &self.scenario.inputs {
            let wrong = |error| ScenarioError::Input { name: input.name.clone(), error };
            let target = SocketAddr::from((Ipv4Addr::LOCALHOST, self.ports[input.to.as_str()]));
            let to = (self.scenario.ports[&input.to], target);
            let (select, journals) = (input.select.clone(), &input.journals);
            let feed = Feed::open_all(&input.name, input.kind, journals, select, to);
            feeds.push(feed.map_err(wrong)?);
        }
        let span = self.span(&feeds)?;
        let thinned = self.thinned(&feeds)?;
        for (number, (feed, input)) in feeds.iter_mut().zip(&self.scenario.inputs).enumerate() {
            // Queries change no state: the window needs none of those before it.
            let is_query = feed.delivered.kind == FeedKind::Query;
            let from_ns = if is_query { span.from_ns } else { span.start_ns };
            feed.select(FeedPart {
                lines: input.lines,
                one_of: thinned[number],
                seed: self.scenario.seed ^ ((number as u64) << 32),
                from_ns: span.is_window.then_some(from_ns),
            });
            let end_ns = span.end_ns.filter(|_| span.is_window);
            let queries = self.options.queries.filter(|_| is_query).map(|part| {
                let part_ns = i64::try_from(part.as_nanos()).unwrap_or(i64::MAX);
                span.from_ns.saturating_add(part_ns)
            });
            end_ns.into_iter().chain(queries).min().into_iter().for_each(|at_ns| feed.cut(at_ns));
        }
        feeds.retain(|feed| self.options.only.is_none_or(|kind| kind == feed.delivered.kind));
        let player =
            Player::new(feeds, span.start_ns).keeping(Answers::new(self.place.out.join("answers")));
        Ok(match self.options.mode {
            ScheduleMode::Serial => (player, span),
            ScheduleMode::Parallel => (player.step(self.scenario.step), span),
        })
    }

    fn span(&self, feeds: &[Feed]) -> Result<Span, ScenarioError> {
        let first_ns = feeds.iter().filter_map(Feed::next_ns).min();
        let first_ns = first_ns.unwrap_or(Settings::default().start_utc_ns);
        let start_ns =
            self.scenario.start_utc_ns.unwrap_or(first_ns.div_euclid(SECOND_NS) * SECOND_NS);
        let durations = [self.options.duration, self.scenario.duration];
        let duration = durations.into_iter().flatten().min();
        let end_ns = duration.map(|duration| {
            start_ns.saturating_add(i64::try_from(duration.as_nanos()).unwrap_or(i64::MAX))
        });
        Span::of(self.options.window, start_ns, end_ns).map_err(ScenarioError::Asked)
    }

    /// Of each feed, of how many inputs one is delivered: as the options say, else the scenario.
    fn thinned(&self, feeds: &[Feed]) -> Result<Vec<u64>, ScenarioError> {
        let is_for = |of: &str, feed: &Feed| match of {
            "state" => feed.delivered.kind == FeedKind::State,
            "query" => feed.delivered.kind == FeedKind::Query,
            name => name == feed.delivered.name,
        };
        for (of, _) in &self.options.thin {
            if !feeds.iter().any(|feed| is_for(of, feed)) {
                let names: Vec<_> = feeds.iter().map(|feed| &*feed.delivered.name).collect();
                return Err(ScenarioError::Asked(format!(
                    "there is no input \"{of}\" to thin: the scenario has {}, and the kinds state \
                     and query",
                    names.join(", ")
                )));
            }
        }
        let asked =
            |feed| self.options.thin.iter().rev().find(|(of, _)| is_for(of, feed)).map(|(_, n)| *n);
        let all = feeds.iter().zip(&self.scenario.inputs);
        Ok(all.map(|(feed, input)| asked(feed).unwrap_or(input.thin)).collect())
    }

    fn program(&self, process: &super::item::Process) -> Result<Program, ScenarioError> {
        let (out, name) = (&self.place.out, &process.name);
        let folder = out.join(name);
        let value = |placeholder: &str| match placeholder {
            "bin" => Some(self.bin.display().to_string()),
            "scenario" => Some(self.scenario.folder.display().to_string()),
            "state" => Some(folder.display().to_string()),
            _ => self.ports.get(placeholder.strip_prefix("port.")?).map(ToString::to_string),
        };
        let filled = |text: &String| {
            fill(text, &value).map(OsString::from).map_err(|what| ScenarioError::Sense {
                path: self.scenario.folder.clone(),
                what: format!("process {name}: {what}"),
            })
        };
        for file in &process.fill {
            let path = folder.join(file);
            let io = |error| ScenarioError::Io { path: path.clone(), error };
            let text = std::fs::read_to_string(&path).map_err(io)?;
            std::fs::write(&path, filled(&text)?.as_encoded_bytes()).map_err(io)?;
        }
        let mut command = process.command.iter().map(filled).collect::<Result<Vec<_>, _>>()?;
        if self.options.count == Count::Callgrind {
            let later = self.options.window.is_some() && callgrind::BEGINS_LATER;
            command = callgrind::under(&out.join("callgrind"), name, command, later);
        }
        let own = |name: &str, value: &Path| (OsString::from(name), value.as_os_str().to_owned());
        let mut environment: BTreeMap<OsString, OsString> = BTreeMap::from([
            own("PATH", Path::new("/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin")),
            own("LC_ALL", Path::new("C")),
            own("TZ", Path::new("UTC")),
            own("HOME", &folder),
            own("TMPDIR", &folder),
            own("CHRONOSCOPE_DIR", &out.join(Report::RINGS)),
        ]);
        if self.options.record {
            environment.extend([own("CHRONOSCOPE_SLOTS", Path::new(SLOTS))]);
        }
        for (name, value) in self.scenario.environment.iter().chain(&process.environment) {
            environment.insert(name.into(), filled(value)?);
        }
        if self.options.record {
            environment.extend([
                own("CHRONOSCOPE_RECORD", Path::new("on")),
                own("CHRONOSCOPE_DIR", &out.join(Report::RINGS)),
            ]);
        }
        if self.options.heap {
            environment.extend([own(heap::VARIABLE, &self.place.time.0)]);
        }
        for (name, value) in &self.options.environment {
            environment.insert(name.into(), value.into());
        }
        Ok(Program {
            name: name.clone(),
            command,
            environment: environment.into_iter().collect(),
            folder,
            output: Some(out.join(format!("{name}.stdout"))),
            error: Some(out.join(format!("{name}.stderr"))),
            preload: self.preload.clone(),
        })
    }

    fn report(&self, outcome: &Outcome, player: &Player, span: &Span) -> Report {
        let mut remarks = outcome.remarks.clone();
        remarks.extend(player.remarks());
        remarks.extend(self.remarks(player, span));
        let processes = outcome.processes.iter();
        let processes = processes.map(|process| self.process(process, &mut remarks)).collect();
        Report {
            version: 1,
            scenario: self.scenario.name.clone(),
            mode: if self.options.mode == ScheduleMode::Serial { "serial" } else { "parallel" }
                .to_owned(),
            start_utc_ns: span.start_ns,
            failure: outcome.failure.as_ref().map(ToString::to_string),
            virtual_ns: ns(outcome.elapsed),
            real_ns: ns(outcome.real),
            factor: outcome.elapsed.as_secs_f64() / outcome.real.as_secs_f64().max(1e-9),
            grants: outcome.grants,
            moves: outcome.moves,
            inputs: player.delivered(),
            coordinator_cpu_ns: ns(outcome.own_cpu),
            isolated: self.not_isolated.is_none(),
            count: self.options.count,
            processes,
            outputs: Vec::new(),
            strangers: outcome.strangers.clone(),
            remarks,
            stored: None,
            window: span.is_window.then(|| WindowReport::of(span.from_ns, outcome)),
            paused_ns: ns(outcome.paused),
            preload: self.options.preload.clone(),
        }
    }

    /// Remarks on inputs that did not arrive, and on what the replay has not of its own.
    fn remarks(&self, player: &Player, span: &Span) -> Vec<String> {
        let mut remarks = Vec::new();
        if span.is_window && player.delivered().iter().all(|input| input.inputs == 0) {
            remarks.push("no input was delivered in the window".to_owned());
        }
        if span.window_after().is_some_and(|after| !after.is_zero())
            && self.options.count == Count::Callgrind
            && !callgrind::BEGINS_LATER
        {
            remarks.push("Callgrind's counts and profiles include the lead-in".to_owned());
        }
        for input in player.delivered().iter().filter(|input| input.undelivered > 0) {
            remarks.push(format!(
                "{} of {} were not delivered: nobody accepted the connection, or its beginning is \
                 not in the recording. Programs that need time to start want a `start` some seconds \
                 before the first input",
                input.undelivered, input.name
            ));
        }
        if let Some(error) = &self.not_isolated {
            remarks.push(format!(
                "no network of its own ({error}): ports come from the kernel, outputs that name \
                 them differ, and other programs of this host can be reached"
            ));
        }
        if let Err(error) = &self.numbers {
            remarks.push(format!(
                "no process numbers of its own ({error}): they are the kernel's, and outputs that \
                 name them differ"
            ));
        }
        remarks
    }

    fn process(&self, outcome: &ProcessOutcome, remarks: &mut Vec<String>) -> ProcessReport {
        let mut report = ProcessReport {
            name: outcome.name.clone(),
            program: outcome.program.clone(),
            exit: outcome.exit.clone(),
            method: "none".to_owned(),
            usage: outcome.usage.unwrap_or_default(),
            syscalls: outcome.activity.calls,
            waits: outcome.activity.waits,
            threads: outcome.activity.threads,
            grants: outcome.grants,
            clock_reads: outcome.activity.clock_reads,
            rss_bytes_end: outcome.rss_bytes_end,
            heap: outcome.heap,
            ..ProcessReport::default()
        };
        if let Some(counts) = outcome.counts {
            report.method = "counters".to_owned();
            report.instructions = Some(counts.instructions);
            report.branches = Some(counts.branches);
            report.corrected = Some(counts.corrected());
        }
        if self.options.count == Count::Callgrind {
            let folder = self.place.out.join("callgrind");
            match callgrind::instructions(&folder, outcome.started_as(), outcome.pid) {
                Ok(Some((all, without))) => {
                    report.method = "callgrind".to_owned();
                    report.instructions = Some(all);
                    report.corrected = Some(without);
                }
                Ok(None) => remarks.push(format!(
                    "{}: Callgrind wrote no profile, as it was killed or never ran",
                    outcome.name
                )),
                Err(error) => remarks.push(format!("profile of {}: {error}", outcome.name)),
            }
        }
        report
    }
}

fn ns(time: Duration) -> u64 {
    u64::try_from(time.as_nanos()).unwrap_or(u64::MAX)
}

/// Libraries that every process loads after the replay's own: the heap's, which counts the calls of
/// the allocator after it, then the ones that were asked for.
fn preload(options: &Options, folder: &Path) -> Result<Vec<PathBuf>, ScenarioError> {
    let at = |path: &Path| {
        let path = path.to_owned();
        move |error| ScenarioError::Io { path, error }
    };
    let mut all = Vec::new();
    if options.heap {
        all.push(heap::put(folder).map_err(at(folder))?);
    }
    for library in &options.preload {
        all.push(library.canonicalize().map_err(at(library))?);
    }
    Ok(all)
}

/// A number for each port, in the order of their names.
fn ports(ports: &BTreeMap<String, Transport>, isolated: bool) -> io::Result<BTreeMap<&str, u16>> {
    let mut numbers = BTreeMap::new();
    let mut held = (Vec::new(), Vec::new()); // so that no two are the same
    for ((name, transport), own) in ports.iter().zip(FIRST_PORT..) {
        let number = match (isolated, transport) {
            (true, _) => own,
            (false, Transport::Udp) => {
                held.0.push(UdpSocket::bind((Ipv4Addr::LOCALHOST, 0))?);
                held.0.last().map(UdpSocket::local_addr).transpose()?.map_or(0, |at| at.port())
            }
            (false, Transport::Tcp) => {
                held.1.push(TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?);
                held.1.last().map(TcpListener::local_addr).transpose()?.map_or(0, |at| at.port())
            }
        };
        numbers.insert(name.as_str(), number);
    }
    Ok(numbers)
}
