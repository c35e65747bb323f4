//! The engine in memory, feature by feature.

mod limits;
mod logins;
mod messages;
mod order;
mod routing;
mod upgrade;
mod workers;
pub(crate) mod world;
