//! The definitions of this crate occur nowhere else.

#![allow(clippy::unwrap_used)] // a test may panic

use std::path::{Path, PathBuf};

/// Sign of a second definition, and what to use instead.
const SIGNS: &[(&str, &str)] = &[
    ("fn incomplete_beta", "statistics::student"),
    ("fn beta_fraction", "statistics::student"),
    ("fn ln_gamma", "statrs in statistics"),
    ("fn log_gamma", "statrs in statistics"),
    ("fn log_factorial", "statrs in statistics"),
    ("fn ln_choose", "statrs in statistics"),
    ("fn t_quantile", "statistics::student"),
    ("fn t_probability", "statistics::student"),
    ("fn kolmogorov", "statistics::KolmogorovSmirnov"),
    ("sorted.len() / 2", "statistics::median or nearest_rank"),
    ("values.len() / 2]", "statistics::median or nearest_rank"),
    ("values.len() / 2)", "statistics::median or nearest_rank"),
    ("saturating_sub(1) / 2)", "statistics::median or nearest_rank"),
    ("(sorted.len() - 1) / 2", "statistics::median or nearest_rank"),
    ("wrapping_add(0x9e37_79b9_7f4a_7c15)", "statistics::Random"),
];

fn sources(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).into_iter().flatten() {
        let path = entry.unwrap().path();
        match path.is_dir() {
            true => sources(&path, found),
            false if path.extension().is_some_and(|extension| extension == "rs") => {
                found.push(path);
            }
            false => {}
        }
    }
}

#[test]
fn no_second_definition() {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    let top = here.join("../..").canonicalize().unwrap();
    let mut files = Vec::new();
    for wing in ["crates", "systems", "evidence"] {
        sources(&top.join(wing), &mut files);
    }
    // Tests and benches may say a thing in their own way; products may not.
    let is_product = |path: &&PathBuf| {
        let in_crate = path.strip_prefix(&top).unwrap().components();
        in_crate.clone().any(|part| part.as_os_str() == "src") && !path.starts_with(here)
    };
    let products: Vec<_> = files.iter().filter(is_product).collect();
    assert!(products.len() > 500, "{} files are not the house", products.len());
    let mut second = Vec::new();
    for path in products {
        let text = std::fs::read_to_string(path).unwrap().to_ascii_lowercase();
        let product = text.split("#[cfg(test)]\nmod tests").next().unwrap();
        for (sign, instead) in SIGNS {
            if product.contains(sign) {
                let path = path.strip_prefix(&top).unwrap().display();
                second.push(format!("{path}: {sign}: use {instead}"));
            }
        }
    }
    assert_eq!(second, [""; 0]);
}
