//! List of the attacks.

mod door;
mod files;
mod neighbours;
mod stored;

use crate::outcome::Outcome;
use crate::world::World;
use anyhow::Result;

/// An attack on the release programs.
pub(crate) struct Attack {
    /// Name on the command line.
    pub(crate) name: &'static str,
    /// Description in one sentence.
    pub(crate) what: &'static str,
    /// Function that runs it.
    pub(crate) run: fn(&World) -> Result<Outcome>,
}

const fn attack(
    name: &'static str,
    what: &'static str,
    run: fn(&World) -> Result<Outcome>,
) -> Attack {
    Attack { name, what, run }
}

/// All of them, in the order in which they run.
pub(crate) const ALL: &[Attack] = &[
    attack("kills", "the collector is killed while programs record", stored::kills),
    attack("agent-kills", "agent and collector are killed in turn", stored::agent_kills),
    attack("flips", "one bit of a store is changed anywhere", stored::flips),
    attack("cuts", "a file of a store is cut short anywhere", stored::cuts),
    attack("manifest", "the manifest of a store is removed or replaced", stored::manifest),
    attack("clock", "the clock goes ahead by 40 days with --keep-age 30d", stored::clock_ahead),
    attack("full-disk", "the disk fills up while programs record", stored::full_disk),
    attack("other-users", "another user of the host reads what is stored", stored::other_users),
    attack("ended-rings", "1,000 programs end unread, 256 files may be open", neighbours::ended),
    attack("foreign-files", "FIFO, device, link, folder and garbage as rings", neighbours::foreign),
    attack("truncated", "a ring is cut short while its program records", neighbours::truncated),
    attack("sparse-rings", "60 rings claim a gigabyte each", neighbours::sparse),
    attack("pid-namespace", "an agent in another PID namespace restarts", neighbours::namespaces),
    attack("crowd", "1,100 connections without a token", door::crowd),
    attack("idle-uploads", "40 uploads that never go on", door::idle_uploads),
    attack("slow-readers", "200 clients ask and do not read", door::slow_readers),
    attack("pages", "pages of other origins, DNS rebinding", door::pages),
    attack("forged-agent", "an agent delivers under another's name", door::forged_agent),
    attack("minutes", "OTLP requests of 1,440 minutes each", door::minutes),
    attack("zip-bomb", "compressed bodies that become a thousand times as much", door::zip_bomb),
    attack("names", "as many class names as can be sent", door::names),
    attack("control-chars", "control characters in names", door::control_characters),
    attack("garbage", "random octets at every port", door::garbage),
    attack("files", "garbage, cut and changed files for every reader", files::files),
];
