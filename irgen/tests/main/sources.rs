//! C that is lifted: as the front end emits it, and after `-O1`.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{Arc, Mutex, PoisonError};

pub const RAW: &[&str] = &["-O3", "-Xclang", "-disable-llvm-passes"];
pub const LIGHT: &[&str] = &["-O1"];

pub fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

/// The C files of a folder of the workspace, in order.
pub fn sources(folder: &str) -> Vec<PathBuf> {
    let list = std::fs::read_dir(root().join(folder)).expect("the folder is there");
    let mut all: Vec<PathBuf> = list.map(|e| e.expect("readable").path()).collect();
    all.retain(|p| p.extension().is_some_and(|e| e == "c"));
    all.sort();
    all
}

/// By path, text and flags.
type Compiled = BTreeMap<(PathBuf, Vec<u8>, Vec<String>), Arc<[u8]>>;

/// The text of its IR, with lines and names. Several tests ask for the same.
pub fn compile(source: &Path, flags: &[&str]) -> Arc<[u8]> {
    static KNOWN: Mutex<Compiled> = Mutex::new(BTreeMap::new());
    let known = || KNOWN.lock().unwrap_or_else(PoisonError::into_inner);
    let text = std::fs::read(source).expect("C that is there");
    let key = (source.to_owned(), text, flags.iter().map(|f| f.to_string()).collect());
    if let Some(ir) = known().get(&key) {
        return ir.clone();
    }
    let output = Command::new("clang-22")
        .args(flags)
        .args(["-DSMALL", "-g", "-fno-math-errno", "-ffp-contract=off", "-S", "-emit-llvm", "-o", "-"])
        .arg(source)
        .output()
        .expect("clang-22 runs");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let ir: Arc<[u8]> = output.stdout.into();
    known().insert(key, ir.clone());
    ir
}
