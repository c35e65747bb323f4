//! Service instance identifiers as people write them: `sagr=1.spack=A.fsl-fg=1.cltu=cltu1`.

use crate::pdu::{ServiceInstanceId, ServiceType, SiAttribute};

/// Attributes, by the last arc of their object identifiers `1.3.112.4.3.1.2.N`. Source: the
/// module SERVICE-INSTANCE-ID of the books' ASN.1.
const ATTRIBUTES: [(&str, u16); 13] = [
    ("sagr", 52),
    ("spack", 53),
    ("fsl-fg", 14),
    ("rsl-fg", 38),
    ("cltu", 7),
    ("fsp", 10),
    ("raf", 22),
    ("rcf", 46),
    ("rcfsh", 44),
    ("rocf", 49),
    ("rsp", 40),
    ("tcf", 12),
    ("tcva", 16),
];
/// Most characters of a value.
const VALUE_MAX: usize = 256;

/// Why a text is no service instance identifier.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum IdentifierError {
    /// A part without an equals sign.
    #[error("part {0} is not `attribute=value`: {1:?}")]
    NoValue(usize, String),
    /// No attribute is called so.
    #[error("part {0}: unknown attribute {1:?} (sagr, spack, fsl-fg, rsl-fg, cltu, raf, …)")]
    NoAttribute(usize, String),
    /// A value that is empty, too long, or not of visible characters.
    #[error("part {0}: a value has 1 to {VALUE_MAX} printable ASCII characters, not {1:?}")]
    Value(usize, String),
    /// A part is missing or at the wrong position.
    #[error("{0}")]
    Order(&'static str),
}

/// Reads an identifier. The order is the books': agreement, package, functional group, service.
///
/// # Errors
/// [`IdentifierError`] with the part, from 1, that is wrong.
pub fn parse_instance(text: &str) -> Result<ServiceInstanceId, IdentifierError> {
    let mut parts = Vec::new();
    for (index, part) in text.split('.').enumerate() {
        let number = index + 1;
        let (name, value) = part
            .split_once('=')
            .ok_or_else(|| IdentifierError::NoValue(number, part.to_owned()))?;
        let (_, arc) = ATTRIBUTES
            .iter()
            .find(|(known, _)| *known == name)
            .ok_or_else(|| IdentifierError::NoAttribute(number, name.to_owned()))?;
        let is_visible = value.bytes().all(|octet| (0x20..=0x7e).contains(&octet));
        if value.is_empty() || value.len() > VALUE_MAX || !is_visible {
            return Err(IdentifierError::Value(number, value.to_owned()));
        }
        parts.push((SiAttribute(*arc), value.to_owned()));
    }
    order(&parts)?;
    Ok(ServiceInstanceId(parts))
}

fn order(parts: &[(SiAttribute, String)]) -> Result<(), IdentifierError> {
    let arcs: Vec<u16> = parts.iter().map(|(attribute, _)| attribute.0).collect();
    let &[52, 53, group @ (14 | 38), service] = arcs.as_slice() else {
        return Err(IdentifierError::Order(
            "an identifier has four parts: sagr=…, spack=…, fsl-fg=… or rsl-fg=…, and the service",
        ));
    };
    let is_forward = matches!(service, 7 | 10 | 12 | 16);
    if is_forward != (group == 14) || matches!(service, 14 | 38 | 52 | 53) {
        return Err(IdentifierError::Order(
            "a forward service (cltu) needs fsl-fg=…, a return service (raf, rcf, rocf) rsl-fg=…",
        ));
    }
    Ok(())
}

/// Writes an identifier; an attribute without a name by its number.
#[must_use]
pub fn format_instance(id: &ServiceInstanceId) -> String {
    let part = |(attribute, value): &(SiAttribute, String)| match ATTRIBUTES
        .iter()
        .find(|(_, arc)| *arc == attribute.0)
    {
        Some((name, _)) => format!("{name}={value}"),
        None => format!("{}={value}", attribute.0),
    };
    id.0.iter().map(part).collect::<Vec<_>>().join(".")
}

/// The service that an identifier's last attribute names, where it is one of ours.
#[must_use]
pub fn service_of(id: &ServiceInstanceId) -> Option<ServiceType> {
    match id.0.last()?.0.0 {
        7 => Some(ServiceType::Fcltu),
        22 => Some(ServiceType::Raf),
        46 => Some(ServiceType::Rcf),
        49 => Some(ServiceType::Rocf),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_identifier_there_and_back() {
        let text = "sagr=3.spack=facility-PASS1.fsl-fg=1.cltu=cltu1";
        let id = parse_instance(text).unwrap();
        assert_eq!(format_instance(&id), text);
        assert_eq!(service_of(&id), Some(ServiceType::Fcltu));
        assert_eq!(id.0[3], (SiAttribute(7), "cltu1".to_owned()));
    }

    #[test]
    fn what_is_wrong_is_said_with_its_part() {
        let said = |text| parse_instance(text).unwrap_err().to_string();
        assert!(said("sagr=1.spack").starts_with("part 2 is not"));
        assert!(said("sagr=1.pack=2.fsl-fg=1.cltu=1").starts_with("part 2: unknown attribute"));
        assert!(said("sagr=1.spack=.fsl-fg=1.cltu=1").starts_with("part 2: a value"));
        assert!(said("sagr=1.spack=2.cltu=1").starts_with("an identifier has four parts: sagr"));
        assert!(said("sagr=1.spack=2.rsl-fg=1.cltu=1").starts_with("a forward service"));
        assert!(said("").starts_with("part 1 is not"));
    }
}
