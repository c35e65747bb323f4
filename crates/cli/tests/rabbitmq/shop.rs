//! The shop: a RabbitMQ, a collector, and programs that take, work on and ship orders.

use crate::service::Service;
use crate::world::{Server, World, repository};
use std::io::{BufRead, BufReader, Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError, Weak};

/// How long spans wait for others before they are exported, in milliseconds; 5 s where it is not
/// set.
pub(crate) const EXPORT_DELAY: &str = "OTEL_BSP_SCHEDULE_DELAY";
/// How long an export is tried again before its spans are dropped; 10 s where it is not set.
pub(crate) const EXPORT_TIMEOUT: &str = "OTEL_EXPORTER_OTLP_TIMEOUT";

/// Python with the instrumentation of pika; `None`, said loudly, where it cannot be had.
fn python() -> Option<&'static Path> {
    static PYTHON: OnceLock<Option<PathBuf>> = OnceLock::new();
    let found = PYTHON.get_or_init(|| {
        let output = Command::new(repository().join("tools/venv")).arg("pika").output().ok()?;
        let path = String::from_utf8(output.stdout).ok()?;
        output.status.success().then(|| PathBuf::from(path.trim()))
    });
    if found.is_none() {
        eprintln!("SKIPPED: no OpenTelemetry instrumentation of pika here (tools/venv pika)");
    }
    found.as_deref()
}

/// The RabbitMQ that all scenarios share: while one of them runs or waits it stays.
fn broker() -> Option<Arc<Service>> {
    static SHARED: Mutex<Weak<Service>> = Mutex::new(Weak::new());
    let mut shared = SHARED.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(broker) = shared.upgrade() {
        return Some(broker);
    }
    let broker = Arc::new(Service::start("rabbitmq")?);
    *shared = Arc::downgrade(&broker);
    Some(broker)
}

/// A scenario's surroundings. Scenarios take turns, because the machine's load is time that
/// orders take.
pub(crate) struct Shop {
    pub(crate) world: World,
    name: &'static str,
    python: &'static Path,
    broker: Arc<Service>,
    _turn: MutexGuard<'static, ()>,
}

impl Shop {
    /// `None`, said loudly, where what it needs cannot be had.
    pub(crate) fn open(name: &'static str) -> Option<Self> {
        static TURN: Mutex<()> = Mutex::new(());
        let (python, broker) = (python()?, broker()?);
        let turn = TURN.lock().unwrap_or_else(PoisonError::into_inner);
        let world = World::new();
        let shop = Self { world, name, python, broker, _turn: turn };
        std::fs::create_dir(shop.truth_folder()).unwrap();
        Some(shop)
    }

    /// A queue of this scenario.
    pub(crate) fn queue(&self, name: &str) -> String {
        format!("{}.{name}", self.name)
    }

    /// Where each program writes what it does.
    pub(crate) fn truth_folder(&self) -> PathBuf {
        self.world.path("truth")
    }

    /// Takes orders on command.
    pub(crate) fn publisher(&self, server: &Server) -> Program {
        self.program("publisher.py", server, &[&self.truth_file("publisher")])
    }

    /// Takes orders from one queue to another, each after some milliseconds of work.
    pub(crate) fn worker(&self, server: &Server, from: &str, to: &str, work_ms: u32) -> Program {
        let (from, to, work_ms) = (self.queue(from), self.queue(to), work_ms.to_string());
        self.program("worker.py", server, &[&from, &to, &work_ms])
    }

    /// Ships orders one by one.
    pub(crate) fn consumer(&self, server: &Server, name: &str, queue: &str) -> Program {
        self.program("consumer.py", server, &[&self.truth_file(name), &self.queue(queue)])
    }

    /// As [`Self::consumer`], with another setting of its SDK.
    pub(crate) fn consumer_with(
        &self,
        server: &Server,
        (name, queue): (&str, &str),
        (setting, value): (&str, &str),
    ) -> Program {
        let arguments = [self.truth_file(name), self.queue(queue)];
        let mut command = self.command("consumer.py", server, &[&arguments[0], &arguments[1]]);
        Program::start(command.env(setting, value))
    }

    /// Ships orders ten at a time.
    pub(crate) fn batch(&self, server: &Server, queue: &str) -> Program {
        self.program("batch.py", server, &[&self.truth_file("batch"), &self.queue(queue)])
    }

    fn truth_file(&self, name: &str) -> String {
        self.truth_folder().join(name).to_str().unwrap().to_owned()
    }

    fn program(&self, file: &str, server: &Server, arguments: &[&str]) -> Program {
        Program::start(&mut self.command(file, server, arguments))
    }

    fn command(&self, file: &str, server: &Server, arguments: &[&str]) -> Command {
        let mut command = Command::new(self.python.with_file_name("opentelemetry-instrument"));
        command.arg(self.python);
        command.arg(repository().join("crates/cli/tests/rabbitmq").join(file));
        command.arg(&self.broker.port).args(arguments);
        for (name, _) in std::env::vars_os() {
            if name.to_string_lossy().starts_with("OTEL_") {
                command.env_remove(name);
            }
        }
        command.env("OTEL_SERVICE_NAME", file.trim_end_matches(".py"));
        command.env("OTEL_EXPORTER_OTLP_ENDPOINT", format!("http://{}", server.address));
        command.env("OTEL_EXPORTER_OTLP_PROTOCOL", "http/protobuf");
        command.env("OTEL_TRACES_EXPORTER", "otlp").env("OTEL_METRICS_EXPORTER", "none");
        command.env("OTEL_LOGS_EXPORTER", "none").env(EXPORT_DELAY, "200");
        command.env("OTEL_EXPERIMENTAL_RESOURCE_DETECTORS", "process,host");
        command
    }
}

/// A program of the shop; killed when dropped.
pub(crate) struct Program {
    child: Child,
    commands: Option<ChildStdin>,
    replies: BufReader<ChildStdout>,
}

impl Program {
    /// Starts it and waits until it is attached to its queues.
    fn start(command: &mut Command) -> Self {
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let replies = BufReader::new(child.stdout.take().unwrap());
        let mut program = Self { commands: child.stdin.take(), replies, child };
        assert_eq!(program.reply(), "ready");
        // What exporters say of a collector that is away is no fault.
        let mut said = program.child.stderr.take().unwrap();
        std::thread::spawn(move || std::io::copy(&mut said, &mut std::io::sink()));
        program
    }

    /// Gives a command, without waiting.
    pub(crate) fn begin(&mut self, command: &str) {
        writeln!(self.commands.as_mut().unwrap(), "{command}").unwrap();
    }

    /// Waits for the reply to a command.
    pub(crate) fn reply(&mut self) -> String {
        let mut line = String::new();
        if self.replies.read_line(&mut line).unwrap() == 0 {
            let mut said = String::new();
            if let Some(mut stderr) = self.child.stderr.take() {
                stderr.read_to_string(&mut said).unwrap();
            }
            panic!("the program ended: {said}");
        }
        line.trim().to_owned()
    }

    /// Gives a command, and returns the reply.
    pub(crate) fn tell(&mut self, command: &str) -> String {
        self.begin(command);
        self.reply()
    }

    /// With SIGKILL: what it has not exported is lost.
    pub(crate) fn kill(mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }
}

impl Drop for Program {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
