//! The same C through each implementation of each analysis that lifting asks: equal results, or fewer.

use analyses::accesses::accesses_by_name;
use analyses::control_flow::{CONTROL_FLOW, control_flow_by_name};
use irgen::lift::{CLOSED_FORMS, LiftOptions, canonicalise, closed_forms_by_name, lift_function_with};
use irgen::llvm::Context;

use crate::sources::{RAW, compile, root, sources};

/// What a function lifts to.
#[derive(Default)]
struct Lifted {
    regions: Vec<String>,
    remarks: Vec<&'static str>,
}

impl Lifted {
    fn loops(&self) -> usize {
        self.regions.iter().map(|r| r.matches("for ").count()).sum()
    }
}

/// The function of that name, or all.
fn lift(ir: &[u8], only: Option<&str>, options: &LiftOptions) -> Lifted {
    let context = Context::new();
    let mut module = context.parse(ir, "test.ll").expect("parses");
    canonicalise(&mut module).expect("canonical");
    let mut all = Lifted::default();
    for f in module.functions() {
        if f.is_declaration() || only.is_some_and(|o| o != f.name()) {
            continue;
        }
        let lifted = lift_function_with(&module, f, options);
        for r in &lifted.regions {
            let problems = loop_tree::validate_kernel(&r.kernel);
            assert!(problems.is_empty(), "{}: {problems:?}", f.name());
            all.regions.push(loop_tree::text::print_kernel(&r.kernel));
        }
        all.remarks.extend(lifted.remarks.iter().map(|r| r.code));
    }
    module.verify().expect("cutting regions keeps the IR valid");
    all
}

fn closed_forms(name: &str) -> LiftOptions {
    let source = closed_forms_by_name(name).expect("a known name");
    LiftOptions { closed_forms: source.into(), ..LiftOptions::default() }
}

/// A small function as IR text.
fn lift_text(text: &str, options: &LiftOptions) -> Lifted {
    lift(text.as_bytes(), Some("f"), options)
}

#[test]
fn every_name_is_known_and_no_other() {
    for name in CLOSED_FORMS {
        closed_forms(name);
    }
    assert!(closed_forms_by_name("guesses").is_none());
}

#[test]
fn without_closed_forms_nothing_is_lifted_and_remarks_say_so() {
    for source in sources("bench/kernels") {
        let found = lift(&compile(&source, RAW), None, &closed_forms("none"));
        assert!(found.regions.is_empty(), "{}", source.display());
        assert!(found.remarks.contains(&"trip-count"), "{}", source.display());
    }
}

#[test]
fn scalar_evolution_finds_a_region_in_every_kernel() {
    let (mut recurrences, mut evolution) = (0, 0);
    for source in sources("bench/kernels") {
        let (ir, name) =
            (compile(&source, RAW), source.file_stem().and_then(|s| s.to_str()).expect("a name"));
        let kernel = format!("kernel_{name}");
        let by_evolution = lift(&ir, Some(&kernel), &closed_forms("scalar-evolution"));
        assert!(!by_evolution.regions.is_empty(), "{name}");
        evolution += by_evolution.loops();
        recurrences += lift(&ir, Some(&kernel), &closed_forms("recurrences")).loops();
    }
    assert!(evolution * 100 >= recurrences * 95, "{evolution} of {recurrences} loops");
}

/// A loop over `i32 %i` that stores to `%a[i]`, tested first.
fn counted(start: &str, compare: &str, step: &str) -> String {
    format!(
        "define void @f(ptr %a, i32 %n) {{
        entry:
          br label %head
        head:
          %i = phi i32 [ {start}, %entry ], [ %next, %body ]
          %c = icmp {compare}
          br i1 %c, label %body, label %done
        body:
          %x = sext i32 %i to i64
          %p = getelementptr inbounds double, ptr %a, i64 %x
          store double 1.0, ptr %p
          %next = {step}
          br label %head
        done:
          ret void
        }}"
    )
}

#[test]
fn scalar_evolution_counts_as_recurrences_do() {
    let check = |text: String, parts: &[&str]| {
        let found = lift_text(&text, &closed_forms("scalar-evolution"));
        let [region] = &found.regions[..] else { panic!("{text}: {:?} {:?}", found.regions, found.remarks) };
        for part in parts {
            assert!(region.contains(part), "{part} is not in\n{region}");
        }
    };
    check(counted("0", "slt i32 %i, %n", "add nsw i32 %i, 1"), &["for i in 0..n {", "a[i] = 1.0"]);
    check(counted("3", "slt i32 %i, %n", "add nsw i32 %i, 1"), &["for i in 3..n {", "a[i] = 1.0"]);
    check(
        counted("0", "slt i32 %i, %n", "add nsw i32 %i, 4"),
        &["for i in 0..floor((n + 3)/4) {", "a[i, 0]"],
    );
    check(counted("%n", "sgt i32 %i, 0", "add nsw i32 %i, -1"), &["for i in 0..n {", "a[n - i] = 1.0"]);
    check(counted("0", "ult i32 %i, %n", "add nuw i32 %i, 1"), &["for i in 0..n {", "require n >= 0"]);
}

#[test]
fn a_loop_that_may_wrap_keeps_a_condition_with_scalar_evolution() {
    // `i <= n` never ends where n is the greatest number.
    let found =
        lift_text(&counted("0", "sle i32 %i, %n", "add i32 %i, 1"), &closed_forms("scalar-evolution"));
    for region in &found.regions {
        assert!(region.contains("require n <= 2147483646"), "{region}");
    }
    // An odd n is passed by.
    let found = lift_text(&counted("0", "ne i32 %i, %n", "add i32 %i, 2"), &closed_forms("scalar-evolution"));
    assert!(found.regions.is_empty(), "{:?}", found.regions);
}

#[test]
fn a_counter_used_behind_its_loop_is_not_the_counter_of_an_iteration() {
    // ScalarEvolution gives the last value of `%i` the form that `%i` has inside.
    let text = "define void @f(ptr noalias %a, ptr noalias %b, i64 %n, i64 %m) {
        entry:
          br label %head
        head:
          %i = phi i64 [ 0, %entry ], [ %next, %body ]
          %c = icmp slt i64 %i, %n
          br i1 %c, label %body, label %middle
        body:
          %p = getelementptr inbounds double, ptr %a, i64 %i
          store double 1.0, ptr %p
          %next = add nsw i64 %i, 1
          br label %head
        middle:
          %last = phi i64 [ %i, %head ]
          br label %again
        again:
          %j = phi i64 [ 0, %middle ], [ %more, %inner ]
          %d = icmp slt i64 %j, %m
          br i1 %d, label %inner, label %done
        inner:
          %x = add nsw i64 %j, %last
          %q = getelementptr inbounds double, ptr %b, i64 %x
          store double 2.0, ptr %q
          %more = add nsw i64 %j, 1
          br label %again
        done:
          ret void
        }";
    let found = lift_text(text, &closed_forms("scalar-evolution"));
    for region in &found.regions {
        assert!(!region.contains("b[i") && !region.contains("b[j]"), "{region}");
    }
}

#[test]
fn where_the_program_ends_does_not_bound_a_loop() {
    // ScalarEvolution counts the iterations until the first exit, which may be the end of the program: then there are none.
    let text = |start: i32| {
        format!(
            "declare void @end() noreturn
            define void @f(ptr %a) {{
            entry:
              br label %head
            head:
              %i = phi i64 [ {start}, %entry ], [ %next, %goes_on ]
              %c = icmp slt i64 %i, 7
              br i1 %c, label %body, label %done
            body:
              store double 1.0, ptr %a
              %d = icmp slt i64 %i, 0
              br i1 %d, label %ends, label %goes_on
            goes_on:
              %next = add nsw i64 %i, 1
              br label %head
            ends:
              call void @end() noreturn
              unreachable
            done:
              ret void
            }}"
        )
    };
    for name in CLOSED_FORMS.iter().filter(|n| **n != "none") {
        let ends = lift_text(&text(-1), &closed_forms(name));
        assert!(ends.regions.is_empty(), "{name}: {:?}", ends.regions);
        let goes_on = lift_text(&text(0), &closed_forms(name));
        let [region] = &goes_on.regions[..] else { panic!("{name}: {:?}", goes_on.remarks) };
        assert!(region.contains("for i in 0..7 {"), "{name}: {region}");
    }
}

fn accesses(name: &str) -> LiftOptions {
    let analysis = accesses_by_name(name).expect("a known name");
    LiftOptions { accesses: analysis.into(), ..LiftOptions::default() }
}

/// Subscripts of each array at most.
fn dimensions(regions: &[String]) -> usize {
    let arrays = regions.iter().flat_map(|r| r.lines()).filter(|l| l.trim_start().starts_with("array "));
    arrays.map(|l| l.matches(", ").count() + 1).max().unwrap_or(0)
}

#[test]
fn linear_accesses_have_one_dimension_and_lift_less() {
    let (mut least, mut most) = (0, 0);
    for source in sources("bench/kernels") {
        let ir = compile(&source, RAW);
        let linear = lift(&ir, None, &accesses("linear"));
        assert!(dimensions(&linear.regions) <= 1, "{}: {:?}", source.display(), linear.regions);
        least += linear.loops();
        most += lift(&ir, None, &accesses("delinearised")).loops();
    }
    assert!(0 < least && least < most, "{least} of {most} loops");
}

#[test]
fn types_spell_out_the_rows_of_constant_length_only() {
    let folder = root().join("bench/kernels");
    // `double (*A)[N]`, and a variable-length array.
    let constant =
        lift(&compile(&folder.join("jacobi_2d.c"), RAW), Some("kernel_jacobi_2d"), &accesses("types"));
    assert!(dimensions(&constant.regions) == 2, "{:?}", constant.regions);
    let variable =
        lift(&compile(&folder.join("gemm_ikj.c"), RAW), Some("kernel_gemm_ikj"), &accesses("types"));
    assert!(dimensions(&variable.regions) <= 1, "{:?}", variable.regions);
    assert!(variable.remarks.contains(&"subscript"), "{:?}", variable.remarks);
}

#[test]
fn rows_that_a_type_spells_out_are_rows_under_a_condition() {
    // The same bytes: once a row of four, once windows four apart that may overlap.
    for (row, wanted) in
        [("[4 x double], ptr %a, i64 %i", "n <= 4"), ("double, ptr %a, i64 %s", "a[4*i + j]")]
    {
        let text = format!(
            "define void @f(ptr %a, i64 %n) {{
            entry:
              br label %head
            head:
              %i = phi i64 [ 0, %entry ], [ %next, %latch ]
              %s = shl nsw i64 %i, 2
              %row = getelementptr inbounds {row}
              br label %inner
            inner:
              %j = phi i64 [ 0, %head ], [ %after, %body ]
              %c = icmp slt i64 %j, %n
              br i1 %c, label %body, label %latch
            body:
              %p = getelementptr inbounds double, ptr %row, i64 %j
              store double 1.0, ptr %p
              %after = add nsw i64 %j, 1
              br label %inner
            latch:
              %next = add nsw i64 %i, 1
              %d = icmp slt i64 %next, 100
              br i1 %d, label %head, label %done
            done:
              ret void
            }}"
        );
        for name in ["recurrences", "scalar-evolution"] {
            let found = lift_text(&text, &closed_forms(name));
            let [region] = &found.regions[..] else { panic!("{:?} {:?}", found.regions, found.remarks) };
            assert!(region.contains(wanted), "{wanted} is not in\n{region}");
        }
    }
}

/// `if (p) { t = b[x]; } else { b[x] = 3.0; } if (q) a[x] = t;` in a loop.
fn two_branches(second: &str) -> String {
    format!(
        "define void @f(ptr noalias %a, ptr noalias %b, ptr noalias %d, i64 %n) {{
        entry:
          br label %head
        head:
          %i = phi i64 [ 0, %entry ], [ %next, %end ]
          %c = icmp slt i64 %i, %n
          br i1 %c, label %body, label %done
        body:
          %p = getelementptr inbounds double, ptr %a, i64 %i
          %q = getelementptr inbounds double, ptr %b, i64 %i
          %r = getelementptr inbounds double, ptr %d, i64 %i
          %v = load double, ptr %r
          %first = fcmp olt double %v, 1.0
          br i1 %first, label %yes, label %no
        yes:
          %t = load double, ptr %q
          br label %join
        no:
          store double 3.0, ptr %q
          br label %join
        join:
          %u = phi double [ %t, %yes ], [ 2.0, %no ]
          br i1 {second}, label %then, label %end
        then:
          store double %u, ptr %p
          br label %end
        end:
          %next = add nsw i64 %i, 1
          br label %head
        done:
          ret void
        }}"
    )
}

#[test]
fn control_flow_by_either_analysis_describes_the_same_kernels() {
    for name in CONTROL_FLOW {
        let analysis = control_flow_by_name(name).expect("a known name");
        let options = LiftOptions { control_flow: analysis.into(), ..LiftOptions::default() };
        // What is read on one way is not behind what is written on the other.
        let found = lift_text(&two_branches("%first"), &options);
        let [region] = &found.regions[..] else { panic!("{:?} {:?}", found.regions, found.remarks) };
        assert!(region.contains("S1"), "{name}: {region}");
        for kernel in ["life", "floyd_warshall", "mesh_relax"] {
            let source = root().join(format!("bench/kernels/{kernel}.c"));
            let ir = compile(&source, RAW);
            let all = |o: &LiftOptions| lift(&ir, Some(&format!("kernel_{kernel}")), o).regions;
            assert_eq!(all(&options), all(&LiftOptions::default()), "{kernel}");
        }
    }
}
