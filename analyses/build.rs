//! Refuses to go on where isl is built with other settings than ours: by itself its build takes integers that are several
//! times slower, `-ffast-math`, and the instructions of the machine that builds.
//!
//! isl-rs runs isl's `configure`, which takes settings only from the file that `CONFIG_SITE` names; and a crate cannot set
//! variables for the crates that it depends on.

use std::path::Path;
use std::{env, fs};

/// In this crate's directory.
const SETTINGS: &str = "isl-config.site";

fn main() {
    println!("cargo::rerun-if-changed={SETTINGS}");
    println!("cargo::rerun-if-env-changed=CONFIG_SITE");
    // Documentation needs no isl.
    if env::var_os("DOCS_RS").is_some() {
        return;
    }
    let own = Path::new(&env::var_os("CARGO_MANIFEST_DIR").expect("cargo sets it")).join(SETTINGS);
    let wanted = fs::read_to_string(&own).expect("the crate has its settings");
    let given = env::var_os("CONFIG_SITE").map(fs::read_to_string);
    let given = given.and_then(Result::ok).unwrap_or_default();
    let settings = |text: &str| -> Vec<String> {
        text.lines()
            .map(str::trim)
            .filter(|l| !l.is_empty() && !l.starts_with('#'))
            .map(String::from)
            .collect()
    };
    let given = settings(&given);
    let missing: Vec<String> = settings(&wanted).into_iter().filter(|s| !given.contains(s)).collect();
    if missing.is_empty() {
        return;
    }
    for line in [
        "isl is built without the settings that looptree needs: by default its integers are slow, and its code is for the \
         machine that builds it alone",
        &format!("copy {} beside your Cargo.toml, and put into .cargo/config.toml there:", own.display()),
        "    [env]",
        &format!("    CONFIG_SITE = {{ value = \"{SETTINGS}\", relative = true }}"),
        "then run `cargo clean -p isl-rs`, and build again",
    ] {
        println!("cargo::error={line}");
    }
    println!("cargo::error=missing: {}", missing.join("; "));
}
