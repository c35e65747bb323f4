//! Profiles that Callgrind wrote, whole call graphs with exact costs.
//!
//! The format is version 1 as Valgrind's manual gives it ("Callgrind Format Specification"), with
//! what Callgrind really writes beyond it: `jfi=`/`jfn=` before jumps, `jcnd=taken/executed`, the
//! bare position after a jump, and several parts in one file or in files beside each other.
//!
//! Kept are costs by function, source file and line, and by call. Not kept: instruction addresses
//! (costs of one line are summed) and jumps, which are read and checked.

pub mod diff;
mod graph;
mod names;
mod position;
mod profile;
mod read;
mod set;
mod write;

pub use graph::{Cycle, Edge, Graph, GraphError, Node, SourceLine};
pub use names::plain;
pub use profile::{
    Call, Callable, Costs, Discrepancy, FunctionId, NameId, Names, Profile, ProfilePart, Site,
};
pub use read::{Limits, ReadError, read};
pub use set::{Set, SetError, read_set};
pub use write::{WriteOptions, write};
