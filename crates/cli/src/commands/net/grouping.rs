//! Groups of hosts, from the command line and from lists of hosts.

use crate::args::net::groups::{GroupArgs, ListedGroupArgs};
use crate::usage::Usage;
use anyhow::{Context, Result};
use chronoscope_net::groups::Groups;
use chronoscope_net::scan::hosts::{self, Target};
use std::fs;

/// Groups of hosts that are scanned: what the list says, and what is given beside it.
pub(super) fn of_targets(args: &GroupArgs, targets: &[Target]) -> Result<Groups> {
    let mut groups = Groups::default();
    for target in targets {
        if let Some(group) = &target.group {
            groups.add_host(&target.name, group)?;
        }
    }
    add(&mut groups, args)?;
    Ok(groups)
}

/// Groups of hosts that were scanned.
pub(super) fn listed(args: &ListedGroupArgs) -> Result<Groups> {
    let Some(path) = &args.groups else { return of_targets(&args.given, &[]) };
    let name = path.display().to_string();
    let text = fs::read_to_string(path).with_context(|| format!("cannot read {name}"))?;
    let targets = hosts::read(&text).with_context(|| name.clone())?;
    let found = of_targets(&args.given, &targets)?;
    if found.is_empty() {
        say!("{name}: no line has group=NAME");
    }
    Ok(found)
}

fn add(groups: &mut Groups, args: &GroupArgs) -> Result<()> {
    for group in &args.group {
        groups.add(group).map_err(|error| Usage::new(format!("--group {error}")))?;
    }
    for capacity in &args.capacity {
        let added = groups.add_capacity(capacity);
        added.map_err(|error| Usage::new(format!("--capacity {error}")))?;
    }
    Ok(())
}
