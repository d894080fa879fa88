//! Every input in `tests/c` has beside it, as `NAME.out.c`, the C that its recipe is emitted as: `; emit RECIPE` in a loop tree's first
//! line, `// emit RECIPE` in that of a C file. `BLESS=1` rewrites them; read the difference. Both compilers take them without a
//! warning; that they compute what the originals do is tested where random programs are (`proof/src/c_code`).

use looptree::driver::{Optimizer, Session, Settings, compile_source, emit_c};
use looptree::transforms::Recipe;
use looptree::tree::text;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;

fn inputs() -> Vec<PathBuf> {
    let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/c");
    let mut files: Vec<PathBuf> =
        std::fs::read_dir(directory).expect("the directory").map(|e| e.expect("an entry").path()).collect();
    files.retain(|f| !f.to_string_lossy().ends_with(".out.c"));
    files.sort();
    files
}

/// What the recipe in the first line makes of the input.
fn emitted(file: &Path) -> String {
    let source = std::fs::read_to_string(file).expect("an input");
    let first = source.lines().next().unwrap_or_default();
    let recipe = first.trim_start_matches([';', '/']).trim().strip_prefix("emit").expect("`emit RECIPE`");
    let optimizer = Optimizer::new(Settings::default()).expect("models that exist");
    let recipe = Recipe::parse(recipe, &optimizer.registry).expect("a recipe");
    let from_module = file.extension().is_some_and(|e| e == "c");
    let (function, number, kernel) = if from_module {
        let ir = compile_source(file, &["-ffp-contract=off".to_string()]).expect("it compiles");
        let (function, number, region) =
            Session::new(&ir, "input", &optimizer).only_region().expect("one region");
        (function, number, region.kernel)
    } else {
        let kernel = text::parse(&source).expect("a program").kernel;
        (kernel.name.clone(), 0, kernel)
    };
    let chosen = match optimizer.apply("input", &kernel, &recipe, None) {
        Ok(chosen) => chosen,
        Err(error) => panic!("{}: {error}", file.display()),
    };
    match emit_c(&BTreeMap::from([((function, number), chosen)]), from_module) {
        Ok(text) => text,
        Err(error) => format!("/* {error} */\n"),
    }
}

#[test]
fn inputs_are_emitted_as_expected_and_without_warnings() {
    let bless = std::env::var_os("BLESS").is_some();
    for input in inputs() {
        let expected = input.with_extension("out.c");
        let found = emitted(&input);
        if bless {
            std::fs::write(&expected, &found).expect("blessed");
        }
        let known = std::fs::read_to_string(&expected).unwrap_or_default();
        assert!(known == found, "{}: expected\n{known}\nfound\n{found}", input.display());
        for compiler in ["gcc", "clang-22"] {
            for optimisation in ["-O0", "-O3"] {
                let mut command = Command::new(compiler);
                command.args([
                    "-std=c11",
                    "-Wall",
                    "-Wextra",
                    "-Werror",
                    "-ffp-contract=off",
                    optimisation,
                    "-c",
                ]);
                let done = command.args(["-o", "/dev/null"]).arg(&expected).output().expect("a compiler");
                let told = String::from_utf8_lossy(&done.stderr);
                assert!(done.status.success(), "{compiler} {}: {told}", expected.display());
            }
        }
    }
}
