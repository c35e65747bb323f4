//! Flags of `serve` and `agent` from a file and from the environment; completions and manual pages.

#![allow(clippy::unwrap_used)] // helpers of tests

use std::path::PathBuf;
use std::process::{Command, Output};

/// A folder to be in.
struct World {
    dir: tempfile::TempDir,
}

impl World {
    fn new() -> Self {
        Self { dir: tempfile::tempdir().unwrap() }
    }

    fn write(&self, name: &str, text: &str) -> PathBuf {
        let path = self.dir.path().join(name);
        std::fs::write(&path, text).unwrap();
        path
    }

    fn run(&self, args: &[&str], variables: &[(&str, &str)]) -> Output {
        let mut command = Command::new(env!("CARGO_BIN_EXE_chronoscope"));
        command.args(args).current_dir(self.dir.path()).env("TZ", "UTC");
        command.env("CHRONOSCOPE_DIR", self.dir.path().join("rings"));
        command.env_remove("CHRONOSCOPE_TOKEN").env_remove("CHRONOSCOPE_STORE");
        command.env_remove("CHRONOSCOPE_DATA").envs(variables.iter().copied());
        command.output().unwrap()
    }
}

fn shown(output: &Output) -> String {
    String::from_utf8(output.stdout.clone()).unwrap()
}

fn said(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

#[test]
fn serve_takes_all_that_it_needs_from_a_file() {
    let world = World::new();
    let config = "data = \"stored\"\nduration = \"1ms\"\njson = true\nquiet = true\n";
    world.write("serve.toml", config);
    let output = world.run(&["serve", "--config", "serve.toml"], &[]);
    assert!(output.status.success(), "{}", said(&output));
    assert!(shown(&output).contains("\"durable_rows\": 0"), "{}", shown(&output));
    assert!(world.dir.path().join("stored").is_dir());
}

#[test]
fn a_check_names_the_line_and_starts_nothing() {
    let world = World::new();
    let cases = [
        ("data = \"stored\"\nlisten = \"here\"\n", "listen is set in serve.toml:2"),
        (
            "wait_later = \"1s\"\n",
            "serve.toml:1: wait_later: no flag of serve. Did you mean wait_late?",
        ),
        ("data = [\n", "serve.toml:"),
        ("listen = \"0.0.0.0:0\"\n", "reachable from other hosts"),
        ("interfaces = \"1ns\"\n", "--interfaces: the shortest interval is 10ms"),
        ("interfaces = \"1s\"\nrings = \"elsewhere\"\n", "--interfaces records into"),
    ];
    for (config, sentence) in cases {
        world.write("serve.toml", config);
        let output = world.run(&["serve", "--check", "--config", "serve.toml"], &[]);
        assert_eq!(output.status.code(), Some(2), "{config}: {}", said(&output));
        assert!(said(&output).contains(sentence), "{config}: {}", said(&output));
    }
    let limits = "[[limit]]\nclass = \"a\"\n";
    world.write("limits.toml", limits);
    world.write(
        "serve.toml",
        "data = \"stored\"\nlisten = \"127.0.0.1:0\"\nlimits = \"limits.toml\"\n",
    );
    let output = world.run(&["serve", "--check", "--config", "serve.toml"], &[]);
    assert_eq!(output.status.code(), Some(2), "{}", said(&output));
    assert!(said(&output).contains("limits.toml:1"), "{}", said(&output));
    world.write("limits.toml", &format!("{limits}limit = \"1s\"\n"));
    let output = world.run(&["serve", "--check", "--config", "serve.toml"], &[]);
    assert_eq!(shown(&output), "the configuration is valid\n", "{}", said(&output));
    let agent = world.run(&["agent", "--check"], &[("CHRONOSCOPE_AGENT_TO", "http://127.0.0.1:1")]);
    assert_eq!(shown(&agent), "the configuration is valid\n", "{}", said(&agent));
    let names: Vec<_> = std::fs::read_dir(world.dir.path()).unwrap().flatten().collect();
    assert_eq!(names.len(), 2, "{names:?}");
}

#[test]
fn the_printed_configuration_is_a_configuration() {
    let world = World::new();
    let of = [("CHRONOSCOPE_SERVE_KEEP_SIZE", "20G"), ("CHRONOSCOPE_SERVE_ALLOW_HOST", "a,b")];
    let args = ["serve", "--print-config", "--data", "stored", "--listen", "127.0.0.1:0"];
    let first = world.run(&args, &of);
    assert!(first.status.success(), "{}", said(&first));
    let text = shown(&first);
    for line in [
        "data = \"stored\"",
        "allow_host = [\"a\", \"b\"]",
        "# From CHRONOSCOPE_SERVE_KEEP_SIZE.",
        "keep_size = \"20G\"",
        "# wait_late = \"2min\"",
        "# insecure = false",
    ] {
        assert!(text.lines().any(|found| found == line), "{line} is not in\n{text}");
    }
    world.write("serve.toml", &text);
    let check = world.run(&["serve", "--check", "--config", "serve.toml"], &[]);
    assert_eq!(shown(&check), "the configuration is valid\n", "{}", said(&check));
    // Printed once more it says where everything is from now.
    let again = world.run(&["serve", "--print-config", "--config", "serve.toml"], &[]);
    let values = |text: &str| {
        let lines = text.lines().filter(|line| !line.starts_with('#') && !line.is_empty());
        lines.map(str::to_owned).collect::<Vec<_>>()
    };
    assert_eq!(values(&shown(&again)), values(&text));
    assert!(shown(&again).contains("# From serve.toml:"));
}

#[test]
fn general_variables_are_named_where_they_are_the_default() {
    let world = World::new();
    let of = [("CHRONOSCOPE_DATA", "/there"), ("CHRONOSCOPE_TOKEN", "whisper")];
    for (args, of_data) in [("serve", "runs"), ("agent", "spool")] {
        let text = shown(&world.run(&[args, "--print-config"], &of));
        let expected = format!("# CHRONOSCOPE_DATA is /there.\n# {of_data} = \"DIR\"\n");
        assert!(text.contains(&expected), "{text}");
        assert!(text.contains("# CHRONOSCOPE_TOKEN is set.\n# token_file"), "{text}");
        assert!(!text.contains("whisper"), "{text}");
    }
    let given = shown(&world.run(&["serve", "--print-config", "--data", "here"], &of));
    assert!(given.contains("\ndata = \"here\"\n"), "{given}");
    assert_eq!(given.matches("CHRONOSCOPE_DATA is").count(), 1, "of runs alone: {given}");
}

/// Mistakes on the command line of the two commands that are completed from other places.
#[test]
fn mistakes_have_the_code_of_the_table() {
    let world = World::new();
    for args in ["serve --wait-late x", "serve --listn x", "agent --duration", "agent"] {
        let output = world.run(&args.split(' ').collect::<Vec<_>>(), &[]);
        assert_eq!(output.status.code(), Some(2), "{args}: {}", said(&output));
        assert!(said(&output).starts_with("error: "), "{args}: {}", said(&output));
    }
}

/// Names of all commands, as their help lists them.
fn commands(world: &World) -> Vec<String> {
    let help = shown(&world.run(&["--help"], &[]));
    let list = help.split("Commands:").nth(1).unwrap().split("Options:").next().unwrap();
    let names = list.lines().filter(|line| line.starts_with("  ") && !line.starts_with("   "));
    let names = names.filter_map(|line| line.split_whitespace().next()).map(str::to_owned);
    names.filter(|name| name != "help").collect()
}

#[test]
fn every_command_has_a_manual_page_and_the_program_s_has_every_exit_code() {
    let world = World::new();
    assert!(world.run(&["man", "--output", "man"], &[]).status.success());
    let commands = commands(&world);
    assert!(commands.len() > 15, "{commands:?}");
    for name in &commands {
        let page =
            std::fs::read_to_string(world.dir.path().join(format!("man/chronoscope-{name}.1")));
        let page = page.unwrap_or_else(|error| panic!("{name}: {error}"));
        assert!(page.contains(&format!("chronoscope {name}")), "{page}");
        assert_eq!(shown(&world.run(&["man", name], &[])), page);
    }
    assert!(world.dir.path().join("man/chronoscope-net-rtt.1").exists());
    let page = shown(&world.run(&["man"], &[]));
    let codes = page.split("EXIT STATUS").nth(1).unwrap().split(".SH").next().unwrap();
    for code in ["0", "1", "2", "3", "4", "5", "130"] {
        assert!(codes.contains(&format!("\\fB{code}\\fR\n")), "{codes}");
    }
    let unknown = world.run(&["man", "net", "rt"], &[]);
    assert_eq!(unknown.status.code(), Some(2));
    // What groff complains about would be shown wrongly.
    let mut man = Command::new("man");
    man.args(["--warnings", "--local-file", "-Tutf8", "man/chronoscope.1"]);
    let Ok(read) = man.current_dir(world.dir.path()).env("MANWIDTH", "100").output() else {
        eprintln!("SKIPPED: no man: the manual page is not formatted");
        return;
    };
    assert!(read.status.success() && read.stderr.is_empty(), "{}", said(&read));
}

#[test]
fn completions_are_scripts_with_every_command() {
    let world = World::new();
    for (shell, check) in [("bash", "-n"), ("zsh", "-n"), ("fish", "--no-execute")] {
        let script = shown(&world.run(&["completions", shell], &[]));
        for name in commands(&world) {
            assert!(script.contains(&name), "{shell}: {name}");
        }
        let path = world.write("script", &script);
        match Command::new(shell).arg(check).arg(&path).output() {
            Ok(parsed) => assert!(parsed.status.success(), "{shell}: {}", said(&parsed)),
            Err(_) => eprintln!("SKIPPED: no {shell}: its completions are not parsed"),
        }
    }
}

/// What bash offers after words, by the script that is installed.
#[test]
fn bash_completes_flags_and_commands() {
    let world = World::new();
    world.write("script", &shown(&world.run(&["completions", "bash"], &[])));
    let ask = "source ./script; COMP_WORDS=(chronoscope serve --wait); COMP_CWORD=2; \
               _chronoscope chronoscope --wait serve; echo \"${COMPREPLY[@]}\"";
    let bash = Command::new("bash").args(["-c", ask]).current_dir(world.dir.path()).output();
    let Ok(found) = bash else {
        eprintln!("SKIPPED: no bash");
        return;
    };
    assert_eq!(shown(&found).trim(), "--wait-late", "{}", said(&found));
}
