//! Every bug found in what is emitted stays found.

use looptree::driver::{Optimizer, Purpose, Session, Settings, compile_source};
use looptree::measure::{CallSetup, MeasureOptions, measure_ir};
use looptree::transforms::Recipe;
use looptree::tree::{RuntimeCondition, text};
use std::collections::BTreeMap;
use std::path::Path;

/// Applies a recipe to the only region of a function and compares results with the original, bit for bit.
#[track_caller]
fn same_bits(file: &str, machine: &str, function: &str, params: &[(&str, i64)], recipe: &str) {
    same_bits_in(function, file, machine, function, params, recipe);
}

/// The same of the results of a function that calls it; the number of its regions.
#[track_caller]
fn same_bits_in(
    caller: &str,
    file: &str,
    machine: &str,
    function: &str,
    params: &[(&str, i64)],
    recipe: &str,
) -> usize {
    let flags = [machine, "-ffp-contract=off"].map(String::from);
    let bitcode =
        compile_source(&Path::new(env!("CARGO_MANIFEST_DIR")).join(file), &flags).expect("it compiles");
    let settings = Settings {
        params: params.iter().map(|(n, v)| ((*n).to_string(), *v)).collect(),
        function: Some(function.to_string()),
        limits: looptree::explore::Limits { depth: 0, ..Default::default() },
        ..Settings::default()
    };
    let optimizer = Optimizer::new(settings).expect("models that exist");
    let session = Session::new(&bitcode, file, &optimizer);
    let explored = session.explore().expect("it is lifted");
    let region = &explored.regions[0];
    let recipe = Recipe::parse(recipe, &optimizer.registry).expect("a recipe");
    let chosen =
        optimizer.apply(&region.label(), &region.kernel, &recipe, region.vectors).expect("it is legal");
    let choices = BTreeMap::from([((region.function.clone(), region.number), chosen)]);
    let emitted = session.emit(&choices, |m| m.to_bitcode()).expect("it is emitted");
    let arguments = session.argument_specs(caller).expect("it is lifted").expect("it can be called");
    let options = MeasureOptions { timed: false, ..MeasureOptions::default() };
    measure_ir(
        &bitcode,
        caller,
        &[("variant", &emitted)],
        &CallSetup { arguments, seed: 7, others: Vec::new() },
        &options,
    )
    .expect("equal bits");
    explored.regions.len()
}

/// LLVM's vectoriser moves members of interleaved groups across accesses of the same element in one iteration where a loop
/// says that its iterations are independent.
#[test]
fn interleaved_real_and_imaginary_parts() {
    same_bits(
        "bench/kernels/complex_matmul.c",
        "-march=native",
        "kernel_complex_matmul",
        &[("n", 100)],
        "distribute(@0; 2); interchange(@0.1); distribute(@); tile(@1, @1.0; 4, 4; full); \
         unroll_and_jam(@1.0.0.0.0; 4); unroll_and_jam(@1.0.0.0; 2)",
    );
}

/// LLVM's vectoriser takes the last value of a scalar from a wrong element where groups of interleaved accesses have gaps.
#[test]
fn last_value_of_an_unrolled_loop() {
    for n in 0..20 {
        let recipe = "unroll(@1.0; 2)";
        same_bits("tests/regressions/last_value_unrolled.c", "-march=x86-64", "last", &[("n", n)], recipe);
    }
}

/// Scalars that each iteration has for itself: copies of jammed loops have registers of their own.
#[test]
fn sums_that_belong_to_one_iteration() {
    for recipe in [
        "interchange(@)",
        "unroll_and_jam(@; 4)",
        "unroll_and_jam(@; 3); unroll_and_jam(@0.0; 2)",
        "interchange(@); tile(@, @0; 5, 7; full); unroll_and_jam(@0.0.0; 2)",
        "skew(@, @0; 1); interchange(@)",
    ] {
        for (w, h) in [(31, 27), (3, 3), (2, 9), (14, 6)] {
            let params = [("w", w), ("h", h), ("pitch", 40)];
            same_bits("tests/regressions/private_sums.c", "-march=native", "filter", &params, recipe);
        }
    }
}

/// What nothing reads can be passed, whatever it is.
#[test]
fn a_function_with_unused_arguments_is_measured() {
    let file = "tests/regressions/unused_argument.c";
    same_bits(file, "-march=native", "columns", &[("n", 20)], "interchange(@)");
}

/// Loops over blocks of one element have counters, and are part of their nests.
#[test]
fn loops_that_run_once() {
    for (n, recipe) in [(0, "interchange(@)"), (9, "interchange(@)"), (70, "unroll_and_jam(@; 4)")] {
        same_bits("tests/regressions/one_iteration.c", "-march=native", "columns", &[("n", n)], recipe);
    }
}

/// An element that a loop names by what it reads is some element of its array there, whatever loops are inside.
#[test]
fn elements_that_data_names_between_loops() {
    for recipe in ["distribute(@1); interchange(@1)", "distribute(@1); reverse(@1)", "unroll_and_jam(@1; 4)"]
    {
        for n in [3, 33, 300] {
            let file = "tests/regressions/elements_between_loops.c";
            same_bits(file, "-march=native", "gather", &[("n", n)], recipe);
        }
    }
}

/// Two iterations may name the same element.
#[test]
#[should_panic(expected = "it is legal")]
fn elements_that_data_names_stay_in_order() {
    let file = "tests/regressions/elements_between_loops.c";
    same_bits(file, "-march=native", "gather", &[("n", 33)], "distribute(@1); reverse(@2)");
}

/// What a region computes is used where the function ends, behind the region and inside of it; and where both lead to one end it is no region.
#[test]
fn values_that_are_used_where_the_function_ends() {
    let file = "tests/regressions/used_where_it_ends.c";
    for n in [1, 2, 31] {
        same_bits(file, "-march=native", "behind", &[("n", n)], "");
        same_bits(file, "-march=native", "inside", &[("n", n)], "unroll(@1; 2)");
        same_bits(file, "-march=native", "both", &[("n", n)], "unroll(@1; 2)");
    }
}

/// A pointer may lead into either of two tables, which are apart: each is compared with it, and not with the other one.
#[test]
fn a_pointer_into_one_of_two_tables() {
    for n in [1, 7, 40] {
        let file = "tests/regressions/pointer_to_globals.c";
        same_bits_in("tables", file, "-march=native", "shift", &[("n", n)], "interchange(@)");
    }
}

/// Behind a condition are ways that come back to it only one iteration later; what they lead to is there once.
#[test]
fn ways_that_meet_one_iteration_later() {
    let file = "tests/regressions/round_again.c";
    assert_eq!(same_bits_in("all", file, "-march=native", "rounds", &[], "interchange(@)"), 1);
}

/// What LLVM gets wrong only in the code that we make of it is left alone.
#[test]
fn unsigned_numbers_that_were_signed() {
    let file = "tests/regressions/unsigned_of_signed.c";
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(file);
    let bitcode = compile_source(&path, &["-march=native".to_owned()]).expect("it compiles");
    let optimizer = Optimizer::new(Settings::default()).expect("models that exist");
    let explored = Session::new(&bitcode, file, &optimizer).explore().expect("it is read");
    let lifted: Vec<&str> = explored.regions.iter().map(|r| &*r.function).collect();
    assert_eq!(lifted, ["counts"]);
    let why: Vec<_> = explored.remarks.iter().filter(|(name, _)| &**name == "signs").collect();
    assert!(why.iter().any(|(_, remark)| remark.message.contains("converted as an unsigned one")), "{why:?}");
}

/// A file of ours, compiled and ranked for one machine.
fn for_zen_3(file: &str) -> (Vec<u8>, Optimizer) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(file);
    let settings = Settings { target: "znver3".into(), ..Settings::default() };
    let bitcode = compile_source(&path, &["-march=znver3".to_owned()]).expect("it compiles");
    (bitcode, Optimizer::new(settings).expect("models that exist"))
}

/// Where copies of rows side by side gain, and few rows are as they were, those do not wait for the comparison of what is accessed: sums
/// of SNAP over two rows of 24 took 1.4 times as long on Zen 3.
#[test]
fn few_rows_are_not_checked_for_many() {
    let (bitcode, optimizer) = for_zen_3("tests/regressions/few_rows.c");
    let session = Session::new(&bitcode, "few_rows.c", &optimizer);
    let explored = session.explore().expect("it is lifted");
    let region = &explored.regions[0];
    let best = region.exploration.best();
    assert!(best.recipe.to_string().contains("unroll_and_jam"), "{}", best.recipe);
    let enough =
        |c: &RuntimeCondition| text::print_runtime_condition(&region.kernel, c).starts_with("rows >=");
    assert!(best.conditions.iter().any(enough), "{:?}", best.conditions);
    let choices = session.best(&explored, 1.1).expect("it is legal");
    let emitted = session.emit(&choices, |m| m.to_string()).expect("it is emitted");
    let first = emitted.split("looptree.enough:").nth(1).and_then(|rest| rest.split("br i1").next());
    assert!(!first.expect("a test of its own").contains("ptrtoint"), "{emitted}");
}

/// Of loops that have no iteration at the sizes that are guessed nothing is known: the empty one was taken to the outside, as 56,769x as
/// fast, and took 4.7 times as long on Zen 3.
#[test]
fn nothing_is_ranked_by_loops_that_do_not_run() {
    let (bitcode, optimizer) = for_zen_3("tests/regressions/block_in_box.c");
    let session =
        Session { purpose: Purpose::Explain, ..Session::new(&bitcode, "block_in_box.c", &optimizer) };
    let explored = session.explore().expect("it is lifted");
    assert!(explored.regions.is_empty(), "{:?}", explored.regions[0].exploration.best().recipe);
    let why: Vec<&str> = explored.skipped.iter().map(|region| &*region.why).collect();
    assert!(why.iter().any(|why| why.contains("nothing in its loops runs")), "{why:?}");
}
