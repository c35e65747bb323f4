//! The service instance that a name means.

/// Why a name means no instance.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum InstanceChoiceError {
    /// No instance is called so.
    #[error("there is no service instance {wanted:?}; there is: {}", there.join(", "))]
    Missing {
        /// The name.
        wanted: String,
        /// The instances that there are.
        there: Vec<String>,
    },
    /// More than one is called so.
    #[error("{wanted:?} could be {}: give more of the identifier", matching.join(" or "))]
    Ambiguous {
        /// The name.
        wanted: String,
        /// The instances that are called so.
        matching: Vec<String>,
    },
    /// There are no instances at all.
    #[error("there is no service instance")]
    NoneAtAll,
}

/// Whether `wanted` is the identifier, or its end from an attribute or a value on: of
/// `sagr=1.spack=2.rsl-fg=1.raf=onlc1` it may be `onlc1`, `raf=onlc1` or `rsl-fg=1.raf=onlc1`.
pub(crate) fn is_called(identifier: &str, wanted: &str) -> bool {
    identifier
        .strip_suffix(wanted)
        .is_some_and(|before| before.is_empty() || before.ends_with(['.', '=']))
}

/// The one that is called `wanted`; the first where nothing is wanted. An instance whose identifier is
/// equal to `wanted` goes before those that end with it.
pub(crate) fn choose<'a, T>(
    all: impl Iterator<Item = &'a T> + Clone,
    wanted: Option<&str>,
    identifiers: impl Fn(&T) -> Vec<&str>,
) -> Result<&'a T, InstanceChoiceError> {
    let Some(wanted) = wanted else {
        return all.into_iter().next().ok_or(InstanceChoiceError::NoneAtAll);
    };
    if let Some(same) = all.clone().find(|one| identifiers(one).contains(&wanted)) {
        return Ok(same);
    }
    let is_meant = |one: &&T| identifiers(one).iter().any(|name| is_called(name, wanted));
    let meant: Vec<&T> = all.clone().filter(is_meant).collect();
    let names = |some: &[&T]| {
        some.iter().filter_map(|one| Some((*identifiers(one).first()?).to_owned())).collect()
    };
    match meant[..] {
        [one] => Ok(one),
        [] => Err(InstanceChoiceError::Missing {
            wanted: wanted.to_owned(),
            there: names(&all.collect::<Vec<_>>()),
        }),
        _ => Err(InstanceChoiceError::Ambiguous {
            wanted: wanted.to_owned(),
            matching: names(&meant),
        }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ALL: [&str; 3] = [
        "sagr=1.spack=2.rsl-fg=1.raf=onlc1",
        "sagr=1.spack=2.rsl-fg=1.rcf=onlc1",
        "sagr=1.spack=2.rsl-fg=1.raf=onlt1",
    ];

    fn chosen(wanted: Option<&str>) -> Result<&'static str, InstanceChoiceError> {
        choose(ALL.iter(), wanted, |one| vec![one]).copied()
    }

    #[test]
    fn a_name_means_one_instance_or_none() {
        assert_eq!(chosen(None), Ok(ALL[0]));
        for name in [ALL[1], "rcf=onlc1", "rsl-fg=1.rcf=onlc1"] {
            assert_eq!(chosen(Some(name)), Ok(ALL[1]), "{name}");
        }
        assert_eq!(chosen(Some("onlt1")), Ok(ALL[2]));
        let said = chosen(Some("onlc1")).unwrap_err().to_string();
        assert!(
            said.starts_with("\"onlc1\" could be sagr=1.spack=2.rsl-fg=1.raf=onlc1 or"),
            "{said}"
        );
        for name in ["nlt1", "onlt", "", "raf"] {
            let said = chosen(Some(name)).unwrap_err().to_string();
            assert!(said.contains("there is no service instance"), "{name}: {said}");
        }
    }
}
