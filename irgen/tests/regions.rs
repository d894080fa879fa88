//! Every region of the C kernels, emitted again in its original order: the program prints the same.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::Command;

use irgen::emit::emit_region;
use irgen::lift::{canonicalise, lift_function};
use irgen::llvm::Context;
use loop_tree::canonical;

const FORMS: [&[&str]; 2] = [&["-O3", "-Xclang", "-disable-llvm-passes"], &["-O1"]];

fn sources(folder: &str) -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("..").join(folder);
    let list = std::fs::read_dir(folder).expect("the folder is there");
    let mut all: Vec<PathBuf> = list.map(|e| e.expect("readable").path()).collect();
    all.retain(|p| p.extension().is_some_and(|e| e == "c"));
    all.sort();
    all
}

fn clang(args: &[&str], files: &[&Path]) {
    let output = Command::new("clang-22").args(args).args(files).output().expect("clang-22 runs");
    assert!(output.status.success(), "{files:?}: {}", String::from_utf8_lossy(&output.stderr));
}

/// The module with all regions emitted again, and how many these are.
fn identity(source: &Path, ir: &[u8]) -> (Vec<u8>, usize) {
    let context = Context::new();
    let mut module = context.parse(ir, "test.ll").expect("parses");
    canonicalise(&mut module).expect("canonical");
    let mut count = 0;
    for f in module.functions().into_iter().filter(|f| !f.is_declaration()) {
        let lifted = lift_function(&module, f);
        for region in &lifted.regions {
            let root = canonical(&region.kernel, &region.kernel.original);
            let emitted = emit_region(&module, region, &root, &[], &BTreeSet::new());
            emitted.unwrap_or_else(|e| panic!("{} {}: {e}", source.display(), f.name()));
            count += 1;
        }
    }
    module.verify().unwrap_or_else(|e| panic!("{}: {e}\n{module}", source.display()));
    (module.to_bitcode(), count)
}

fn compile(source: &Path, form: &[&str], folder: &Path) -> Vec<u8> {
    let file = folder.join("original.ll");
    let mut args = form.to_vec();
    let name = file.to_string_lossy().into_owned();
    args.extend(["-DSMALL", "-g", "-fno-math-errno", "-ffp-contract=off", "-S", "-emit-llvm", "-o", &name]);
    clang(&args, &[source]);
    std::fs::read(file).expect("clang wrote it")
}

fn output(folder: &Path, name: &str, module: &[u8]) -> Vec<u8> {
    let (bitcode, program) = (folder.join(format!("{name}.bc")), folder.join(name));
    std::fs::write(&bitcode, module).expect("writable");
    let to = program.to_string_lossy().into_owned();
    clang(&["-O2", "-march=native", "-Wno-override-module", "-lm", "-o", &to], &[&bitcode]);
    let run = Command::new(&program).output().expect("runs");
    assert!(run.status.success(), "{name}: {}", run.status);
    run.stdout
}

#[test]
fn small_functions_verify() {
    let folder = tempfile::tempdir().expect("a folder");
    for source in sources("tests/lift") {
        for form in FORMS {
            identity(&source, &compile(&source, form, folder.path()));
        }
    }
}

#[test]
fn kernels_print_the_same() {
    let folder = tempfile::tempdir().expect("a folder");
    let folder = folder.path();
    let mut wrong = Vec::new();
    for source in sources("bench/kernels") {
        let mut expected = None;
        for form in FORMS {
            let ir = compile(&source, form, folder);
            let expected =
                expected.get_or_insert_with(|| output(folder, "original", source_bitcode(&ir).as_slice()));
            let (module, count) = identity(&source, &ir);
            assert!(count > 0, "{}", source.display());
            if *expected != output(folder, "identity", &module) {
                wrong.push(format!("{} {form:?}", source.display()));
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

fn source_bitcode(ir: &[u8]) -> Vec<u8> {
    Context::new().parse(ir, "test.ll").expect("parses").to_bitcode()
}
