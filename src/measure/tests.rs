//! Functions that agree, differ, and trespass.

use super::*;

/// `sum = 0; for i in 0..n { y[i] += a * x[i] + g[i % 4]; sum += y[i] }`, with holes for mistakes.
fn module(last: &str, scale: &str) -> String {
    format!(
        "@g = internal global [4 x double] zeroinitializer
         @count = internal global i32 7
         define internal fastcc double @axpy(i32 %n, float %a, ptr noalias %x, ptr noalias %y) {{
         entry:
           %c = load i32, ptr @count
           %c1 = add i32 %c, 1
           store i32 %c1, ptr @count
           %wide = fpext float %a to double
           %some = icmp sgt i32 %n, 0
           br i1 %some, label %loop, label %end
         loop:
           %i = phi i32 [ 0, %entry ], [ %next, %loop ]
           %s = phi double [ 0.0, %entry ], [ %s1, %loop ]
           %r = urem i32 %i, 4
           %gp = getelementptr double, ptr @g, i32 %r
           %gv = load double, ptr %gp
           %xp = getelementptr double, ptr %x, i32 %i
           %xv = load double, ptr %xp
           %yp = getelementptr double, ptr %y, i32 %i
           %yv = load double, ptr %yp
           %m = fmul double %wide, %xv
           %m1 = fmul double %m, {scale}
           %t = fadd double %yv, %m1
           %t1 = fadd double %t, %gv
           store double %t1, ptr %yp
           %s1 = fadd double %s, %t1
           %next = add nsw i32 %i, 1
           %more = icmp slt i32 %next, {last}
           br i1 %more, label %loop, label %end
         end:
           %result = phi double [ 0.0, %entry ], [ %s1, %loop ]
           ret double %result
         }}"
    )
}

fn setup() -> CallSetup {
    let pointer = |name: &str| ArgumentSpec::Pointer {
        name: name.into(),
        element: ScalarType::F64,
        before: 0,
        after: 800,
        observed: true,
    };
    let arguments = vec![ArgumentSpec::Int(100), ArgumentSpec::Float(0.75), pointer("x"), pointer("y")];
    CallSetup { arguments, seed: 1, others: Vec::new() }
}

fn quick() -> MeasureOptions {
    MeasureOptions { sample: Duration::from_micros(50), samples: 3, ..MeasureOptions::default() }
}

fn run(variant: &str) -> Result<Vec<Measurement>, MeasureError> {
    let original = module("%n", "1.0");
    measure_ir(original.as_bytes(), "axpy", &[("v", variant.as_bytes())], &setup(), &quick())
}

#[test]
fn equal_functions_are_timed() {
    let measured = run(&module("%n", "1.0")).unwrap();
    assert_eq!(measured.iter().map(|m| &m.label[..]).collect::<Vec<_>>(), ["original", "v"]);
    for m in measured {
        assert_eq!(m.samples.len(), 3);
        assert!(m.seconds.median > 0.0 && m.ratio.low <= m.ratio.high, "{m:?}");
    }
}

#[test]
fn differences_are_named() {
    let error = run(&module("99", "1.0")).unwrap_err();
    let MeasureError::Mismatch { label, array, index, .. } = &error else { panic!("{error}") };
    assert_eq!((&label[..], &array[..], *index), ("v", "y", 99));
    let error = run(&module("%n", "1.0000000000000002")).unwrap_err();
    assert!(matches!(&error, MeasureError::Mismatch { array, .. } if array == "y"), "{error}");
    // The result and globals too.
    let other = module("%n", "1.0").replace("ret double %result", "%o = fneg double %result ret double %o");
    let error = run(&other.replace(" ret double %o", "\nret double %o")).unwrap_err();
    assert!(matches!(&error, MeasureError::Mismatch { array, .. } if array == inputs::RESULT), "{error}");
    let error = run(&module("%n", "1.0").replace("add i32 %c, 1", "add i32 %c, 2")).unwrap_err();
    assert_eq!(error.to_string(), "v: @count[0] is 9, the original computes 8");
}

#[test]
fn trespassing_is_noticed() {
    let error = run(&module("102", "1.0")).unwrap_err();
    assert!(
        matches!(&error, MeasureError::OutOfBounds { array, offset: 800, .. } if array == "y"),
        "{error}"
    );
}

#[test]
fn wrong_input_is_an_error() {
    assert!(matches!(run("nonsense"), Err(MeasureError::Llvm { .. })));
    let none = measure_ir(module("%n", "1.0").as_bytes(), "other", &[], &setup(), &quick());
    assert!(matches!(none, Err(MeasureError::Llvm { source: LlvmError::NoFunction(_), .. })));
    let mut setup = setup();
    setup.arguments.pop();
    let few = measure_ir(module("%n", "1.0").as_bytes(), "axpy", &[], &setup, &quick());
    assert!(matches!(few, Err(MeasureError::Arguments { expected: 4, given: 3, .. })));
}

#[test]
fn kernels_with_variants_and_conditions() {
    let program = loop_tree::text::parse(
        "nest @t[N, M] {
          array A: f64[N, M]
          scalar s: f64 out
          scalar t: f64 local
          for i in 0..N { for j in 0..M { S0: t = A[i, j] * 2.0  S1: A[i, j] = t + 1.0 } }
          S2: s = A[0, 1]
          variant { for j in 0..M { for i in 0..N { S0 S1 } } S2 }
        }",
    )
    .unwrap();
    let kernel = &program.kernel;
    let variant = |conditions| ("swapped", Variant { conditions, ..Variant::of(program.tree()) });
    let measured = measure_kernel(kernel, &[variant(&[])], &[30, 40], &quick()).unwrap();
    assert_eq!(measured.len(), 2);
    let conditions = [loop_tree::text::parse_runtime_condition(kernel, "N >= 50").unwrap()];
    let error = measure_kernel(kernel, &[variant(&conditions)], &[30, 40], &quick()).unwrap_err();
    assert!(matches!(&error, MeasureError::Conditions { label } if label == "swapped"), "{error}");
    assert!(matches!(measure_kernel(kernel, &[], &[1], &quick()), Err(MeasureError::Parameters { .. })));
    let huge = measure_kernel(kernel, &[], &[1 << 20, 1 << 20], &quick());
    assert!(matches!(huge, Err(MeasureError::TooLarge { .. })));
}

/// Calls what ends the program where its only argument is 3, and never returns where it is 4.
const PICKY: &str = "declare void @abort()
declare void @exit(i32)
define void @picky(i64 %n) {
  switch i64 %n, label %done [ i64 3, label %abort i64 4, label %forever i64 5, label %exit ]
abort:
  call void @abort()
  unreachable
exit:
  call void @exit(i32 0)
  unreachable
forever:
  %x = load volatile i64, ptr @g
  br label %forever
done:
  ret void
}
@g = global i64 0
";

#[test]
fn functions_that_do_not_return_are_named() {
    let called = |n: i64| {
        let setup = CallSetup { arguments: vec![ArgumentSpec::Int(n)], seed: 1, others: Vec::new() };
        let options = MeasureOptions { limit: Duration::from_secs(1), ..quick() };
        measure_ir(PICKY.as_bytes(), "picky", &[], &setup, &options)
    };
    assert!(called(2).is_ok());
    let expected = [(3, "aborts"), (4, "has not returned after 1 s"), (5, "ends its process (exit code 0)")];
    for (n, why) in expected {
        let error = called(n).unwrap_err();
        assert_eq!(error.to_string(), format!("`picky`, called with ({n}), {why}"));
    }
}
