//! The commands, one file each.

mod agent;
mod attributes;
mod chain;
mod chains;
mod classes;
mod export;
mod export_otlp;
mod import;
mod interfaces;
mod live;
mod net;
mod open_files;
mod play;
mod record;
mod replay;
mod rules;
mod serve;
mod store;
mod token;
mod track;

pub(crate) use agent::agent;
pub(crate) use attributes::attributes;
pub(crate) use chain::chain;
pub(crate) use chains::chains;
pub(crate) use classes::classes;
pub(crate) use export::export;
pub(crate) use import::import;
pub(crate) use live::live;
pub(crate) use net::net;
pub(crate) use record::record;
pub(crate) use replay::replay;
pub(crate) use rules::rules;
pub(crate) use serve::serve;
pub(crate) use store::store;
pub(crate) use token::token;
pub(crate) use track::track;
