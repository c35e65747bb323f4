//! Calls of git: the current commit, the commits between two, and worktrees.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::run::Commit;

/// A repository, by a folder in it.
#[derive(Clone, Debug)]
pub struct Repository {
    top: PathBuf,
}

/// Reason why a call of git failed.
#[derive(Debug, thiserror::Error)]
pub enum GitError {
    /// git cannot be started.
    #[error("git cannot be run: {0}")]
    Start(#[source] std::io::Error),
    /// git ended with an error.
    #[error("git {what}: {said}")]
    Failed {
        /// The subcommand.
        what: String,
        /// The end of its output.
        said: String,
    },
    /// The output was not as expected.
    #[error("git {what} printed {said:?}")]
    Odd {
        /// The subcommand.
        what: String,
        /// The output.
        said: String,
    },
}

/// A folder with one commit's files; another one can be put there.
#[derive(Debug)]
pub struct Worktree {
    repository: Repository,
    path: PathBuf,
}

impl Repository {
    /// The repository that a folder is in.
    ///
    /// # Errors
    /// When there is none, or no git.
    pub fn at(folder: &Path) -> Result<Repository, GitError> {
        let top = git(folder, ["rev-parse", "--show-toplevel"])?;
        Ok(Repository { top: PathBuf::from(top) })
    }

    /// Top folder of the repository.
    pub fn top(&self) -> &Path {
        &self.top
    }

    /// The commit of a name such as `HEAD`, `main~3` or a part of its hash.
    ///
    /// # Errors
    /// When there is none.
    pub fn commit(&self, name: &str) -> Result<Commit, GitError> {
        let name = format!("{name}^{{commit}}");
        let id = git(&self.top, ["rev-parse", "--verify", "--end-of-options", &name])?;
        let text = git(&self.top, ["log", "-1", "--format=%H%x09%ct%x09%s", &id, "--"])?;
        let mut fields = text.splitn(3, '\t');
        let mut next = || fields.next().unwrap_or_default().to_owned();
        let (id, time, subject) = (next(), next(), next());
        if id.len() < 40 {
            return Err(GitError::Odd { what: "log".to_owned(), said: text });
        }
        let subject = Some(subject).filter(|subject| !subject.is_empty());
        Ok(Commit { id, time_s: time.parse().ok(), subject, modified: false })
    }

    /// The commit that is checked out, and whether files were modified since.
    ///
    /// # Errors
    /// When there is none yet.
    pub fn checked_out(&self) -> Result<Commit, GitError> {
        let commit = self.commit("HEAD")?;
        let status = git(&self.top, ["status", "--porcelain", "--untracked-files=no"])?;
        Ok(Commit { modified: !status.is_empty(), ..commit })
    }

    /// The commits after `good` up to `bad`, the oldest first: along first parents when `good` is
    /// among them, so that a merge counts as one step; all of them otherwise.
    ///
    /// # Errors
    /// When one of them is no commit.
    pub fn between(&self, good: &str, bad: &str) -> Result<Vec<String>, GitError> {
        let range = format!("{good}..{bad}");
        let list = |more: &[&str]| {
            let all = [&["rev-list", "--reverse", "--topo-order"], more, &[&range, "--"]].concat();
            Ok(git(&self.top, all)?.lines().map(str::to_owned).collect::<Vec<_>>())
        };
        let first = list(&["--first-parent"])?;
        let parent = match first.first() {
            Some(oldest) => git(&self.top, ["rev-parse", "--verify", &format!("{oldest}^1")]).ok(),
            None => None,
        };
        if parent.as_deref() == Some(good) { Ok(first) } else { list(&[]) }
    }

    /// The commit where the histories of two parted.
    ///
    /// # Errors
    /// When they have nothing in common.
    pub fn merge_base(&self, one: &str, other: &str) -> Result<String, GitError> {
        git(&self.top, ["merge-base", one, other])
    }

    /// Whether the one is among the ancestors of the other.
    ///
    /// # Errors
    /// When git cannot say.
    pub fn is_ancestor(&self, one: &str, other: &str) -> Result<bool, GitError> {
        Ok(self.merge_base(one, other)? == one)
    }

    /// A folder with a commit's files, made or found at `path`. Submodules are there too.
    ///
    /// # Errors
    /// When git cannot make it, as when `path` is there and is no worktree of this repository.
    pub fn worktree(&self, path: &Path, commit: &str) -> Result<Worktree, GitError> {
        let worktree = Worktree { repository: self.clone(), path: path.to_owned() };
        // Stale entries of worktrees whose folders were removed would prevent new ones.
        git(&self.top, ["worktree", "prune"])?;
        if path.join(".git").is_file() {
            worktree.put(commit)?;
        } else {
            let path = path.as_os_str();
            let words = ["worktree", "add", "--quiet", "--force", "--detach"].map(OsStr::new);
            git(&self.top, [&words[..], &[path, OsStr::new(commit)]].concat())?;
            worktree.submodules()?;
        }
        Ok(worktree)
    }
}

impl Worktree {
    /// Folder of the worktree.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Checks out another commit. Files that are in no commit are removed unless `.gitignore` names
    /// them: build results stay.
    ///
    /// # Errors
    /// When git fails.
    pub fn put(&self, commit: &str) -> Result<(), GitError> {
        git(&self.path, ["checkout", "--quiet", "--force", "--detach", commit])?;
        git(&self.path, ["clean", "-ffdq"])?;
        self.submodules()
    }

    fn submodules(&self) -> Result<(), GitError> {
        if self.path.join(".gitmodules").is_file() {
            git(&self.path, ["submodule", "update", "--quiet", "--init", "--recursive"])?;
        }
        Ok(())
    }

    /// Removes the folder, with all that was built there.
    ///
    /// # Errors
    /// When git fails.
    pub fn remove(self) -> Result<(), GitError> {
        let words = ["worktree", "remove", "--force", "--force"].map(OsStr::new);
        git(&self.repository.top, [&words[..], &[self.path.as_os_str()]].concat()).map(drop)
    }
}

/// Output of git without the last line end.
fn git<S: AsRef<OsStr>>(
    folder: &Path,
    words: impl IntoIterator<Item = S>,
) -> Result<String, GitError> {
    let mut command = Command::new("git");
    command.arg("-C").arg(folder).args(words).stdin(Stdio::null());
    // A hook or another git that runs this must not choose the repository.
    for name in ["GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_PREFIX"] {
        command.env_remove(name);
    }
    let output = command.env("GIT_TERMINAL_PROMPT", "0").output().map_err(GitError::Start)?;
    let text = |octets: &[u8]| String::from_utf8_lossy(octets).trim_end().to_owned();
    if output.status.success() {
        return Ok(text(&output.stdout));
    }
    let words = command.get_args().skip(2).map(|word| word.to_string_lossy().into_owned());
    let what = words.take(3).collect::<Vec<_>>().join(" ");
    Err(GitError::Failed { what, said: text(&output.stderr) })
}
