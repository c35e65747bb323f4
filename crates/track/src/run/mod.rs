//! A run: one execution of a suite for one version, stored with its system and method.
//!
//! * [`execute`] measures a suite and writes as it goes;
//! * [`Record`] is the stored form, `run.json` (`docs/formats/track-run.md`);
//! * [`Folder`] has the runs of a project.

mod again;
mod execute;
mod figures;
mod folder;
mod profile_file;
mod profiles;
mod record;
mod replay;
mod request;
mod surroundings;

pub use again::{AgainError, profile_again};
pub use execute::{ExecuteError, Progress, execute, execute_together};
pub use folder::{Folder, FolderError, StoredRuns};
pub use profiles::{ProfileKind, ProfiledProcess, process_name};
pub use record::{
    Commit, Discarded, Figures, ItemKind, Measured, Process, Record, RecordError, VERSION,
};
pub use request::{Request, Version};
