//! The engine in memory, feature by feature.

mod drop_in;
mod hunt;
mod judgements;
mod limits;
mod logins;
mod messages;
mod order;
mod routing;
mod upgrade;
mod workers;
pub(crate) mod world;
