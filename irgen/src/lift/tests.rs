//! Lifting of small functions in IR: counts, wraps, effects.

use super::{canonicalise, lift_function};
use crate::llvm::Context;

/// The regions' kernels and the remarks' codes of `@f`.
fn lift(body: &str) -> (Vec<String>, Vec<&'static str>) {
    let text = format!(
        "{body}\ndeclare void @g()\ndeclare void @k(ptr)\ndeclare void @w(<2 x double>)\ndeclare double @llvm.sqrt.f64(double)\ndeclare double @h(double)\n\
         declare double @sqrt(double)\ndeclare double @exp(double)\ndeclare double @log(double)\ndefine double @log10(double %x) {{\ncall void @g()\nret double %x\n}}\n"
    );
    let cx = Context::new();
    let mut module = cx.parse(text.as_bytes(), "test.ll").expect("parses");
    canonicalise(&mut module).expect("passes");
    let function = module.function("f").expect("there");
    let lifted = lift_function(&module, function);
    module.verify().expect("cutting regions keeps the IR valid");
    assert!(loop_tree::validate_kernel(&lifted.kernel).is_empty());
    for r in &lifted.regions {
        let problems = loop_tree::validate_kernel(&r.kernel);
        assert!(problems.is_empty(), "{problems:?}");
        assert_eq!(r.before.successors(), vec![r.entry]);
        assert_eq!(r.entry.predecessors(), vec![r.before]);
        assert_eq!(r.last.successors(), vec![r.exit]);
        assert_eq!(r.exit.predecessors(), vec![r.last]);
        assert!(r.entry.phis().is_empty() && r.exit.phis().is_empty());
        assert_eq!((r.params.len(), r.arrays.len()), (r.kernel.params.len(), r.kernel.arrays.len()));
        assert_eq!(r.loops.len(), r.kernel.variables.len());
    }
    let texts = lifted.regions.iter().map(|r| loop_tree::text::print_kernel(&r.kernel)).collect();
    (texts, lifted.remarks.iter().map(|r| r.code).collect())
}

/// A loop over `i32 %i` that stores 1.0 to `%a[i]`, tested first.
fn counted(start: &str, compare: &str, step: &str) -> (Vec<String>, Vec<&'static str>) {
    lift(&format!(
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
    ))
}

/// Emission declares what it calls, with all that is known of it.
#[test]
fn what_malloc_is_does_not_depend_on_its_declaration() {
    let kernel = |declared: &str| {
        lift(&format!(
            "define void @f(ptr %b) {{
            entry:
              %a = call ptr @malloc(i64 800)
              br label %head
            head:
              %i = phi i64 [ 0, %entry ], [ %next, %head ]
              %p = getelementptr inbounds double, ptr %a, i64 %i
              store double 1.0, ptr %p
              %q = getelementptr inbounds double, ptr %b, i64 %i
              %x = load double, ptr %p
              store double %x, ptr %q
              %next = add nuw nsw i64 %i, 1
              %c = icmp ult i64 %next, 100
              br i1 %c, label %head, label %done
            done:
              ret void
            }}
            declare {declared} @malloc(i64)"
        ))
    };
    check(kernel("ptr"), &["f64[?] local"]);
    assert_eq!(kernel("ptr"), kernel("noalias ptr"));
}

fn check(found: (Vec<String>, Vec<&'static str>), parts: &[&str]) {
    let [text] = &found.0[..] else { panic!("not one region: {found:?}") };
    for part in parts {
        assert!(text.contains(part), "{part} is not in\n{text}");
    }
}

#[test]
fn counts_of_all_kinds() {
    check(counted("0", "slt i32 %i, %n", "add nsw i32 %i, 1"), &["for i in 0..n {", "a[i] = 1.0"]);
    check(counted("3", "sle i32 %i, %n", "add nsw i32 %i, 1"), &["for i in 3..n + 1 {"]);
    check(
        counted("0", "slt i32 %i, %n", "add nsw i32 %i, 4"),
        &["for i in 0..floor((n + 3)/4) {", "a[4*i] = 1.0"],
    );
    check(counted("%n", "sgt i32 %i, 0", "add nsw i32 %i, -1"), &["for i in 0..n {", "a[n - i] = 1.0"]);
    check(
        counted("%n", "sge i32 %i, 0", "add nsw i32 %i, -3"),
        &["for i in 0..floor(n/3) + 1 {", "a[n - 3*i]"],
    );
    check(counted("0", "eq i32 %i, 0", "add i32 %i, 1"), &["let i = 0 {", "a[i] = 1.0"]);
    check(counted("%n", "eq i32 %i, %n", "add nsw i32 %i, 3"), &["let i = 0 {", "a[3*i + n] = 1.0"]);
    assert_eq!(counted("0", "eq i32 %i, %n", "add i32 %i, 1").1, ["trip-count"]);
}

#[test]
fn unsigned_and_unequal_ask_for_a_check() {
    check(counted("0", "ult i32 %i, %n", "add i32 %i, 1"), &["for i in 0..n {", "require n >= 0"]);
    check(counted("0", "ne i32 %i, %n", "add i32 %i, 1"), &["for i in 0..n {", "require n >= 0"]);
}

#[test]
fn a_wrap_that_may_happen_is_checked_or_refused() {
    // i <= n never ends where n is the greatest number.
    check(
        counted("0", "sle i32 %i, %n", "add i32 %i, 1"),
        &["for i in 0..n + 1 {", "require n <= 2147483646"],
    );
    // i != n with a step of 2 passes by odd n.
    let (regions, remarks) = counted("0", "ne i32 %i, %n", "add i32 %i, 2");
    assert!(regions.is_empty());
    assert_eq!(remarks, ["trip-count"]);
}

fn body(statement: &str) -> (Vec<String>, Vec<&'static str>) {
    lift(&format!(
        "define void @f(ptr noalias %a, ptr noalias %b, i32 %n) {{
        entry:
          br label %head
        head:
          %i = phi i32 [ 0, %entry ], [ %next, %body ]
          %c = icmp slt i32 %i, %n
          br i1 %c, label %body, label %done
        body:
          %x = sext i32 %i to i64
          %p = getelementptr inbounds double, ptr %a, i64 %x
          %q = getelementptr inbounds double, ptr %b, i64 %x
          {statement}
          %next = add nsw i32 %i, 1
          br label %head
        done:
          ret void
        }}"
    ))
}

#[test]
fn effects_end_a_region_with_their_reason() {
    let codes = |s| body(s).1;
    assert_eq!(codes("store volatile double 1.0, ptr %p"), ["volatile"]);
    assert_eq!(codes("store atomic double 1.0, ptr %p release, align 8"), ["atomic"]);
    assert_eq!(codes("fence acquire"), ["atomic"]);
    assert_eq!(codes("call void @g()"), ["opaque"]);
    assert_eq!(codes("call void @g() memory(inaccessiblemem: write)"), ["throws"]);
    assert_eq!(codes("call void @g() nounwind"), ["opaque"]);
    assert_eq!(codes("call void @g() nounwind willreturn"), ["opaque"]);
    assert_eq!(
        codes("%v = load atomic double, ptr %p unordered, align 8\nstore double %v, ptr %q"),
        ["atomic"]
    );
    let indirect =
        "%v = load i64, ptr %q\n%r = getelementptr inbounds double, ptr %a, i64 %v\nstore double 0.0, ptr %r";
    assert!(codes(indirect).is_empty());
}

#[test]
fn reads_before_writes_stay_together() {
    // Swapping needs one statement; independent stores are two.
    let swap = "%v = load double, ptr %p\n%w = load double, ptr %q\nstore double %w, ptr %p\nstore double %v, ptr %q";
    let (regions, _) = body(swap);
    assert_eq!(regions[0].matches("S1").count(), 0, "{}", regions[0]);
    let (regions, _) = body("store double 0.0, ptr %p\nstore double 1.0, ptr %q");
    assert_eq!(regions[0].matches("S1").count(), 1, "{}", regions[0]);
}

#[test]
fn pure_calls_are_operations() {
    let found =
        body("%v = load double, ptr %q\n%w = call double @llvm.sqrt.f64(double %v)\nstore double %w, ptr %p");
    check(found, &["a[i] = sqrt(b[i])"]);
    let call = "%v = load double, ptr %q\n%w = call double @h(double %v) ATTRIBUTES\nstore double %w, ptr %p";
    let with = |attributes| body(&call.replace("ATTRIBUTES", attributes));
    check(with("memory(none) willreturn nounwind"), &["= pure ", "for i in 0..n"]);
    for (lacking, code) in [
        ("memory(read) willreturn nounwind", "opaque"),
        ("memory(none) nounwind", "opaque"),
        ("memory(none) willreturn", "throws"),
        ("memory(none) willreturn nounwind noduplicate", "opaque"),
    ] {
        assert_eq!(with(lacking).1, [code], "{lacking}");
    }
}

#[test]
fn relaxed_atomic_stores_are_described_and_marked() {
    for ordering in ["unordered", "monotonic"] {
        let store = format!("store atomic double 1.0, ptr %p {ordering}, align 8");
        check(body(&store), &["[atomic]", "a[i] = 1.0"]);
    }
    // Less than aligned, or seen by this thread's signal handlers only: not what the mark says.
    for other in [
        "store atomic double 1.0, ptr %p monotonic, align 4",
        "store atomic double 1.0, ptr %p syncscope(\"singlethread\") monotonic, align 8",
        "store atomic volatile double 1.0, ptr %p monotonic, align 8",
    ] {
        assert!(body(other).0.is_empty(), "{other}");
    }
    // Others see each value that an atomic accumulator takes: it is neither a reduction nor kept in a register.
    let sum = "%v = load double, ptr %q\n%o = load double, ptr %a\n%s = fadd reassoc double %o, %v\n\
               store atomic double %s, ptr %a monotonic, align 8";
    let (regions, _) = body(sum);
    assert!(regions[0].contains("[atomic]") && !regions[0].contains("reduction"), "{}", regions[0]);
}

#[test]
fn what_does_not_change_in_an_inner_loop_is_known_behind_it() {
    // As common subexpressions leave it: the inner loop computes what counts the outer one, and a factor used later.
    let (regions, remarks) = lift(
        "define void @f(ptr noalias %a, ptr noalias %b, i32 %k) {
        entry:
          br label %outer
        outer:
          %i = phi i64 [ 0, %entry ], [ %n, %latch ]
          br label %inner
        inner:
          %j = phi i64 [ 0, %outer ], [ %m, %inner ]
          %row = add nuw nsw i64 %i, 1
          %f = mul i32 %k, 9
          %p = getelementptr inbounds [16 x i32], ptr %a, i64 %row, i64 %j
          store i32 %f, ptr %p
          %m = add nuw nsw i64 %j, 1
          %c = icmp ult i64 %m, 12
          br i1 %c, label %inner, label %latch
        latch:
          %n = phi i64 [ %row, %inner ]
          %g = phi i32 [ %f, %inner ]
          %q = getelementptr inbounds i32, ptr %b, i64 %i
          store i32 %g, ptr %q
          %d = icmp ult i64 %n, 10
          br i1 %d, label %outer, label %done
        done:
          ret void
        }",
    );
    assert_eq!(remarks, [""; 0]);
    check((regions, remarks), &["a[i + 1, j] = i32(k) * 9", "b[i] = i32(k) * 9", "for i in 0..10"]);
}

#[test]
fn calls_that_may_set_errno_move_only_where_they_set_one_value() {
    let call = |name: &str, attributes: &str| {
        let text = "%v = load double, ptr %q\n%w = call double @sqrt(double %v)\nstore double %w, ptr %p";
        body(&text.replace("sqrt", name).replace("(double %v)", &format!("(double %v) {attributes}")))
    };
    // What may set errno to several values, and what is not the library's.
    for (name, attributes) in [("log", "nounwind"), ("sqrt", "nounwind nobuiltin")] {
        let (regions, remarks) = call(name, attributes);
        assert!(regions[0].contains("= opaque "), "{regions:?}");
        assert_eq!(remarks, ["errno"], "{attributes}");
    }
    // As clang writes it, and as LLVM annotates it.
    for attributes in ["nounwind", "nounwind willreturn memory(errnomem: write)"] {
        for name in ["sqrt", "exp"] {
            let (regions, remarks) = call(name, attributes);
            assert_eq!((regions.len(), remarks), (1, vec![]));
        }
    }
    // Nobody says that it writes.
    let (regions, remarks) = call("sqrt", "nounwind willreturn memory(none)");
    assert_eq!((regions.len(), remarks), (1, vec![]));
    // What is no square may be negative.
    for (of, sets) in [("fmul double %v, %v", false), ("fmul double %v, 2.0", true)] {
        let text = "%v = load double, ptr %q\n%of = SQUARE\n%w = call double @sqrt(double %of) nounwind\nstore double %w, ptr %p";
        let (regions, _) = body(&text.replace("SQUARE", of));
        assert_eq!(!regions[0].contains("call sqrt"), sets, "{}", regions[0]);
    }
    // A function of that name with a body is no library function.
    let (regions, remarks) =
        body("%v = load double, ptr %q\n%w = call double @log10(double %v)\nstore double %w, ptr %p");
    assert!(regions[0].contains("= opaque "), "{regions:?}");
    assert_eq!(remarks, ["opaque"]);
}

#[test]
fn calls_are_statements_in_their_place() {
    let with = |call: &str| {
        let (regions, _) = body(&format!("%v = load double, ptr %q\n{call}\nstore double %v, ptr %p"));
        regions.first().cloned().unwrap_or_default()
    };
    // What is loaded in front of the call and stored behind it goes with it.
    let one = with("call void @k(ptr %p)");
    assert!(one.contains("opaque]") && !one.contains("S1"), "{one}");
    assert!(one.contains("side_effects, may_throw, may_not_return"), "{one}");
    assert!(!with("call void @k(ptr %p) nounwind willreturn").contains("may_"));
    // What belongs to its place in the code, assembler, what is computed there, and other types.
    for other in [
        "call void @k(ptr %p) noduplicate",
        "call void asm sideeffect \"nop\", \"~{memory}\"()",
        "%f = load ptr, ptr %q\ncall void %f(ptr %p)",
        "%w = insertelement <2 x double> undef, double %v, i32 0\ncall void @w(<2 x double> %w)",
        "call void @k(ptr %p) [ \"deopt\"(i32 10) ]",
    ] {
        assert_eq!(with(other), "", "{other}");
    }
}

#[test]
fn a_choice_for_poison_is_not_made_again() {
    // Two statements would each freeze the poison of `shl nuw` for themselves, perhaps to different values.
    let found = body(
        "%v = load i64, ptr %q\n%s = shl nuw i64 %v, 3\n%d = freeze i64 %s\n%w = add i64 %d, 1\n\
         %m = mul i64 %d, 5\nstore i64 %w, ptr %p\nstore i64 %m, ptr %q",
    );
    assert!(found.0.is_empty(), "{found:?}");
    assert_eq!(found.1, ["freeze"]);
    // What is computed from the loop's variable alone is exact.
    let found = body(
        "%o = and i32 %i, 15\n%z = icmp eq i32 %o, 0\n%d = freeze i1 %z\n\
         %w = select i1 %d, double 1.0, double 2.0\nstore double %w, ptr %p",
    );
    check(found, &["1.0", "2.0"]);
}

/// A place between two that are read is in memory, whichever way it is found; but not what finds it need be sound where nobody asks, nor
/// may who looks for reads be shown another.
#[test]
fn a_read_behind_a_test_is_moved_only_with_an_address_that_is_sound() {
    let kernel = |attributes: &str, address: &str| {
        let (kernels, codes) = lift(&format!(
            "define void @f(ptr noalias %a, ptr noalias %c, i64 noundef %n, i64 %k) {attributes} {{
            entry:
              br label %loop
            loop:
              %i = phi i64 [ 1, %entry ], [ %next, %latch ]
              %at = getelementptr i32, ptr %a, i64 %i
              %left = getelementptr i8, ptr %at, i64 -4
              %right = getelementptr i8, ptr %at, i64 4
              %x = load i32, ptr %left
              %y = load i32, ptr %right
              %less = icmp slt i32 %x, %y
              br i1 %less, label %here, label %latch
            here:
              {address}
              %z = load i32, ptr %p
              br label %latch
            latch:
              %v = phi i32 [ %x, %loop ], [ %z, %here ]
              %to = getelementptr i32, ptr %c, i64 %i
              store i32 %v, ptr %to
              %next = add nuw nsw i64 %i, 1
              %more = icmp slt i64 %next, %n
              br i1 %more, label %loop, label %done
            done:
              ret void
            }}"
        ));
        assert_eq!(kernels.len(), 1, "{codes:?}");
        kernels[0].clone()
    };
    let plain = "%p = getelementptr inbounds i32, ptr %a, i64 %i";
    assert!(kernel("", plain).contains("load guarded a[i]"), "{}", kernel("", plain));
    let by = [
        "%far = getelementptr inbounds i32, ptr %a, i64 %k",
        "%other = xor i64 %k, -1",
        "%back = add i64 %i, %other",
        "%near = getelementptr inbounds i32, ptr %far, i64 %back",
        "%p = getelementptr inbounds i8, ptr %near, i64 4",
    ];
    let by = by.join("\n");
    for (attributes, address) in [("", &*by), ("sanitize_address", plain), ("sanitize_thread", plain)] {
        let text = kernel(attributes, address);
        assert!(text.contains("= load a[i] if %"), "{attributes} {address} {text}");
    }
}

#[test]
fn functions_that_ask_for_it_are_left_alone() {
    for attribute in ["noinline optnone", "strictfp"] {
        let (regions, remarks) = lift(&format!("define void @f() {attribute} {{\n ret void\n}}"));
        assert!(regions.is_empty());
        assert_eq!(remarks, ["attribute"]);
    }
}

#[test]
fn what_is_vectorised_already_is_said_to_be() {
    let ir = "define void @f(ptr %p) {
a:
  br label %b
b:
  %i = phi i64 [ 0, %a ], [ %n, %b ]
  %q = getelementptr inbounds double, ptr %p, i64 %i
  store <4 x double> zeroinitializer, ptr %q
  %n = add nuw nsw i64 %i, 4
  %c = icmp eq i64 %n, 1024
  br i1 %c, label %e, label %b, !llvm.loop !0
e:
  ret void
}
!0 = distinct !{!0, !1}
!1 = !{!\"llvm.loop.isvectorized\", i32 1}";
    assert!(lift(ir).1.contains(&"vectorised"), "{:?}", lift(ir));
    assert!(!lift(&ir.replace("isvectorized", "mustprogress")).1.contains(&"vectorised"));
}

/// LLVM would compute where their parts are right behind the call, which ends its block.
#[test]
fn pairs_at_an_address_from_a_call_that_may_throw_stay() {
    let (regions, remarks) = lift(
        "declare ptr @where(i64)
        declare i32 @person(...)
        define void @f(ptr %p, i64 %n) personality ptr @person {
        entry:
          br label %loop
        loop:
          %i = phi i64 [ 0, %entry ], [ %next, %more ]
          %q = invoke ptr @where(i64 %i) to label %more unwind label %pad
        more:
          %x = load <2 x float>, ptr %q
          %y = fadd <2 x float> %x, %x
          store <2 x float> %y, ptr %q
          %next = add nuw nsw i64 %i, 1
          %c = icmp slt i64 %next, %n
          br i1 %c, label %loop, label %done
        pad:
          %l = landingpad { ptr, i32 } cleanup
          resume { ptr, i32 } %l
        done:
          ret void
        }",
    );
    assert!(regions.is_empty(), "{regions:?}");
    assert!(!remarks.is_empty());
}

#[test]
fn a_value_merged_behind_a_guarded_loop_is_set_on_both_ways() {
    // As `-O1` writes `s = 7; for (i = 0; i < n; i++) s ^= a[i];`.
    let (regions, _) = lift(
        "define i64 @f(ptr %a, i64 %n) {
        entry:
          %g = icmp sgt i64 %n, 0
          br i1 %g, label %loop, label %done
        loop:
          %i = phi i64 [ 0, %entry ], [ %next, %loop ]
          %s = phi i64 [ 7, %entry ], [ %t, %loop ]
          %p = getelementptr inbounds i64, ptr %a, i64 %i
          %x = load i64, ptr %p
          %t = xor i64 %s, %x
          %next = add nuw nsw i64 %i, 1
          %more = icmp slt i64 %next, %n
          br i1 %more, label %loop, label %done
        done:
          %r = phi i64 [ 7, %entry ], [ %t, %loop ]
          ret i64 %r
        }",
    );
    let [text] = &regions[..] else { panic!("{regions:?}") };
    let parts = ["scalar r: i64 out", "if n >= 1 {", "if n <= 0 {", ": r = 7", "for i in 0..n {"];
    for part in parts {
        assert!(text.contains(part), "{part} is not in\n{text}");
    }
}

#[test]
fn a_loop_that_both_ways_of_a_condition_reach_is_described_once() {
    // As `-O2` threads `if (n >= 2) *b = 1; if (n >= 1) for (i = n; i > 0; i--) *b = *a;`.
    let (regions, remarks) = lift(
        "define void @f(i32 %n, ptr %a, ptr %b) {
        entry:
          %two = icmp sgt i32 %n, 1
          br i1 %two, label %first, label %other
        first:
          store i64 1, ptr %b
          br label %front
        other:
          %one = icmp eq i32 %n, 1
          br i1 %one, label %front, label %done
        front:
          br label %loop
        loop:
          %i = phi i32 [ %next, %loop ], [ %n, %front ]
          %x = load i64, ptr %a
          store i64 %x, ptr %b
          %next = add nsw i32 %i, -1
          %more = icmp sgt i32 %i, 1
          br i1 %more, label %loop, label %done
        done:
          ret void
        }",
    );
    assert!(remarks.contains(&"control"), "{remarks:?}");
    assert_eq!(regions.len(), 1);
    for text in &regions {
        assert!(text.matches("for ").count() == 1 && !text.contains("b[0] = 1"), "{text}");
    }
}

#[test]
fn code_without_loops_that_both_ways_of_a_condition_reach_is_described_once() {
    let (regions, _) = lift(
        "define void @f(ptr noalias %a, ptr noalias %b, i32 %n) {
        entry:
          br label %head
        head:
          %i = phi i32 [ 0, %entry ], [ %next, %end ]
          %c = icmp slt i32 %i, %n
          br i1 %c, label %body, label %done
        body:
          %x = sext i32 %i to i64
          %p = getelementptr inbounds double, ptr %a, i64 %x
          %q = getelementptr inbounds double, ptr %b, i64 %x
          %two = icmp sgt i32 %i, 10
          br i1 %two, label %first, label %other
        first:
          store double 1.0, ptr %p
          br label %shared
        other:
          %one = icmp sgt i32 %i, 5
          br i1 %one, label %shared, label %end
        shared:
          %v = load double, ptr %p
          %w = fadd double %v, 2.0
          store double %w, ptr %q
          br label %end
        end:
          %next = add nsw i32 %i, 1
          br label %head
        done:
          ret void
        }",
    );
    let [text] = &regions[..] else { panic!("{regions:?}") };
    assert_eq!(text.matches("2.0").count(), 1, "{text}");
}

/// How the array `t` is described that one loop writes and the next reads, three times in a loop that is not described.
fn temporary(outside: &str, inside: &str, after: &str, last: &str) -> String {
    let found = lift(&format!(
        "declare noalias ptr @malloc(i64) allockind(\"alloc,uninitialized\") allocsize(0) \"alloc-family\"=\"malloc\"
         declare noalias ptr @calloc(i64, i64) allockind(\"alloc,zeroed\") allocsize(0, 1) \"alloc-family\"=\"malloc\"
         declare void @free(ptr allocptr captures(none)) allockind(\"free\") \"alloc-family\"=\"malloc\"
         declare void @take(ptr captures(none))
         declare i32 @setjmp(ptr) returns_twice
         @kept = global ptr null
        define void @f(ptr %a, ptr %b, i64 %n) {{
        entry:
          %bytes = shl nuw nsw i64 %n, 3
          {outside}
          br label %again
        again:
          %round = phi i64 [ 0, %entry ], [ %round.next, %end ]
          {inside}
          br label %one
        one:
          %i = phi i64 [ 0, %again ], [ %i.next, %one ]
          %pa = getelementptr inbounds double, ptr %a, i64 %i
          %x = load double, ptr %pa
          %pt = getelementptr inbounds double, ptr %t, i64 %i
          store double %x, ptr %pt
          %i.next = add nuw nsw i64 %i, 1
          %c = icmp slt i64 %i.next, 1000
          br i1 %c, label %one, label %two
        two:
          %j = phi i64 [ 0, %one ], [ %j.next, %two ]
          %qt = getelementptr inbounds double, ptr %t, i64 %j
          %y = load double, ptr %qt
          %pb = getelementptr inbounds double, ptr %b, i64 %j
          store double %y, ptr %pb
          %j.next = add nuw nsw i64 %j, 1
          %d = icmp slt i64 %j.next, 1000
          br i1 %d, label %two, label %end
        end:
          call void @g()
          {after}
          %round.next = add nuw nsw i64 %round, 1
          %more = icmp slt i64 %round.next, 3
          br i1 %more, label %again, label %done
        done:
          {last}
          ret void
        }}"
    ));
    let [text] = &found.0[..] else { panic!("not one region: {found:?}") };
    let line = text.lines().find(|l| l.contains("array t:")).unwrap_or_else(|| panic!("no array in {text}"));
    line.trim().to_owned()
}

#[test]
fn temporaries_whose_contents_die_with_the_region_are_local() {
    let malloc = "%t = call ptr @malloc(i64 %bytes)";
    let local = "array t: f64[?] local";
    let is_local = |text: String| text == local;
    assert!(is_local(temporary("", malloc, "call void @free(ptr %t)", "")));
    assert!(is_local(temporary("", malloc, "%z = icmp eq ptr %t, null", "")));
    assert!(is_local(temporary("", "%t = alloca [1000 x double]", "", "")));
    // Found again by the next round.
    assert!(!is_local(temporary(malloc, "", "", "call void @free(ptr %t)")));
    assert!(!is_local(temporary("%t = alloca [1000 x double]", "", "", "")));
    // Found there by the first.
    assert!(!is_local(temporary("", "%t = call ptr @calloc(i64 %n, i64 8)", "call void @free(ptr %t)", "")));
    // Seen by others.
    for escape in [
        "%v = load double, ptr %t\nstore double %v, ptr %b",
        "store double 1.0, ptr %t",
        "call void @take(ptr %t)",
        "store ptr %t, ptr @kept",
        "%v = ptrtoint ptr %t to i64\nstore i64 %v, ptr %b",
        "%p = getelementptr i8, ptr %t, i64 80\n%v = load double, ptr %p\nstore double %v, ptr %b",
        "%k = icmp sgt i64 %n, 5\n%s = select i1 %k, ptr %t, ptr %b\nstore double 1.0, ptr %s",
        "%q = icmp ult ptr %t, %b\ncall void @take(ptr %t)",
        "%r = call i32 @setjmp(ptr %b)",
    ] {
        assert!(!is_local(temporary("", malloc, escape, "")), "{escape}");
    }
    assert!(!is_local(temporary("", "%t = load ptr, ptr @kept", "", "")));
    assert!(!is_local(temporary(
        "",
        "%t = call ptr @malloc(i64 %bytes) nobuiltin",
        "call void @free(ptr %t)",
        ""
    )));
}
