//! The command line of `sle-user`.

use clap::{Args as ClapArgs, Parser, Subcommand};
use std::path::PathBuf;

/// Uses FCLTU, RAF, RCF and ROCF, and the Forward Frame service of CSTS.
///
/// Results go to standard output, with --json one object a line (stable within its "format": 1).
/// Progress and other messages go to standard error. Ctrl-C ends the command, reports the results
/// so far, stops the service and unbinds.
///
/// Exit codes: 0 done, of send: every CLTU was radiated (with --acknowledged: accepted by the
/// provider); 1 failed, or only partly done; 2 wrong arguments; 3 --check found an error; 4 send: not
/// every CLTU was radiated, and the fate of each is known; 5 send: the fate of a CLTU is unknown.
#[derive(Debug, Parser)]
#[command(version, max_term_width = 100, subcommand_required = false)]
pub(crate) struct Args {
    /// Configuration file
    #[arg(short, long, value_name = "FILE", global = true, default_value = "sle.toml")]
    pub(crate) config: PathBuf,

    /// Service instance: its identifier or the end of it, such as cltu1 or raf=onlc1, if only one ends
    /// so; by default the first one
    #[arg(short, long, value_name = "ID", global = true)]
    pub(crate) instance: Option<String>,

    /// Version of the service to propose
    #[arg(long, value_name = "2-5", global = true)]
    pub(crate) proposed: Option<u16>,

    /// Print results as JSON, one object a line
    #[arg(long, global = true)]
    pub(crate) json: bool,

    /// Print only errors on standard error
    #[arg(short, long, global = true)]
    pub(crate) quiet: bool,

    /// Check the configuration, print the findings and exit
    #[arg(long)]
    pub(crate) check: bool,

    #[command(subcommand)]
    pub(crate) command: Option<UserCommand>,
}

#[derive(Debug, Subcommand)]
pub(crate) enum UserCommand {
    /// Send CLTUs, wait until each is radiated, expired or refused, and print the fate of each
    Send(SendArgs),
    /// Send frames by the Forward Frame service (CSTS) and print the fate of each
    Frames(FramesArgs),
    /// Receive frames
    Receive(ReceiveArgs),
    /// Request a status report
    Report,
    /// Get a parameter, such as maximum-sldu-length; by default all parameters
    Get {
        /// Name or number
        parameter: Option<String>,
    },
    /// Throw an event
    Event {
        /// Event identifier
        event: u16,
        /// Event qualifier, as text
        #[arg(default_value = " ")]
        qualifier: String,
    },
    /// Keep associations up by a schedule: take CLTUs from programs of this host, give them frames
    Link(LinkArgs),
    /// Interactive session: bind, start, send, event, report, get, stop, unbind, abort
    Terminal,
}

/// `send`.
#[derive(Debug, ClapArgs)]
pub(crate) struct SendArgs {
    /// Send a file, one CLTU for each --octets of it
    #[arg(long, value_name = "FILE", conflicts_with = "generate")]
    pub(crate) file: Option<PathBuf>,

    /// Send N generated CLTUs, each with a counter
    #[arg(long, value_name = "N", required_unless_present = "file")]
    pub(crate) generate: Option<u64>,

    /// Octets of a CLTU [default: the whole file; 1000 if generated]
    #[arg(long, value_name = "N")]
    pub(crate) octets: Option<usize>,

    /// Encode each CLTU: start sequence, BCH code blocks, tail sequence
    #[arg(long)]
    pub(crate) encode: bool,

    /// CLTUs per second [default: no limit]
    #[arg(long, value_name = "N")]
    pub(crate) rate: Option<u32>,

    /// Maximum number of unacknowledged CLTUs [default: user.window, or twice what the path carries]
    #[arg(long, value_name = "N")]
    pub(crate) window: Option<usize>,

    /// CLTUs in one invocation; more than 1 is not standard and works with our provider only
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub(crate) blocked: usize,

    /// Number of the first CLTU
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub(crate) first: u32,

    /// Delay after the radiation of each CLTU, in µs
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub(crate) delay_us: u32,

    /// Latest time of the radiation of each CLTU, in seconds after it is sent [default: none]
    #[arg(long, value_name = "SECONDS")]
    pub(crate) latest_s: Option<f64>,

    /// Maximum time to wait for radiation after the last acknowledgement [default: no limit]
    #[arg(long, value_name = "SECONDS")]
    pub(crate) until_radiated: Option<u32>,

    /// The fast one: end when the provider has accepted all CLTUs. STOP then discards those that it
    /// has not radiated yet. No journal is written unless --journal names one
    #[arg(long, conflicts_with = "until_radiated")]
    pub(crate) acknowledged: bool,

    /// Journal of what may have been sent and of each fate; it survives a kill, and --resume continues
    /// from it [default: send-INSTANCE-TIME.journal in the working directory]
    #[arg(long, value_name = "FILE")]
    pub(crate) journal: Option<PathBuf>,

    /// Write no journal: after a kill nobody knows what was sent
    #[arg(long, conflicts_with = "journal")]
    pub(crate) no_journal: bool,

    /// Continue a transfer from its journal, with the same data: sends what was never sent
    #[arg(long, value_name = "FILE", conflicts_with_all = ["journal", "no_journal", "first"])]
    pub(crate) resume: Option<PathBuf>,

    /// With --resume: also send CLTUs of these fates again, as in unknown,discarded; all: every CLTU
    /// that is not known to be radiated
    #[arg(long, value_name = "FATES", value_delimiter = ',', requires = "resume")]
    pub(crate) resend: Vec<String>,
}

/// `link`.
///
/// FILE is a configuration with one `[[link]]` for each service instance. When the sockets are open, the
/// program prints a line `listening NAME ADDRESS` for each, then `ready`. SIGHUP reads FILE again: other
/// passes are in force at once, and a file with faults changes nothing. SIGTERM and SIGINT end the
/// links in order (reports of radiation are waited for, STOP, UNBIND).
///
/// Exit codes: 0 ended normally; 1 could not start; 2 wrong arguments; 3 --check found an error.
#[derive(Debug, ClapArgs)]
#[command(verbatim_doc_comment)]
pub(crate) struct LinkArgs {
    /// Configuration file with `[[link]]` tables
    #[arg(value_name = "FILE")]
    pub(crate) file: PathBuf,

    /// Check the configuration, print the findings and exit
    #[arg(long)]
    pub(crate) check: bool,

    /// Print the links with all defaults, as TOML, and exit
    #[arg(long, conflicts_with = "check")]
    pub(crate) print_config: bool,
}

/// `frames`.
#[derive(Debug, ClapArgs)]
pub(crate) struct FramesArgs {
    /// Send a file, one frame for each --octets of it
    #[arg(long, value_name = "FILE", conflicts_with = "generate")]
    pub(crate) file: Option<PathBuf>,

    /// Send N generated frames, each with a counter
    #[arg(long, value_name = "N", required_unless_present = "file")]
    pub(crate) generate: Option<u64>,

    /// Octets of a frame
    #[arg(long, value_name = "N", default_value_t = 1115)]
    pub(crate) octets: usize,

    /// Frames per second [default: no limit]
    #[arg(long, value_name = "N")]
    pub(crate) rate: Option<u32>,

    /// Buffered procedure: frames in a forward buffer
    #[arg(long, value_name = "N")]
    pub(crate) blocked: Option<usize>,

    /// Sequence-controlled procedure: maximum number of unacknowledged frames [default: user.window, or
    /// twice what the path carries]
    #[arg(long, value_name = "N")]
    pub(crate) window: Option<usize>,

    /// Number of the first frame
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub(crate) first: u32,

    /// Maximum time to wait for the completion of the last frame, in seconds
    #[arg(long, value_name = "SECONDS", default_value_t = 60)]
    pub(crate) drain_s: u32,

    /// Print the parameters of the service instance first
    #[arg(long)]
    pub(crate) get: bool,
}

/// The frames or control fields that START requests.
#[derive(Clone, Debug, ClapArgs)]
pub(crate) struct SelectionArgs {
    /// RAF: requested frame quality: good, erred or all
    #[arg(long, value_name = "QUALITY", default_value = "all")]
    pub(crate) quality: String,

    /// RCF, ROCF: requested channel, as SCID.TFVN or SCID.TFVN.VCID
    #[arg(long, value_name = "CHANNEL")]
    pub(crate) channel: Option<String>,

    /// ROCF: control word type: all, clcw or not-clcw
    #[arg(long, value_name = "KIND", default_value = "all")]
    pub(crate) control_word: String,

    /// ROCF: CLCWs of this virtual channel of telecommand only, 0 to 63 (--control-word clcw)
    #[arg(long, value_name = "VCID", value_parser = clap::value_parser!(u8).range(0..=63))]
    pub(crate) tc_channel: Option<u8>,

    /// ROCF: update mode change-based: only control words that have changed
    #[arg(long)]
    pub(crate) changes: bool,
}

/// `receive`.
#[derive(Debug, ClapArgs)]
pub(crate) struct ReceiveArgs {
    #[command(flatten)]
    pub(crate) selection: SelectionArgs,

    /// Write frames to a file, each after its length (4 octets, big-endian)
    #[arg(long, value_name = "FILE")]
    pub(crate) out: Option<PathBuf>,

    /// Write frames without their lengths
    #[arg(long, requires = "out")]
    pub(crate) raw: bool,

    /// End after this number of frames
    #[arg(long, value_name = "N")]
    pub(crate) frames: Option<u64>,

    /// End after this number of seconds
    #[arg(long, value_name = "N")]
    pub(crate) seconds: Option<u64>,

    /// Start time, such as 2026-11-22T08:00:00Z; required for offline delivery
    #[arg(long, value_name = "TIME")]
    pub(crate) from: Option<String>,

    /// Stop time; required for offline delivery
    #[arg(long, value_name = "TIME")]
    pub(crate) until: Option<String>,
}
