//! Sectors, fixes and airways: **composed** for this program, with names that are not in use.
//!
//! Real airspace is published by its authorities under terms of their own and changes every four
//! weeks; what a picture and a test need is airspace of the real kind. These lines are of that kind
//! and of no other use: not for navigation.

use super::map_data::MapLine;

/// A sector: its name, lower and upper flight level, and its boundary, closed.
pub(super) struct Sector {
    pub(super) name: &'static str,
    pub(super) levels: (u16, u16),
    pub(super) boundary: MapLine,
}

const fn sector(name: &'static str, levels: (u16, u16), boundary: MapLine) -> Sector {
    Sector { name, levels, boundary }
}

/// Corners that neighbouring sectors share.
const NW: (f32, f32) = (54.60, 6.90);
const N: (f32, f32) = (54.90, 10.10);
const NE: (f32, f32) = (54.30, 14.10);
const W: (f32, f32) = (52.30, 6.80);
const MN: (f32, f32) = (52.60, 10.30);
const E: (f32, f32) = (52.00, 14.60);
const WM: (f32, f32) = (50.60, 6.40);
const M: (f32, f32) = (50.80, 9.90);
const EM: (f32, f32) = (50.70, 14.10);
const SW: (f32, f32) = (49.10, 6.60);
const MS: (f32, f32) = (49.20, 10.20);
const SE: (f32, f32) = (48.90, 13.50);
const SSW: (f32, f32) = (47.65, 7.60);
const SM: (f32, f32) = (47.50, 10.20);
const SSE: (f32, f32) = (47.65, 12.90);

/// Upper sectors, one beside the other.
pub(super) const SECTORS: &[Sector] = &[
    sector("KORN", (245, 660), &[NW, N, MN, W]),
    sector("RAPS", (245, 660), &[N, NE, E, MN]),
    sector("ESCHE", (245, 660), &[W, MN, M, WM]),
    sector("BIRKE", (245, 660), &[MN, E, EM, M]),
    sector("AHORN", (245, 660), &[WM, M, MS, SW]),
    sector("LINDE", (245, 660), &[M, EM, SE, MS]),
    sector("TANNE", (245, 660), &[SW, MS, SM, SSW]),
    sector("LATSCHE", (245, 660), &[MS, SE, SSE, SM]),
];

/// Fixes: name and position.
pub(super) const FIXES: &[(&str, f32, f32)] = &[
    ("ADLUK", 54.35, 8.10),
    ("BIMTO", 54.05, 11.60),
    ("DEKAS", 53.20, 14.00),
    ("EMRIG", 53.05, 7.60),
    ("FOLTA", 52.75, 11.10),
    ("GIPSU", 51.85, 8.40),
    ("HEDOR", 51.75, 12.90),
    ("KABEN", 51.20, 10.10),
    ("LUMIK", 50.65, 7.75),
    ("MOFAR", 50.45, 12.10),
    ("NERTO", 49.95, 10.00),
    ("OSKIP", 49.45, 7.30),
    ("PALDU", 49.30, 12.60),
    ("RIMAS", 48.75, 8.60),
    ("SUNEK", 48.70, 11.05),
    ("TELGO", 47.95, 9.60),
    ("ULBAR", 47.90, 12.30),
];

/// Airways: name, and the fixes that they lead over.
pub(super) const AIRWAYS: &[(&str, &[&str])] = &[
    ("YA1", &["ADLUK", "EMRIG", "GIPSU", "LUMIK", "OSKIP"]),
    ("YA2", &["BIMTO", "FOLTA", "KABEN", "NERTO", "RIMAS"]),
    ("YA3", &["DEKAS", "HEDOR", "MOFAR", "PALDU", "ULBAR"]),
    ("YB1", &["EMRIG", "FOLTA", "HEDOR"]),
    ("YB2", &["GIPSU", "KABEN", "MOFAR"]),
    ("YB3", &["OSKIP", "NERTO", "MOFAR"]),
    ("YB4", &["RIMAS", "SUNEK", "PALDU"]),
    ("YC1", &["LUMIK", "NERTO", "SUNEK", "ULBAR"]),
    ("YC2", &["BIMTO", "ADLUK"]),
    ("YC3", &["RIMAS", "TELGO", "ULBAR"]),
];

/// Position of a fix.
pub(super) fn fix(name: &str) -> Option<(f32, f32)> {
    FIXES.iter().find(|(of, ..)| *of == name).map(|&(_, lat, lon)| (lat, lon))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn airways_lead_over_fixes_that_there_are_and_names_are_used_once() {
        for (airway, fixes) in AIRWAYS {
            assert!(fixes.len() >= 2 && fixes.iter().all(|name| fix(name).is_some()), "{airway}");
        }
        let names = FIXES.iter().map(|f| f.0).chain(AIRWAYS.iter().map(|a| a.0));
        let names: Vec<_> = names.chain(SECTORS.iter().map(|s| s.name)).collect();
        assert_eq!(names.iter().collect::<BTreeSet<_>>().len(), names.len());
    }
}
