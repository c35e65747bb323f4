//! Clients of a server, all in one thread: senders at a steady rate, receivers that check what they
//! get for loss, order and doubles.

mod lines;
mod logins;
mod outcome;
mod plan;
mod receiver;
mod sender;
mod sink;
mod swarm;
mod trouble;

pub(crate) use logins::{crowd, logged_in, login_line};
pub(crate) use outcome::{Latency, Outcome};
pub(crate) use plan::Plan;
pub(crate) use trouble::Trouble;

use crate::process::Switches;
use crate::server::Server;
use crate::status::StatusPage;
use anyhow::Result;
use swarm::{Swarm, Window};

/// Runs a plan against a server that has had no other clients.
///
/// # Errors
/// When a client cannot log in, a sender is cut, or the server ends.
pub(crate) fn run(server: &Server, plan: &Plan) -> Result<Outcome> {
    let threads = server.usage()?.threads;
    let mut swarm = Swarm::connect(server, plan)?;
    let _troubled = trouble::start(server, plan.trouble)?;
    let window = swarm.drive(server, plan)?;
    swarm.drain(window.readings.is_some())?;
    let status = swarm.status_page(server, &window)?;
    Ok(outcome(&swarm, &window, status, threads))
}

#[allow(clippy::cast_precision_loss)]
fn outcome(swarm: &Swarm, window: &Window, status: Option<StatusPage>, threads: usize) -> Outcome {
    let tally = &swarm.tally;
    let (before, after) = (&window.before, &window.after);
    let cpu_s = after.cpu_s - before.cpu_s;
    let per_s = |count: u64| count as f64 / window.length_s;
    let switches = |of: fn(&Switches) -> u64| {
        // Threads that ended in the window took their counts along.
        per_s(of(&after.switches).saturating_sub(of(&before.switches)))
    };
    Outcome {
        sent: swarm.sent,
        repeated: swarm.repeated,
        rate: per_s(window.sent),
        delivered_per_s: per_s(window.delivered),
        octets_per_s: per_s(window.octets),
        missing: tally.missing + swarm.tail() + swarm.missing_of_sinks(),
        misordered: tally.misordered,
        cut: tally.cut,
        named: [swarm.named_expected, tally.named],
        of_bursts: tally.of_bursts,
        cpu_s_per_million: cpu_s * 1e6 / window.delivered.max(1) as f64,
        cpu_s_per_million_in: cpu_s * 1e6 / window.sent.max(1) as f64,
        cpu: cpu_s / window.length_s,
        user: (after.user_s - before.user_s) / window.length_s,
        system: (after.system_s - before.system_s) / window.length_s,
        reads_per_s: per_s(window.reads),
        generator_cpu: window.generator_cpu_s / window.length_s,
        load_average: crate::process::load_average(),
        voluntary_per_s: switches(|switches| switches.voluntary),
        involuntary_per_s: switches(|switches| switches.involuntary),
        threads: [threads, after.threads],
        latency: window.latency,
        in_bursts: window.in_bursts,
        rss_kb: after.rss_kb,
        status,
    }
}
