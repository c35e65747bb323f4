//! Linked foreign chains: what the rows of chains without ancestors in their correlators say once
//! their chains were put together, by minute and shard.
//!
//! A *cell* is a minute on a shard. A linking writes cells anew under a version of its own and then
//! publishes all of them in one insert on the first shard, under the number that follows the one
//! it began from. The server takes each number once (its deduplication token), so that the linkings
//! are a sequence, each made from the one before, whoever makes them and however many try. A reader
//! takes the cells as they are at one number: of a chain that is linked anew it sees the old linking
//! or the new one, in all minutes and on all shards.
//!
//! A cell has the links of its rows to further parents too, and those to rows of its shard, whatever
//! the chains are ([`ChainLink`]).

mod insert;
mod linkings;
mod links;
pub(crate) mod links_tables;
mod prune;
pub(crate) mod tables;

pub use linkings::{
    ForeignChain, LinkedCell, LinkedRow, Linkings, Publication, fingerprint, new_version,
};
pub use links::ChainLink;
pub use prune::PrunedLinkings;
