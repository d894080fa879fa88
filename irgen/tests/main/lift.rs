//! Lifts C through clang: the small programs in `tests/lift` and the kernels in `bench/kernels`, as the front end emits
//! them and after `-O1`.

use std::path::Path;

use irgen::lift::{LiftOptions, canonicalise, has_cycle, lift_function, lift_function_with};
use irgen::llvm::{Context, Module};

use crate::sources::{LIGHT, RAW, compile, root, sources};

/// Kernels of the regions of one function, or of all.
fn regions(source: &Path, flags: &[&str], only: Option<&str>) -> Vec<String> {
    let context = Context::new();
    let mut module = context.parse(&compile(source, flags), "test.ll").expect("parses");
    let hopeless: Vec<String> =
        module.functions().into_iter().filter(|f| !f.may_gain(true)).map(|f| f.name()).collect();
    let options = LiftOptions::default().knowing(&module);
    canonicalise(&mut module).expect("canonical");
    let mut found = Vec::new();
    for f in module.functions() {
        if f.is_declaration() || only.is_some_and(|name| name != f.name()) {
            continue;
        }
        let lifted = lift_function_with(&module, f, &options);
        // Nothing moves across a call that is a statement in its place.
        let may_gain = lifted.regions.iter().any(|r| r.calls.is_empty());
        assert!(!may_gain || !hopeless.contains(&f.name()), "{}: {}", source.display(), f.name());
        assert!(loop_tree::validate_kernel(&lifted.kernel).is_empty(), "{}", source.display());
        for r in &lifted.regions {
            let problems = loop_tree::validate_kernel(&r.kernel);
            assert!(problems.is_empty(), "{}: {problems:?}", source.display());
            assert!(r.location.is_some(), "{} has lines", source.display());
            found.push(loop_tree::text::print_kernel(&r.kernel));
        }
    }
    module.verify().expect("cutting regions keeps the IR valid");
    found
}

#[test]
fn every_kernel_has_a_region() {
    for source in sources("bench/kernels") {
        let name = source.file_stem().and_then(|s| s.to_str()).expect("a name").to_owned();
        let found = regions(&source, RAW, Some(&format!("kernel_{name}")));
        assert!(found.iter().any(|r| !r.contains("= opaque ")), "{name}");
    }
}

#[test]
fn whole_files_lift_in_both_forms() {
    for source in sources("tests/lift").into_iter().chain(sources("bench/kernels")) {
        regions(&source, RAW, None);
        regions(&source, LIGHT, None);
    }
}

/// A file as the plugin finds it.
fn surveyed<'c>(context: &'c Context, file: &str) -> Module<'c> {
    let mut module = context.parse(&compile(&root().join(file), RAW), "test.ll").expect("parses");
    module.run_passes("function(sroa,early-cse,simplifycfg)", None).expect("early passes");
    module
}

#[test]
fn loops_with_one_order_are_known_before_lifting() {
    let context = Context::new();
    let module = surveyed(&context, "tests/lift/one_order.c");
    let mut seen = 0;
    for f in module.functions().into_iter().filter(|f| !f.is_declaration() && f.name() != "zero") {
        assert_eq!(f.may_gain(false), f.name().starts_with("more_"), "{}", f.name());
        // Others than orders may gain.
        assert!(f.may_gain(true), "{}", f.name());
        seen += 1;
    }
    assert_eq!(seen, 12);
}

#[test]
fn stores_that_may_overwrite_their_pointers_are_known_before_lifting() {
    let context = Context::new();
    let mut module = surveyed(&context, "tests/lift/buffers.c");
    let looping = module.functions().into_iter().filter(|f| has_cycle(*f));
    let seen: Vec<_> = looping.map(|f| (f.name(), f.may_gain(true))).collect();
    assert_eq!(seen.len(), 7);
    for (name, may_gain) in seen {
        assert_eq!(may_gain, name.starts_with("may_"), "{name}");
    }
    canonicalise(&mut module).expect("canonical");
    let looping = module.functions().into_iter().filter(|f| has_cycle(*f));
    let described = looping.filter(|f| !lift_function(&module, *f).regions.is_empty());
    let described: Vec<String> = described.map(|f| f.name()).collect();
    assert_eq!(described, ["may_numbers", "may_affine", "may_restrict", "may_own_object"]);
}

#[test]
fn a_sum_over_two_loops_is_one_scalar() {
    let found = regions(&root().join("tests/lift/reduction_2d.c"), RAW, None);
    assert_eq!(found.len(), 2);
    for region in found {
        assert_eq!(region.matches("scalar ").count(), 1, "{region}");
    }
}

#[test]
fn strides_that_are_values_of_their_own_make_rows() {
    let found = regions(&root().join("tests/lift/strides_apart.c"), RAW, None);
    let arrays = [
        "x: f64[?, ratio, row]",
        "x: f32[?, ratio, row]",
        "x: f64[?, ratio, column, 2]",
        "A_: f64[?, n_]",
        "y: i64[?]",
        "x: i64[?, ratio, column]",
    ];
    assert_eq!(found.len(), arrays.len());
    for (region, array) in found.iter().zip(arrays) {
        assert!(region.contains(array), "{array} is not in\n{region}");
    }
}

#[test]
fn lifting_is_deterministic() {
    for name in ["complex_matmul", "ludcmp", "mesh_relax"] {
        let source = root().join(format!("bench/kernels/{name}.c"));
        assert_eq!(regions(&source, RAW, None), regions(&source, RAW, None));
    }
}

fn check(name: &str, flags: &[&str], parts: &[&str]) {
    let source = root().join(format!("bench/kernels/{name}.c"));
    let text = regions(&source, flags, Some(&format!("kernel_{name}"))).concat();
    for part in parts {
        assert!(text.contains(part), "{part} is not in\n{text}");
    }
}

#[test]
fn subscripts_are_those_of_the_source() {
    for flags in [RAW, LIGHT] {
        check("gemm_ikj", flags, &["f64[?, n", "for k in 0..", "[i, k] * "]);
        check("jacobi_2d", flags, &[" - 1, j", "j + 1]"]);
        check("heat_3d", flags, &["f64[?, 13, 13]"]);
    }
}

/// `m * (i + 1) - 1 - k` is in row `i`, and not in the next one, which it would be only for `m <= 0`.
#[test]
fn a_row_walked_backwards_is_that_row() {
    for flags in [RAW, LIGHT] {
        let text = regions(&root().join("tests/lift/row_backwards.c"), flags, Some("f")).concat();
        assert!(text.contains("f64[?, ") && !text.contains("<= 0"), "{text}");
    }
}

#[test]
fn a_pointer_into_two_tables_does_not_make_them_one() {
    for flags in [RAW, LIGHT] {
        let text = regions(&root().join("tests/lift/pointer_to_globals.c"), flags, Some("f")).concat();
        let class = |name: &str| {
            let line = text.lines().find(|l| l.contains(&format!("{name}: i32[")));
            line.and_then(|l| l.split(" alias ").nth(1)).map(str::to_owned)
        };
        let [table, copy, cells] = ["array table", "array copy", "array cells"].map(class);
        assert_eq!(
            [table.as_deref(), copy.as_deref(), cells.as_deref()],
            [Some("0:0"), Some("0:2"), Some("0")],
            "{text}"
        );
    }
}

#[test]
fn loops_between_pointers_are_nests() {
    for flags in [RAW, LIGHT] {
        let source = root().join("tests/lift/pointer_ranges.c");
        assert!(regions(&source, flags, Some("f")).concat().contains("for j in 0..n_2"), "{flags:?}");
        assert_eq!(regions(&source, flags, Some("g")).len(), 1);
    }
}

#[test]
fn steps_that_only_the_program_knows_are_strides() {
    for flags in [RAW, LIGHT] {
        let source = root().join("tests/lift/strides.c");
        for (function, parts) in [
            ("passes", &["f64[?, 2*dual, 2]", "data[j, a + dual, 1]", "for j in 0..count"][..]),
            ("mixed", &["f64[?, 4000*s]", "a[i, 48*j]", "for i in 0..count"]),
            ("blocks", &["[i, k, j]", "[i, 0, j]", "for i in 0..n"]),
            ("rows", &["a[i, j]", "for i in 0..count"]),
            ("backwards", &["for i in 0..count"]),
        ] {
            let found = regions(&source, flags, Some(function)).concat();
            assert!(parts.iter().all(|part| found.contains(part)), "{function} {flags:?}: {found}");
        }
    }
}

#[test]
fn nests_stand_inside_of_loops_by_more_than_one() {
    let found = regions(&root().join("tests/lift/strides.c"), RAW, Some("tiles")).concat();
    assert!(
        found.contains("f64[?, 2000]") && found.contains("[i, j]") && found.contains("[j, i]"),
        "{found}"
    );
}

#[test]
fn a_counter_of_several_loops_is_a_subscript() {
    let found = regions(&root().join("tests/lift/counter_of_both.c"), RAW, Some("f"));
    assert!(found.len() == 1 && found[0].contains("[i, j2 + n"), "{found:?}");
}

#[test]
fn multiples_of_a_product_are_planes() {
    let found = regions(&root().join("tests/lift/planes.c"), RAW, Some("f")).concat();
    assert!(found.contains("f64[?, m, n]") && found.contains("b[7, k, i]"), "{found}");
}

#[test]
fn rows_that_a_loop_around_chooses_are_arrays() {
    let found = regions(&root().join("tests/lift/chosen_row.c"), RAW, Some("f"));
    assert!(found.len() == 1 && found[0].contains("w[j, 0]") && found[0].contains("w[j, k]"), "{found:?}");
}

#[test]
fn small_functions_between_loops_are_inlined() {
    let found = regions(&root().join("tests/lift/getter.c"), RAW, Some("f"));
    assert!(found.len() == 1 && !found[0].contains("= opaque "), "{found:?}");
}

#[test]
fn small_functions_are_inlined_however_deep_they_call() {
    let found = regions(&root().join("tests/lift/deep_calls.c"), RAW, Some("f"));
    assert_eq!(found.len(), 1, "{found:?}");
    let checked = regions(&root().join("tests/lift/checked_calls.c"), RAW, Some("f"));
    assert_eq!(checked.len(), 1, "{checked:?}");
    assert!(!found.iter().chain(&checked).any(|r| r.contains("= opaque ")));
    let circle = regions(&root().join("tests/lift/calls_in_a_circle.c"), RAW, Some("f"));
    assert!(circle.iter().all(|r| r.contains("= opaque ")), "{circle:?}");
}

#[test]
fn accumulators_become_array_elements() {
    check("gemm_colmajor", RAW, &["require nooverlap(", "for k in 0..n"]);
    let text =
        regions(&root().join("bench/kernels/gemm_colmajor.c"), RAW, Some("kernel_gemm_colmajor")).concat();
    assert!(!text.contains("scalar"), "{text}");
}

/// What is stored may be computed of the sum, as long as nothing else is, and nothing looks at the element before.
#[test]
fn sums_are_computed_where_what_is_made_of_them_goes() {
    let source = root().join("tests/lift/stored_sums.c");
    for (function, parts) in [
        ("mean", &["m[j] += a[i, j]", "m[j] /= 50.0"][..]),
        ("solved", &["a[i, j] -= a[i, k] * a[k, j]", "a[i, j] /= a[j, j]"]),
        ("also_returned", &["scalar total", "m[j] += a[i, j]"]),
    ] {
        let found = regions(&source, RAW, Some(function)).concat();
        assert!(parts.iter().all(|part| found.contains(part)), "{function}: {found}");
    }
    for function in ["used_twice", "added_to", "narrower", "sometimes", "seen", "kept"] {
        let found = regions(&source, RAW, Some(function)).concat();
        assert!(found.contains("scalar"), "{function}: {found}");
    }
}

/// `y == 0 || x == 0 || y == H - 1 || x == W - 1` and the rest: what is asked about parts that overlap takes long.
#[test]
fn borders_are_conditions_that_exclude_one_another() {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("../bench/kernels/sobel_clamp.c");
    let flags = [RAW, &["-DH=30", "-DW=41"]].concat();
    let found = regions(&source, &flags, Some("kernel_sobel_clamp"));
    let [text] = &found[..] else { panic!("{found:?}") };
    let conditions: Vec<&str> = text.lines().map(str::trim).filter(|l| l.starts_with("if ")).collect();
    assert_eq!(
        conditions,
        [
            "if y <= 28 && y >= 1 && x == 40 || y <= 28 && y >= 1 && x == 0 || y == 29 || y == 0 {",
            "if y <= 28 && y >= 1 && x <= 39 && x >= 1 {",
        ]
    );
}

/// Under C99 loops without a pragma say nothing: that all others are not to be unrolled is then no flag's doing.
#[test]
fn pragmas_on_all_loops_that_say_anything_are_no_flag() {
    let place = tempfile::tempdir().expect("a directory");
    let source = place.path().join("x.c");
    let text = "double A[50][50], B[50];
        void other(void) { for (int i = 0; i < 50; i++) B[i] += 1; }
        void walk(void) {
            _Pragma(\"nounroll\")
            for (int i = 0; i < 50; i++)
                _Pragma(\"nounroll\")
                for (int j = 0; j < 50; j++) A[j][i] = A[j][i] * 0.5;
        }";
    std::fs::write(&source, text).expect("written");
    let found = regions(&source, &[RAW, &["-std=c99"]].concat(), Some("walk"));
    assert!(found.iter().all(|kernel| kernel.matches("kept for").count() == 2), "{found:?}");
    let other = regions(&source, &[RAW, &["-std=c99", "-fno-unroll-loops"]].concat(), Some("other"));
    assert!(other.len() == 1 && !other[0].contains("kept"), "{other:?}");
}

/// What a pragma asks for is not overruled: neither the loop nor what is inside of it is lifted, but where all that is asked for is a
/// transformation. What a flag says of all loops is no such wish.
#[test]
fn nests_with_pragmas_are_described_where_these_are_done_or_handed_on() {
    let place = tempfile::tempdir().expect("a directory");
    let lifted = |pragma: &str, inner: &str, flags: &[&str]| {
        let source = place.path().join("x.c");
        let text = format!(
            "void f(int n, double *a) {{
                 {pragma}
                 for (int i = 0; i < n; i++)
                     {inner}
                     for (int j = 0; j < n; j++) a[j * n + i] *= 2.0;
             }}
             void g(int n, double *a) {{ for (int i = 0; i < n; i++) a[i] = 0.0; }}"
        );
        std::fs::write(&source, text).expect("a file");
        regions(&source, flags, Some("f")).len()
    };
    assert_eq!(lifted("", "", RAW), 1);
    for pragma in [
        "vectorize_predicate(enable)",
        "unroll_count(4) vectorize(disable)",
        "unroll_count(4) vectorize(enable)",
    ] {
        let pragma = format!("_Pragma(\"clang loop {pragma}\")");
        assert_eq!(lifted(&pragma, "", RAW), 0, "{pragma}");
        assert_eq!(lifted("", &pragma, RAW), 0, "{pragma}");
    }
    // That iterations are independent is what a user says to LLVM, and nothing that we know.
    assert_eq!(lifted("", "_Pragma(\"clang loop vectorize(assume_safety)\")", RAW), 0);
    // What is said of one loop is handed on with it.
    for pragma in [
        "unroll(disable)",
        "unroll(enable)",
        "vectorize(disable)",
        "vectorize_width(1)",
        "interleave_count(2)",
        "pipeline(disable)",
        "distribute(disable)",
    ] {
        let pragma = format!("_Pragma(\"clang loop {pragma}\")");
        assert_eq!(lifted(&pragma, "", RAW), 1, "{pragma}");
        assert_eq!(lifted("", &pragma, RAW), 1, "{pragma}");
    }
    for pragma in [
        "unroll_count(4)",
        "unroll(full)",
        "vectorize_width(8)",
        "vectorize(enable)",
        "vectorize(enable) interleave_count(2)",
        "distribute(enable)",
    ] {
        assert_eq!(lifted("", &format!("_Pragma(\"clang loop {pragma}\")"), RAW), 1, "{pragma}");
    }
    for pragma in ["unroll 3", "unroll_and_jam(2)"] {
        assert_eq!(lifted(&format!("_Pragma(\"{pragma}\")"), "", RAW), 1, "{pragma}");
    }
    for pragma in ["unroll", "nounroll", "unroll_and_jam", "nounroll_and_jam"] {
        assert_eq!(lifted(&format!("_Pragma(\"{pragma}\")"), "", RAW), 1, "{pragma}");
    }
    for flags in
        [&["-O1", "-Xclang", "-disable-llvm-passes"][..], &[RAW, &["-fno-unroll-loops"]].concat(), LIGHT]
    {
        assert_eq!(lifted("", "", flags), 1, "{flags:?}");
    }
}
