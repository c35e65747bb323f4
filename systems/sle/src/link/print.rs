//! The links of a configuration with all defaults, as TOML.

use crate::client::ClientSettings;
use crate::config::{Config, LinkTable, LinksTable};
use serde::Serialize;
use std::fmt::Write as _;

#[derive(Serialize)]
struct EffectiveLinks {
    links: LinksTable,
    link: Vec<LinkTable>,
}

/// The links with all defaults, and in comments how each reaches its provider. Passwords are left out.
///
/// # Errors
/// Description of the link whose settings are incomplete.
pub fn effective(config: &Config) -> Result<String, String> {
    let mut text = String::new();
    let mut all = Vec::new();
    for link in config.link.iter().map(toml::Spanned::get_ref) {
        let settings = ClientSettings::of(config, Some(&link.instance))
            .map_err(|error| format!("link {}: {error}", link.name()))?;
        let association = &settings.association;
        // Writing into a string cannot fail.
        let _ = writeln!(
            text,
            "# link {}: {:?}, version {}, {} as {} binds to {} at {}, port {}",
            link.name(),
            association.service,
            association.version,
            crate::config::format_instance(&association.instance),
            association.initiator.id,
            association.responder.id,
            settings.address,
            association.responder_port,
        );
        let mut link = link.clone();
        if link.forward.is_none() {
            link.returns.get_or_insert_default();
        }
        all.push(link);
    }
    let links = EffectiveLinks { links: config.links.clone(), link: all };
    text += &toml::to_string(&links).map_err(|error| error.to_string())?;
    Ok(text)
}
