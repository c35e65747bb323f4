//! Our own programs as the measured ones: this program again, as `provide` and `use`.

use crate::work::{Reports, Service, Through, Timing, Work};
use anyhow::Result;
use std::fmt::Write;
use std::net::{Ipv4Addr, SocketAddr};
use std::process::Command;

/// The service instance of the measurements.
pub(crate) fn instance(service: Service) -> &'static str {
    match service {
        Service::Fcltu => "sagr=1.spack=VST-PASS0001.fsl-fg=1.cltu=cltu1",
        Service::Raf => "sagr=1.spack=VST-PASS0001.rsl-fg=1.raf=onlc1",
        Service::Frames | Service::Sequence => "1.3.112.4.7.1/1.3.112.4.6.1/1.3.112.4.4.1.2.3/1",
    }
}

/// The configuration of both, as a file would have it.
pub(crate) fn config(listen: SocketAddr, work: &Work) -> String {
    let mut text = String::new();
    let quickack = match work.delayed_ack {
        None => String::new(),
        Some(delayed) => format!("quickack = {}\n", !delayed),
    };
    let output_max = if work.shipped { "" } else { "output_max = 67108864\n" };
    let congestion = match work.congestion {
        "" => String::new(),
        name => format!("congestion = \"{name}\"\n"),
    };
    let _ = write!(
        text,
        "[transport]\nheartbeat_s = 60\nnodelay = {}\n{quickack}{congestion}{output_max}\
         write_each = {}\n[provider]\nid = \"TESTPROV\"\nlisten = [\"{}\"]\n",
        !work.nagle,
        work.write_each,
        // Of frames only the other port is used.
        if is_csts(work) { SocketAddr::from((listen.ip(), 0)) } else { listen },
    );
    if is_csts(work) {
        let _ = writeln!(text, "listen_csts = [\"{listen}\"]");
    }
    if let Some(Through::Unix(path)) = &work.through {
        let _ = writeln!(text, "listen_local = [{path:?}]");
    }
    text.push_str("[user]\nid = \"TESTUSER\"\nreturn_timeout_s = 600\n");
    let _ = if is_csts(work) {
        write!(
            text,
            "[[forward_frame]]\nname = \"ff1\"\nid = \"{}\"\nport = \"TESTPORT\"\nblocked = {}\n\
             queue = 268435456\nprocedure = \"{}\"\n",
            instance(work.service),
            work.together,
            if work.service == Service::Frames { "buffered" } else { "sequence-controlled" },
        )
    } else {
        write!(
            text,
            "[[instance]]\nid = \"{}\"\nport = \"TESTPORT\"\nversions = [5]\n",
            instance(work.service),
        )
    };
    let _ = match work.service {
        Service::Fcltu => write!(
            text,
            "[instance.forward]\ncltu_max = {}\nbeyond_standard = {}\n{}blocking = {}\n",
            work.octets.max(4096),
            work.octets > 4096,
            if work.shipped { "" } else { "buffer = 268435456\n" },
            work.together > 1,
        ),
        Service::Raf => write!(
            text,
            "[instance.return]\nframes_per_buffer = {}\nconcatenated = {}\nbacklog = 16777216\n\
             [instance.return.generator]\noctets = {}\n",
            work.together, work.concatenated, work.octets,
        ),
        Service::Frames | Service::Sequence => Ok(()),
    };
    text
}

fn is_csts(work: &Work) -> bool {
    matches!(work.service, Service::Frames | Service::Sequence)
}

/// This program as provider, at any free port of `address`.
pub(crate) fn provider(address: Ipv4Addr, work: &Work) -> Result<Command> {
    let mut command = Command::new(std::env::current_exe()?);
    command.args(["provide", &config(SocketAddr::from((address, 0)), work)]);
    switches(&mut command, work, 1);
    Ok(command)
}

/// This program as communication server, at any free port of `address`, for a provider at `port`.
pub(crate) fn server(address: Ipv4Addr, port: u16, through: &Through) -> Result<Command> {
    let to = match through {
        Through::Tcp => format!("{address}:{port}"),
        Through::Unix(path) => format!("unix:{}", path.display()),
    };
    let mut command = Command::new(std::env::current_exe()?);
    command.args(["communicate", &format!("{address}:0={to}")]);
    Ok(command)
}

/// This program as user of who listens at `to`.
pub(crate) fn user(to: SocketAddr, work: &Work, timing: Timing) -> Result<Command> {
    let mut command = Command::new(std::env::current_exe()?);
    command.args(["use", &config(to, work)]);
    command.args(["--octets", &work.octets.to_string()]);
    if !work.shipped {
        command.args(["--window", &work.window.to_string()]);
    }
    command.args(["--together", &work.together.to_string()]);
    command.args(["--warm-ms", &timing.warm.as_millis().to_string()]);
    command.args(["--round-ms", &timing.round.as_millis().to_string()]);
    command.args(["--rounds", &timing.rounds.to_string()]);
    let reports = match work.reports {
        Reports::None => "none",
        Reports::Last => "last",
        Reports::Every => "every",
    };
    command.args(["--reports", reports]);
    if work.fresh {
        command.arg("--fresh");
    }
    switches(&mut command, work, 0);
    Ok(command)
}

/// Common arguments of both programs; `cpu` is the CPU if each program has its own.
fn switches(command: &mut Command, work: &Work, cpu: usize) {
    if work.declared {
        command.arg("--declared");
    }
    if work.one_cpu {
        let cpus = std::thread::available_parallelism().map_or(1, usize::from);
        command.args(["--cpu", &(cpu % cpus).to_string()]);
    }
    match &work.record {
        None => command.env("CHRONOSCOPE_RECORD", "off"),
        // Slots for what is under way over the longest delay.
        Some(folder) => command
            .env("CHRONOSCOPE_RECORD", "on")
            .env("CHRONOSCOPE_DIR", folder)
            .env("CHRONOSCOPE_SLOTS", "131072"),
    };
}

#[cfg(test)]
mod tests {
    use super::config;
    use crate::work::{Through, Work};
    use chronoscope_sle::config::Config;

    #[test]
    fn what_is_measured_is_configured_without_a_fault() {
        let aggregated = Work { together: 80, ..Work::fcltu(1544, 64) };
        let frames = [Work::frames(100, 80), Work::sequence(8000, 64)];
        let cltus = [Work::fcltu(100, 1), Work::fcltu(65_536, 64), aggregated, Work::shipped(1544)];
        let returned = [Work::raf(100, 80), Work::concatenated(100, 80)];
        let through =
            [Work { through: Some(Through::Unix("/run/x.sock".into())), ..Work::raf(100, 1) }];
        for work in cltus.into_iter().chain(frames).chain(returned).chain(through) {
            let config = Config::parse(&config("127.0.0.1:0".parse().unwrap(), &work)).unwrap();
            let wrong: Vec<_> = config.check().into_iter().filter(|f| f.is_wrong()).collect();
            assert!(wrong.is_empty(), "{wrong:?}");
        }
    }
}
