//! Who follows a page: the page, a folder, and a terminal in it.

use crate::page::{Block, Task, blocks};
use crate::terminal::Terminal;
use serde_json::Value;
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The file of a page that has all its addresses.
const SETTINGS: &str = "settings.sh";

/// The repository.
pub(crate) fn repository() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// What a script of `tools` prints; `None`, said loudly, where it fails.
pub(crate) fn tool(name: &str, arguments: &[&str]) -> Option<String> {
    let output =
        Command::new(repository().join("tools").join(name)).args(arguments).output().unwrap();
    if !output.status.success() {
        eprintln!("SKIPPED: tools/{name} {} fails here", arguments.join(" "));
        return None;
    }
    Some(String::from_utf8(output.stdout).unwrap().trim().to_owned())
}

/// Whether these programs of Debian's packages are here; where one is not, that is said loudly.
pub(crate) fn has_programs(programs: &[&str]) -> bool {
    let missing =
        programs.iter().find(|program| Command::new(program).arg("--version").output().is_err());
    if let Some(program) = missing {
        eprintln!("SKIPPED: no {program} here (tools/setup test)");
    }
    missing.is_none()
}

/// Addresses of 127.0.0.1 with ports that the kernel chose.
pub(crate) fn addresses<const COUNT: usize>() -> [String; COUNT] {
    // All of them are open at the same time: no two are the same.
    let listeners = [(); COUNT].map(|()| TcpListener::bind("127.0.0.1:0").unwrap());
    listeners.map(|listener| listener.local_addr().unwrap().to_string())
}

/// A reader of a page. What it has started ends with it.
pub(crate) struct Reader {
    blocks: std::vec::IntoIter<Block>,
    terminal: Terminal,
    folder: tempfile::TempDir,
}

impl Reader {
    /// Begins a page of `docs`, in an empty folder, with other values for some of its settings.
    pub(crate) fn begin(page: &str, settings: &[(&str, &str)]) -> Self {
        let page = std::fs::read_to_string(repository().join("docs").join(page)).unwrap();
        let mut blocks = blocks(&page);
        let is_settings =
            |block: &&mut Block| block.task == Task::WriteFile { name: SETTINGS.into() };
        let block = blocks.iter_mut().find(is_settings).unwrap();
        for (name, value) in settings {
            block.body = with_setting(&block.body, name, value);
        }
        let folder = tempfile::tempdir().unwrap();
        std::fs::create_dir(folder.path().join("rings")).unwrap();
        let program = Path::new(env!("CARGO_BIN_EXE_chronoscope")).parent().unwrap();
        let path = format!("{}:{}", program.display(), std::env::var("PATH").unwrap());
        let rings = folder.path().join("rings").display().to_string();
        let variables = [("PATH", path), ("CHRONOSCOPE_DIR", rings), ("TZ", "UTC".into())];
        let terminal = Terminal::open(folder.path(), &variables);
        Self { blocks: blocks.into_iter(), terminal, folder }
    }

    /// The commands by which the page installs packages.
    pub(crate) fn install(&self) -> String {
        let of_install = self.blocks.as_slice().iter().filter(|block| block.task == Task::Install);
        of_install.map(|block| block.body.as_str()).collect()
    }

    /// Puts what is installed somewhere else into the page's folder.
    pub(crate) fn link(&self, name: &str, target: impl AsRef<Path>) {
        std::os::unix::fs::symlink(target, self.folder.path().join(name)).unwrap();
    }

    /// Does all that comes before a section.
    pub(crate) fn follow_until(&mut self, section: &str) {
        while let Some(block) = self.blocks.as_slice().first() {
            if block.section == section {
                return;
            }
            self.terminal.follow(self.folder.path(), block);
            self.blocks.next();
        }
        panic!("the page has no section {section}");
    }

    /// Does the rest of the page.
    pub(crate) fn follow_to_the_end(mut self) {
        for block in self.blocks.by_ref() {
            self.terminal.follow(self.folder.path(), &block);
        }
    }

    /// The output of a command that is not on the page.
    pub(crate) fn ask(&mut self, command: &str) -> String {
        self.terminal.ask(command)
    }

    /// The same of a command that prints JSON.
    pub(crate) fn json(&mut self, command: &str) -> Value {
        let output = self.ask(command);
        serde_json::from_str(&output).unwrap_or_else(|error| panic!("{command}: {error}: {output}"))
    }
}

/// A file of settings in which one has another value.
fn with_setting(settings: &str, name: &str, value: &str) -> String {
    let begin = format!("export {name}=");
    assert!(settings.lines().any(|line| line.starts_with(&begin)), "no setting {name}");
    let lines = settings.lines().map(|line| match line.starts_with(&begin) {
        true => format!("{begin}{value}\n"),
        false => format!("{line}\n"),
    });
    lines.collect()
}
