//! Builds the C++ shim over the LLVM interfaces that the C API lacks, with the flags of the LLVM that llvm-sys links.

use std::env;
use std::path::{Path, PathBuf};
use std::process::Command;

fn main() {
    println!("cargo::rerun-if-env-changed=LLVM_SYS_221_PREFIX");
    println!("cargo::rerun-if-changed=shim");
    let config = llvm_config();
    let flags = Command::new(&config).arg("--cxxflags").output();
    let flags = match flags {
        Ok(output) if output.status.success() => String::from_utf8_lossy(&output.stdout).into_owned(),
        _ => panic!(
            "cannot run {}: install LLVM 22 (llvm-22-dev) or set LLVM_SYS_221_PREFIX to its prefix",
            config.display()
        ),
    };
    let mut build = cc::Build::new();
    // Frames of LLVM's headers would only slow the build: optimised, without debug information.
    let opt_level = if env::var("PROFILE").is_ok_and(|p| p == "release") { 2 } else { 1 };
    build.cpp(true).file("shim/all.cpp").warnings(false).opt_level(opt_level).debug(false);
    for flag in flags.split_whitespace() {
        match flag.strip_prefix("-I") {
            // System headers: LLVM's own warnings are not ours.
            Some(dir) => build.flag("-isystem").flag(dir),
            None => build.flag(flag),
        };
    }
    // No exception crosses into Rust: LLVM has none, and the shim throws none.
    build.flag("-fno-exceptions").flag("-Wall").flag("-Wextra").flag("-Wno-unused-parameter");
    build.compile("looptree_llvm_shim");
}

/// The `llvm-config` of the prefix that llvm-sys was told, else Debian's place, else the search path.
fn llvm_config() -> PathBuf {
    if let Some(prefix) = env::var_os("LLVM_SYS_221_PREFIX") {
        return Path::new(&prefix).join("bin/llvm-config");
    }
    let debian = Path::new("/usr/lib/llvm-22/bin/llvm-config");
    if debian.exists() { debian.to_path_buf() } else { PathBuf::from("llvm-config-22") }
}
