//! Link options of the shared library: the name that programs ask for, and no unloading, because
//! threads keep pointers into it until they end.

fn main() {
    println!("cargo::rustc-cdylib-link-arg=-Wl,-soname,libarm4.so");
    println!("cargo::rustc-cdylib-link-arg=-Wl,-z,nodelete");
    println!("cargo::rerun-if-changed=build.rs");
}
