//! Differences between two configurations, port by port, for the log of a reload.

use super::endpoints::{Listener, PeerGroup, Uplink};
use super::settings::Config;
use std::fmt::Debug;
use std::sync::Arc;

/// What a reload changes, a line each: ports, uplinks and peer groups that are new, gone or
/// different, and directives with another value. Empty where both configurations are the same.
pub fn changes(before: &Config, after: &Config) -> Vec<String> {
    let mut lines = Vec::new();
    let ports = |config: &Config| config.listeners.iter().map(port).collect::<Vec<_>>();
    compare("port", &ports(before), &ports(after), &mut lines);
    let uplinks = |config: &Config| config.uplinks.iter().map(uplink).collect::<Vec<_>>();
    compare("uplink", &uplinks(before), &uplinks(after), &mut lines);
    let groups = |config: &Config| config.peer_groups.iter().map(group).collect::<Vec<_>>();
    compare("peer group", &groups(before), &groups(after), &mut lines);
    for (name, one, other) in settings(before, after) {
        if one != other {
            lines.push(format!("{name}: {one} becomes {other}"));
        }
    }
    lines
}

/// A part of the configuration that has a name: by what it is the same, and its properties.
struct Part {
    /// As the operator names it: `"igate" tcp 0.0.0.0:14580`.
    identity: String,
    properties: Vec<(&'static str, String)>,
}

fn compare(what: &str, before: &[Part], after: &[Part], lines: &mut Vec<String>) {
    let find =
        |parts: &'_ [Part], identity: &str| parts.iter().position(|part| part.identity == identity);
    for part in before.iter().filter(|part| find(after, &part.identity).is_none()) {
        lines.push(format!("{what} {}: closed", part.identity));
    }
    for part in after {
        let Some(at) = find(before, &part.identity) else {
            lines.push(format!("{what} {}: new", part.identity));
            continue;
        };
        let pairs = before[at].properties.iter().zip(&part.properties);
        let changed: Vec<String> = pairs
            .filter(|((_, one), (_, other))| one != other)
            .map(|((name, one), (_, other))| format!("{name} {one} becomes {other}"))
            .collect();
        if !changed.is_empty() {
            lines.push(format!("{what} {}: {}", part.identity, changed.join(", ")));
        }
    }
}

fn port(listener: &Arc<Listener>) -> Part {
    let Listener { name, kind, protocol, address, filter, clients_max, acl, hidden, tls } =
        &**listener;
    Part {
        identity: format!("\"{name}\" {} {address}", debug_word(protocol)),
        properties: vec![
            ("kind", debug_word(kind)),
            ("filter", filter.as_ref().map_or("none".to_owned(), |text| format!("\"{text}\""))),
            ("maxclients", clients_max.to_string()),
            ("acl", digest(acl.as_ref())),
            ("hidden", hidden.to_string()),
            ("TLS files", digest(tls.as_ref())),
        ],
    }
}

fn uplink(uplink: &Arc<Uplink>) -> Part {
    let Uplink { name, kind, protocol, host, port, tls, .. } = &**uplink;
    Part {
        identity: format!("\"{name}\""),
        properties: vec![
            ("kind", debug_word(kind)),
            ("address", format!("{} {host}:{port}", debug_word(protocol))),
            ("TLS files", digest(tls.as_ref())),
        ],
    }
}

fn group(group: &Arc<PeerGroup>) -> Part {
    let peers: Vec<String> =
        group.peers.iter().map(|peer| format!("{} {}", peer.server_id, peer.address)).collect();
    Part {
        identity: format!("\"{}\" {}", group.name, group.local),
        properties: vec![("peers", peers.join(" "))],
    }
}

/// Directives of the server as a whole that a reload puts in force, with both values.
fn settings(before: &Config, after: &Config) -> Vec<(&'static str, String, String)> {
    macro_rules! pairs {
        ($($name:literal = $field:ident,)+) => {
            vec![$(($name, format!("{:?}", before.$field), format!("{:?}", after.$field)),)+]
        };
    }
    // The passcode itself is nothing for the log.
    let passcodes = (digest(Some(&before.passcode)), digest(Some(&after.passcode)));
    let mut pairs = pairs! {
        "MyAdmin" = my_admin,
        "MyEmail" = my_email,
        "Fake_Version" = fake_version,
        "LogRotate" = log_rotate,
        "MaxClients" = clients_max,
        "UpstreamTimeout" = upstream_timeout,
        "ClientTimeout" = client_timeout,
        "LoginTimeout" = login_timeout,
        "StaleAfter" = stale_after,
        "LastPositionCache" = last_position_cache,
        "Disallow_Unverified" = disallow_unverified,
        "Quirks_Mode" = quirks_mode,
        "DisallowLoginCall" = disallow_login,
        "DisallowSourceCall" = disallow_source,
        "DisallowIgateCall" = disallow_igate,
        "Q_Protocol_Id" = q_protocol,
        "Disallow_Other_Protocol_Id" = disallow_other_q_protocols,
        "Batching" = batching,
        "UplinkBind" = uplink_bind,
        "HTTPStatus" = http_status,
        "HTTPUpload" = http_upload,
        "HTTPAllowHost" = http_allow_hosts,
        "HTTPStatusOptions ShowEmail" = show_email,
    };
    pairs.push(("PassCode", passcodes.0, passcodes.1));
    pairs
}

fn debug_word(value: &impl Debug) -> String {
    format!("{value:?}").to_ascii_lowercase()
}

/// Something that is too long for a line of the log: the rules of an access list, paths of files.
/// Equal values have equal digests.
fn digest(value: Option<&impl Debug>) -> String {
    value.map_or("none".to_owned(), |value| {
        let crc = crc32fast::hash(format!("{value:?}").as_bytes());
        format!("#{crc:08x}")
    })
}

#[cfg(test)]
mod tests {
    use super::changes;
    use crate::config::{Config, Surroundings, parse};
    use std::path::Path;

    fn config(directives: &str) -> Config {
        let text = format!("ServerId TESTING\nMyAdmin \"A, N0CALL\"\n{directives}");
        parse(text.as_bytes(), Path::new("x.conf"), &Surroundings::SYSTEM).unwrap()
    }

    #[test]
    fn each_port_that_differs_has_a_line() {
        let before = config(
            "MaxClients 500\n\
             Listen same fullfeed tcp 127.0.0.1 14501\n\
             Listen more igate tcp 127.0.0.1 14502 filter p/OH\n\
             Listen gone igate tcp 127.0.0.1 14503\n",
        );
        let after = config(
            "MaxClients 600\n\
             Listen same fullfeed tcp 127.0.0.1 14501\n\
             Listen more igate tcp 127.0.0.1 14502 filter p/OZ maxclients 7\n\
             Listen new clientonly tcp 127.0.0.1 14504\n",
        );
        assert_eq!(
            changes(&before, &after),
            [
                "port \"gone\" tcp 127.0.0.1:14503: closed",
                "port \"more\" tcp 127.0.0.1:14502: filter \"p/OH\" becomes \"p/OZ\", maxclients \
                 200 becomes 7",
                "port \"new\" tcp 127.0.0.1:14504: new",
                "MaxClients: 500 becomes 600",
            ]
        );
        assert_eq!(changes(&after, &after), [""; 0]);
    }
}
