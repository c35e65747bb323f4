//! The configuration file of the SLE User Test Library (`UtlConfigurationFile`): XML with the own
//! identity, ports, peers and service instances. Source: the schema and the classes of version 1.0.6.

mod instance;
mod names;
mod read;
mod reader;
mod write;
mod xml;

use super::lost::lost;
use super::side::{of_role, only_role};
use super::{ExchangeError, ExchangeNote, ExchangeRole, Exported, Imported, check_length};
use crate::config::Config;

/// Converts a file. Without a role it is that of the instances: the file's own identifier is their
/// initiator or their responder.
///
/// # Errors
/// [`ExchangeError`]: the text is no such file, or its role is not known.
pub fn import(text: &str, role: Option<ExchangeRole>) -> Result<Imported, ExchangeError> {
    check_length(text)?;
    read::read(xml::tree(text)?, role)
}

/// Converts a configuration into a file for one role; by default the only one that it has.
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
    let text = write::write(&own, role, &mut notes)?;
    let again = import(&text, Some(role))?;
    notes.extend(lost(&own, &again));
    if !config.forward_frame.is_empty() {
        let why = "[[forward_frame]]: the format has no cross support transfer services";
        notes.push(ExchangeNote::new(None, true, why));
    }
    Ok(Exported { files: vec![("utl.xml", text)], notes })
}
