//! How isl is built: with our settings, or not at all.

use std::path::Path;
use std::process::{Command, Output};

#[test]
fn isl_has_the_integers_that_are_asked_for() {
    assert!(analyses::isl_version().ends_with("IMath-32"), "{}", analyses::isl_version());
}

/// As cargo does it for a crate outside of this workspace, which has no settings.
#[test]
fn other_settings_are_refused() {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    let place = Path::new(env!("CARGO_TARGET_TMPDIR"));
    let script = place.join("build-of-analyses");
    let rustc = std::env::var_os("RUSTC").unwrap_or_else(|| "rustc".into());
    let made = Command::new(rustc)
        .args(["--edition", "2024", "-o"])
        .arg(&script)
        .arg(here.join("build.rs"))
        .status()
        .expect("rustc runs");
    assert!(made.success());
    let run = |site: Option<&Path>| -> Output {
        let mut command = Command::new(&script);
        command.env("CARGO_MANIFEST_DIR", here).env_remove("CONFIG_SITE").env_remove("DOCS_RS");
        command.envs(site.map(|s| ("CONFIG_SITE", s))).output().expect("it runs")
    };
    let refused = |output: &Output| {
        String::from_utf8_lossy(&output.stdout).contains("cargo::error=isl is built without")
    };

    let own = here.join("isl-config.site");
    assert!(!refused(&run(Some(&own))));
    let none = run(None);
    let text = String::from_utf8_lossy(&none.stdout).into_owned();
    assert!(
        refused(&none) && text.contains(&own.display().to_string()) && text.contains("CONFIG_SITE = {"),
        "{text}"
    );
    // More settings are the user's business; fewer are not.
    let settings = std::fs::read_to_string(&own).expect("settings");
    let other = place.join("other-config.site");
    for (text, is_refused) in [
        (format!("{settings}\nprefix=/opt\n"), false),
        (settings.replace("with_int=imath-32", "with_int=imath"), true),
        (settings.replace("enable_portable_binary=yes", ""), true),
    ] {
        std::fs::write(&other, &text).expect("a file");
        assert_eq!(refused(&run(Some(&other))), is_refused, "{text}");
    }
}
