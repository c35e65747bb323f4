//! A git repository of a small program, made by the tests.

use std::fs;
use std::path::Path;
use std::process::Command;

use tempfile::TempDir;

/// A repository with a branch `main`.
pub(crate) struct Made {
    folder: TempDir,
}

impl Made {
    pub(crate) fn new() -> Made {
        let made = Made { folder: tempfile::tempdir().unwrap() };
        made.git(&["init", "-q", "-b", "main"]);
        made.write(".gitignore", "program\n*.o\n");
        made
    }

    pub(crate) fn path(&self) -> &Path {
        self.folder.path()
    }

    pub(crate) fn write(&self, file: &str, text: &str) {
        fs::write(self.path().join(file), text).unwrap();
    }

    /// Commits all files; the commit's hash.
    pub(crate) fn commit(&self, message: &str) -> String {
        self.git(&["add", "-A"]);
        self.git(&["commit", "-q", "--allow-empty", "-m", message]);
        self.git(&["rev-parse", "HEAD"])
    }

    pub(crate) fn git(&self, words: &[&str]) -> String {
        let mut git = Command::new("git");
        git.current_dir(self.path()).args(words).env("HOME", self.path());
        for who in ["AUTHOR", "COMMITTER"] {
            git.env(format!("GIT_{who}_NAME"), "Ada")
                .env(format!("GIT_{who}_EMAIL"), "ada@x.example");
        }
        let output = git.output().unwrap();
        assert!(output.status.success(), "{words:?}: {}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).unwrap().trim_end().to_owned()
    }
}
