//! The command line of `sle-user`.

use clap::{Args as ClapArgs, Parser, Subcommand};
use std::path::PathBuf;

/// Uses FCLTU, RAF, RCF and ROCF, and the Forward Frame service of CSTS.
///
/// Results go to standard output, with --json one object a line (stable within its "format": 1);
/// progress and talk go to standard error. Ctrl-C ends what is going on, keeps and says what was
/// had, and unbinds.
///
/// Exit codes: 0 done; 1 it could not be done, or not all of it; 2 wrong arguments; 3 --check found
/// something wrong.
#[derive(Debug, Parser)]
#[command(version, max_term_width = 100, subcommand_required = false)]
pub(crate) struct Args {
    /// The configuration
    #[arg(short, long, value_name = "FILE", global = true, default_value = "sle.toml")]
    pub(crate) config: PathBuf,

    /// The service instance: its identifier, or the end of it, as cltu1; the first when nothing is
    /// said
    #[arg(short, long, value_name = "ID", global = true)]
    pub(crate) instance: Option<String>,

    /// Version of the service to propose
    #[arg(long, value_name = "1-5", global = true)]
    pub(crate) proposed: Option<u16>,

    /// Results as JSON, one object a line
    #[arg(long, global = true)]
    pub(crate) json: bool,

    /// Say nothing on standard error but faults
    #[arg(short, long, global = true)]
    pub(crate) quiet: bool,

    /// Say what is right and what is wrong with the configuration, and end
    #[arg(long)]
    pub(crate) check: bool,

    #[command(subcommand)]
    pub(crate) command: Option<UserCommand>,
}

#[derive(Debug, Subcommand)]
pub(crate) enum UserCommand {
    /// Send CLTUs, and say what became of each
    Send(SendArgs),
    /// Send frames by the Forward Frame service (CSTS), and say what became of each
    Frames(FramesArgs),
    /// Receive frames
    Receive(ReceiveArgs),
    /// Ask for a status report
    Report,
    /// Ask for a parameter, as maximum-sldu-length; all of them when nothing is said
    Get {
        /// Name or number
        parameter: Option<String>,
    },
    /// Throw an event
    Event {
        /// Its number
        event: u16,
        /// Its qualifier, as text
        #[arg(default_value = " ")]
        qualifier: String,
    },
    /// Work the link by hand: bind, start, send, event, report, get, stop, unbind, abort
    Terminal,
}

/// `send`.
#[derive(Debug, ClapArgs)]
pub(crate) struct SendArgs {
    /// CLTUs out of a file, cut into pieces of --octets
    #[arg(long, value_name = "FILE", conflicts_with = "generate")]
    pub(crate) file: Option<PathBuf>,

    /// So many CLTUs with a counter in them
    #[arg(long, value_name = "N", required_unless_present = "file")]
    pub(crate) generate: Option<u64>,

    /// Octets of a CLTU; of a file all of it when nothing is said
    #[arg(long, value_name = "N")]
    pub(crate) octets: Option<usize>,

    /// Wrap each piece: start sequence, BCH code blocks, tail
    #[arg(long)]
    pub(crate) encode: bool,

    /// CLTUs a second; as fast as it goes when nothing is said
    #[arg(long, value_name = "N")]
    pub(crate) rate: Option<u32>,

    /// CLTUs that may be unacknowledged
    #[arg(long, value_name = "N")]
    pub(crate) window: Option<usize>,

    /// CLTUs in one invocation; more than 1 is in no book, and only our provider takes it
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub(crate) blocked: usize,

    /// Number of the first CLTU
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub(crate) first: u32,

    /// Silence after each CLTU, in µs
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub(crate) delay_us: u32,

    /// Wait until all are radiated, so many seconds at most (notify = "last" or "every")
    #[arg(long, value_name = "SECONDS")]
    pub(crate) until_radiated: Option<u32>,
}

/// `frames`.
#[derive(Debug, ClapArgs)]
pub(crate) struct FramesArgs {
    /// Frames out of a file, cut into pieces of --octets
    #[arg(long, value_name = "FILE", conflicts_with = "generate")]
    pub(crate) file: Option<PathBuf>,

    /// So many frames with a counter in them
    #[arg(long, value_name = "N", required_unless_present = "file")]
    pub(crate) generate: Option<u64>,

    /// Octets of a frame
    #[arg(long, value_name = "N", default_value_t = 1115)]
    pub(crate) octets: usize,

    /// Frames a second; as fast as it goes when nothing is said
    #[arg(long, value_name = "N")]
    pub(crate) rate: Option<u32>,

    /// Buffered: frames in a forward buffer
    #[arg(long, value_name = "N")]
    pub(crate) blocked: Option<usize>,

    /// Sequence-controlled: frames that may be unacknowledged
    #[arg(long, value_name = "N")]
    pub(crate) window: Option<usize>,

    /// Number of the first frame
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub(crate) first: u32,

    /// How long to wait for the completion of the last frame, in seconds
    #[arg(long, value_name = "SECONDS", default_value_t = 60)]
    pub(crate) drain_s: u32,

    /// Say the instance's parameters first
    #[arg(long)]
    pub(crate) get: bool,
}

/// `receive`.
#[derive(Debug, ClapArgs)]
pub(crate) struct ReceiveArgs {
    /// Write frames to a file, each with its length before it (4 octets, network order)
    #[arg(long, value_name = "FILE")]
    pub(crate) out: Option<PathBuf>,

    /// Write frames without lengths
    #[arg(long, requires = "out")]
    pub(crate) raw: bool,

    /// End after so many frames
    #[arg(long, value_name = "N")]
    pub(crate) frames: Option<u64>,

    /// End after so many seconds
    #[arg(long, value_name = "N")]
    pub(crate) seconds: Option<u64>,

    /// RAF: good, erred or all
    #[arg(long, value_name = "QUALITY", default_value = "all")]
    pub(crate) quality: String,

    /// RCF, ROCF: channel, SCID.TFVN or SCID.TFVN.VCID
    #[arg(long, value_name = "CHANNEL")]
    pub(crate) channel: Option<String>,

    /// Frames received from then on, as 2026-11-22T08:00:00Z; offline needs it
    #[arg(long, value_name = "TIME")]
    pub(crate) from: Option<String>,

    /// Frames received until then
    #[arg(long, value_name = "TIME")]
    pub(crate) until: Option<String>,

    /// ROCF: all, clcw or not-clcw
    #[arg(long, value_name = "KIND", default_value = "all")]
    pub(crate) control_word: String,

    /// ROCF: only what has changed
    #[arg(long)]
    pub(crate) changes: bool,
}
