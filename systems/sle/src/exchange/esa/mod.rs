//! The text files ("databases") of ESA's SLE API: of the proxy (identity, peers, ports, services) and of
//! the service element. Source: the example files and the keywords of sleapi-j 5.1.
//!
//! The files have no service instances: applications of that API make them. An import therefore gives
//! templates of instances, one for each port, and an export leaves instances out.

mod groups;
mod read;
mod reader;
mod syntax;
mod write;

use super::lost::lost;
use super::side::{of_role, only_role};
use super::{ExchangeError, ExchangeRole, Exported, Imported, check_length};
use crate::config::Config;

/// Converts the proxy's file and, if there is one, the service element's, in any order.
///
/// # Errors
/// [`ExchangeError`]: a text is not of the format, or no file is the proxy's.
pub fn import(texts: &[&str]) -> Result<Imported, ExchangeError> {
    let mut files = Vec::new();
    for text in texts {
        check_length(text)?;
        files.push(syntax::entries(text)?);
    }
    read::read(files)
}

/// Converts a configuration into the files for one role; by default the only one that it has.
///
/// # Errors
/// [`ExchangeError::Missing`]: the configuration does not have the role.
pub fn export(config: &Config, role: Option<ExchangeRole>) -> Result<Exported, ExchangeError> {
    let role = role.or_else(|| only_role(config)).ok_or_else(|| {
        ExchangeError::Missing(
            "the configuration has a user and a provider: name a role".to_owned(),
        )
    })?;
    let own = of_role(config, role);
    let mut notes = Vec::new();
    let (proxy, element) = write::write(&own, role, &mut notes)?;
    let again = import(&[&proxy, &element])?;
    notes.extend(lost(&own, &again));
    Ok(Exported { files: vec![("proxy.txt", proxy), ("service-element.txt", element)], notes })
}
