//! The command line: aprsc's options under their letters, long names for all of them, and ours.

use crate::engine::LogLevel;
use clap::{ArgAction, Parser, Subcommand};
use std::path::{Path, PathBuf};

/// An APRS-IS core server.
#[derive(Clone, Debug, Parser)]
#[command(
    version,
    disable_help_flag = true,
    args_conflicts_with_subcommands = false,
    after_long_help = EXAMPLES
)]
pub struct Args {
    /// Configuration file; with -t, within that folder
    #[arg(short = 'c', long, value_name = "FILE", default_value = "aprsc.conf", global = true)]
    pub config: PathBuf,

    /// Check the configuration, print its errors, and exit with 0 if there is none, else with 1
    #[arg(short = 'y', long)]
    pub check: bool,

    /// Change to this user as soon as possible; needed when started as root
    #[arg(short = 'u', long, value_name = "USER")]
    pub user: Option<String>,

    /// Make this folder the root of the file system (chroot); needs root and -u
    #[arg(short = 't', long, value_name = "FOLDER")]
    pub chroot: Option<PathBuf>,

    /// Go to the background once all ports are open; the exit status gives the result
    #[arg(short = 'f', long)]
    pub fork: bool,

    /// Lowest level that is logged: crit, error, warning, info or debug
    ///
    /// aprsc's emerg and alert are crit here, and its notice is info.
    #[arg(short = 'e', long, value_name = "LEVEL", default_value = "info", value_parser = level)]
    pub log_level: LogLevel,

    /// Destination of the log: stderr, file (in the folder of -r), syslog or none
    #[arg(short = 'o', long, value_name = "WHERE", default_value = "stderr", value_parser = destination)]
    pub log_destination: Destination,

    /// Folder of the log file and the pid file; "logs" when logging to a file
    #[arg(short = 'r', long, value_name = "FOLDER")]
    pub log_dir: Option<PathBuf>,

    /// Name of this instance: of its log file, its pid file, and in syslog
    ///
    /// By default the name under which the program was started: a server installed as "aprsc"
    /// writes aprsc.log and aprsc.pid.
    #[arg(short = 'n', long, value_name = "NAME")]
    pub name: Option<String>,

    /// File for the process id [default: NAME.pid in the folder of -r]
    #[arg(short = 'p', long, value_name = "FILE")]
    pub pid_file: Option<PathBuf>,

    /// Debug options of aprsc's developers (requests, splay): accepted, without effect
    #[arg(short = 'd', long, value_name = "WHAT", hide_short_help = true)]
    pub debug: Option<String>,

    /// Dumps of aprsc's tables at its end: accepted, without effect
    #[arg(short = 'D', long, hide_short_help = true)]
    pub dump: bool,

    /// Internal: take over from the process that executes this one (live upgrade)
    #[arg(short = 'Z', long, hide = true)]
    pub live_upgrade: bool,

    /// Run as root: for a container whose root has no rights outside
    #[arg(long, hide_short_help = true)]
    pub allow_root: bool,

    /// Number of threads that serve connections, instead of WorkerThreads in the configuration
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u8).range(1..=32))]
    pub workers: Option<u8>,

    /// Write NAME PROTOCOL ADDRESS of each port to this file once all are bound
    #[arg(long, value_name = "FILE")]
    pub ports: Option<PathBuf>,

    /// Record all input with its arrival time into this file
    #[arg(long, value_name = "FILE")]
    pub record: Option<PathBuf>,

    /// Replay a recording without sockets, and print the output that would have been sent
    #[arg(long, value_name = "FILE", conflicts_with = "record")]
    pub replay: Option<PathBuf>,

    /// Print help (with --help, all of it)
    #[arg(short = 'h', short_alias = '?', long, action = ArgAction::Help, global = true)]
    help: Option<bool>,

    /// A task other than serving.
    #[command(subcommand)]
    pub command: Option<Command>,
}

/// A task other than serving.
#[derive(Clone, Debug, Subcommand)]
pub enum Command {
    /// Print why a running server dropped packets of a station or a client
    Why {
        /// Callsign of a station or a login
        #[arg(value_name = "CALL")]
        call: String,
        /// Status port of the server [default: the first HTTPStatus of the configuration]
        #[arg(long, value_name = "URL")]
        url: Option<String>,
    },
}

/// Destination of the log.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Destination {
    /// No log is written.
    None,
    /// Standard error.
    Stderr,
    /// The system's log, facility daemon.
    Syslog,
    /// A file in the folder of `-r`.
    File,
}

const EXAMPLES: &str = "Examples:
  aprs-server -y -c aprsc.conf                      is the configuration right?
  aprs-server -c aprsc.conf                         serve; the log is on standard error
  aprs-server -u aprsc -t /opt/aprsc -f -e info -o file -r logs -c etc/aprsc.conf
                                                    serve as aprsc's packages start it
  aprs-server why N0CALL --url http://127.0.0.1:14501

Signals: TERM ends (exit status 0), USR1 reads the configuration again, HUP reopens the log,
USR2 upgrades: the program on disk takes over, and clients stay connected.

Exit status: 0 ended as asked, 1 could not start or go on, 2 wrong command line.";

fn level(text: &str) -> Result<LogLevel, String> {
    match text.to_ascii_lowercase().as_str() {
        "emerg" | "alert" | "crit" => Ok(LogLevel::Critical),
        "error" => Ok(LogLevel::Error),
        "warning" => Ok(LogLevel::Warning),
        "notice" | "info" => Ok(LogLevel::Info),
        "debug" => Ok(LogLevel::Debug),
        _ => Err("it is one of crit, error, warning, info, debug".to_owned()),
    }
}

fn destination(text: &str) -> Result<Destination, String> {
    match text.to_ascii_lowercase().as_str() {
        "none" => Ok(Destination::None),
        "stderr" => Ok(Destination::Stderr),
        "syslog" => Ok(Destination::Syslog),
        "file" => Ok(Destination::File),
        _ => Err("it is one of stderr, file, syslog, none".to_owned()),
    }
}

impl Args {
    /// Name of this instance: in log and pid file names, and in syslog.
    pub fn instance(&self) -> String {
        let started_as = || {
            let program = std::env::args_os().next()?;
            Path::new(&program).file_name().map(|name| name.to_string_lossy().into_owned())
        };
        self.name.clone().or_else(started_as).unwrap_or_else(|| "aprs-server".to_owned())
    }

    /// The configuration file, as seen after a chroot.
    pub fn config_path(&self) -> PathBuf {
        self.inside(&self.config)
    }

    /// The folder of the log, as seen after a chroot; `None` when there is no use for one.
    pub fn log_folder(&self) -> Option<PathBuf> {
        match (&self.log_dir, self.log_destination) {
            (Some(folder), _) => Some(self.inside(folder)),
            (None, Destination::File) => Some(PathBuf::from("logs")),
            (None, _) => None,
        }
    }

    /// The pid file, as seen after a chroot; `None` when there is to be none.
    pub fn pid_path(&self) -> Option<PathBuf> {
        match &self.pid_file {
            Some(file) => Some(self.inside(file)),
            None => Some(self.log_folder()?.join(format!("{}.pid", self.instance()))),
        }
    }

    /// Options that were given and do nothing, for a warning.
    pub fn without_effect(&self) -> Vec<&'static str> {
        let options = [("-d", self.debug.is_some()), ("-D", self.dump)];
        options.into_iter().filter(|(_, given)| *given).map(|(option, _)| option).collect()
    }

    /// A path that was given as seen from outside, as seen from within the chroot.
    fn inside(&self, path: &Path) -> PathBuf {
        let within = self.chroot.as_ref().and_then(|root| path.strip_prefix(root).ok());
        within.map_or_else(|| path.to_owned(), |rest| Path::new("/").join(rest))
    }
}

#[cfg(test)]
mod tests {
    use super::{Args, Command, Destination};
    use crate::engine::LogLevel;
    use clap::{CommandFactory, Parser};
    use std::path::{Path, PathBuf};

    fn args(line: &str) -> Args {
        Args::try_parse_from(line.split(' ')).unwrap()
    }

    #[test]
    fn the_command_line_is_consistent() {
        Args::command().debug_assert();
    }

    #[test]
    fn as_aprscs_packages_start_it() {
        let args =
            args("aprsc -u aprsc -t /opt/aprsc -f -e info -o file -r logs -c etc/aprsc.conf");
        assert_eq!((args.user.as_deref(), args.fork), (Some("aprsc"), true));
        assert_eq!(args.chroot.as_deref(), Some(Path::new("/opt/aprsc")));
        assert_eq!((args.log_level, args.log_destination), (LogLevel::Info, Destination::File));
        assert_eq!(args.config_path(), Path::new("etc/aprsc.conf"));
        assert_eq!(args.log_folder(), Some(PathBuf::from("logs")));
    }

    #[test]
    fn options_may_be_run_together() {
        let args = args("x -fyDccfg -eDEBUG -nfoo -dsplay -oFile");
        assert!(args.fork && args.check && args.dump);
        assert_eq!(args.config, Path::new("cfg"));
        assert_eq!(args.pid_path(), Some(PathBuf::from("logs/foo.pid")));
        assert_eq!(args.without_effect(), ["-d", "-D"]);
    }

    #[test]
    fn paths_from_outside_are_seen_from_within() {
        let args = args("x -t /opt/a -u b -c /opt/a/etc/c -p /opt/a/logs/p -r /var/log");
        assert_eq!(args.config_path(), Path::new("/etc/c"));
        assert_eq!(args.pid_path(), Some(PathBuf::from("/logs/p")));
        assert_eq!(args.log_folder(), Some(PathBuf::from("/var/log")));
    }

    #[test]
    fn without_a_folder_there_is_no_pid_file() {
        assert_eq!(args("x").pid_path(), None);
        assert_eq!(args("x -p p").pid_path(), Some(PathBuf::from("p")));
    }

    #[test]
    fn why_takes_a_callsign_and_a_configuration() {
        let args = args("x why N0CALL -c other.conf");
        assert_eq!(args.config, Path::new("other.conf"));
        assert!(matches!(args.command, Some(Command::Why { call, url: None }) if call == "N0CALL"));
    }

    #[test]
    fn what_is_unknown_is_refused() {
        for line in ["x -e loud", "x -o paper", "x --workers 0", "x --workers 33", "x extra -q"] {
            assert!(Args::try_parse_from(line.split(' ')).is_err(), "{line}");
        }
    }
}
