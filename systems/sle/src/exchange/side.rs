//! A configuration as one side has it: the form that foreign files have, in which every peer and every
//! address is named.

use super::ExchangeRole;
use crate::config::{Config, InstanceTable, PeerTable, SecurityTable};
use toml::Spanned;

/// A value without a place in a text.
pub(super) fn spanned<T>(value: T) -> Spanned<T> {
    Spanned::new(0..0, value)
}

/// The configuration for one role: the other role of the file becomes a peer, and what instances take
/// from elsewhere is in them.
pub(super) fn of_role(config: &Config, role: ExchangeRole) -> Config {
    let mut own = Config {
        transport: config.transport.clone(),
        security: SecurityTable { delay_s: config.security.delay_s, ..SecurityTable::default() },
        provider: config.provider.clone().filter(|_| role == ExchangeRole::Provider),
        user: config.user.clone().filter(|_| role == ExchangeRole::User),
        ..Config::default()
    };
    let mut names: Vec<String> = config.peer.iter().map(|peer| peer.get_ref().id.clone()).collect();
    for instance in config.instance.iter().map(Spanned::get_ref) {
        names.extend(match role {
            ExchangeRole::User => config.responder_of(instance).into_iter().collect(),
            ExchangeRole::Provider => config.initiators_of(instance),
        });
        own.instance.push(spanned(instance_of_role(config, instance, role)));
    }
    let mut seen = Vec::new();
    for name in names.into_iter().filter(|name| {
        let is_new = !seen.contains(name);
        seen.push(name.clone());
        is_new
    }) {
        own.peer.extend(config.party(&name).map(|party| {
            spanned(PeerTable {
                id: party.id,
                password: party.password,
                auth: Some(party.auth),
                hash: Some(party.hash),
            })
        }));
    }
    own
}

fn instance_of_role(
    config: &Config,
    instance: &InstanceTable,
    role: ExchangeRole,
) -> InstanceTable {
    let is_user = role == ExchangeRole::User;
    InstanceTable {
        address: config.address_of(instance).filter(|_| is_user),
        responder: config.responder_of(instance).filter(|_| is_user),
        initiators: if is_user { Vec::new() } else { config.initiators_of(instance) },
        return_timeout_s: Some(config.return_timeout_of(instance)),
        ..instance.clone()
    }
}

/// The role of a configuration that has only one.
pub(super) fn only_role(config: &Config) -> Option<ExchangeRole> {
    match (config.user.is_some(), config.provider.is_some()) {
        (true, false) => Some(ExchangeRole::User),
        (false, true) => Some(ExchangeRole::Provider),
        _ => None,
    }
}
