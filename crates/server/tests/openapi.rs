//! The committed description of the API is the one that the types make: `make openapi` writes it.

use std::path::PathBuf;

#[test]
fn the_committed_openapi_file_is_current() {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../page/openapi.json");
    let current = chronoscope_server::openapi().unwrap();
    if std::env::var_os("OPENAPI_WRITE").is_some() {
        std::fs::write(&path, &current).unwrap();
    }
    let committed = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(committed == current, "page/openapi.json is not current: run `make openapi`");
}
