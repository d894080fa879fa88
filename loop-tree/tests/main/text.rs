//! The `.lt` form: examples, errors, and any bytes.

use loop_tree::text::{
    TextError, parse, parse_runtime_condition, parse_tree, print, print_runtime_condition, print_tree,
};
use loop_tree::{ArrayId, OpFlags};
use proptest::prelude::*;

const GEMM: &str = include_str!("../lt/gemm.lt");

fn error(text: &str) -> TextError {
    parse(text).expect_err("an error")
}

#[test]
fn a_program_prints_as_it_was_written() {
    let program = parse(GEMM).unwrap();
    assert_eq!(print(&program), GEMM);
    assert_eq!(parse(&print(&program)).unwrap(), program);
    let variant = program.variant.as_ref().unwrap();
    let tree = print_tree(&program.kernel, variant);
    assert_eq!(parse_tree(&program.kernel, &tree).unwrap(), *variant);
    for c in &program.kernel.assumptions {
        let text = print_runtime_condition(&program.kernel, c);
        assert_eq!(parse_runtime_condition(&program.kernel, &text).unwrap(), *c);
    }
}

#[test]
fn arrays_of_one_class_in_two_objects_are_apart() {
    let text = "nest @f {\n  array A: f64[?] alias 1:0\n  array B: f64[?] alias 1\n  array C: f64[?] alias 1:2\n  for i in 0..3 {\n    S0: A[i] = B[i] + C[i]\n  }\n}\n";
    let program = parse(text).unwrap();
    assert_eq!(print(&program), text);
    let meets = |a, b| program.kernel.may_overlap(ArrayId::new(a), ArrayId::new(b));
    assert!(meets(0, 1) && meets(1, 2) && !meets(0, 2) && meets(0, 0));
}

#[test]
fn flags_of_loads_and_arrays_of_their_names_are_told_apart() {
    let text = "nest @f {\n  array A: f64[?]\n  array \"guarded\": f64[?]\n  for i in 0..3 {\n    S0: {\n      %0 = load guarded A[i]\n      %1 = load \"guarded\"[i]\n      %2 = fadd f64 %0, %1\n      store A[i + 3], %2\n    }\n  }\n}\n";
    let program = parse(text).unwrap();
    assert_eq!(print(&program), text);
    let flags: Vec<OpFlags> = program.kernel.statements[0].ops.iter().map(|op| op.flags).collect();
    assert_eq!(flags, [OpFlags::GUARDED, OpFlags::empty(), OpFlags::empty(), OpFlags::empty()]);
}

#[test]
fn readable_statements_stay_readable() {
    let body = |s: &str| {
        format!(
            "nest @f[N] {{ array A: f64[N] array B: i32[N] array C: f32[N] for i in 0..N {{ S0: {s} }} }}"
        )
    };
    for s in [
        "A[i] = -A[i] * (A[i] - 0.1) / 3.0",
        "A[i] += f64(i)",
        "A[i] = 1.0 - (A[i] - A[i])",
        "B[i] = add.nsw(B[i], 1) << 2",
        "B[i] = udiv(B[i], 3) % 2 & 7",
        "B[i] = B[i] < 0 ? i32(i + 1) : affine.i32(floor(i/2))",
        "C[i] = f32(A[i]) + 0.1",
        "C[i] = fma(C[i], C[i], 1e-7)",
        "A[i] = maximum(A[i], f64(C[i]))",
        "A[i] = (A[i] < 0.0 ? 1.0 : A[i]) + 0x7ff0000000000000",
        "B[i] = test(i >= 2) ? 1 : smin(B[i], -1)",
    ] {
        let program = parse(&body(s)).unwrap_or_else(|e| panic!("{s}: {e}"));
        let text = print(&program);
        assert!(text.contains(&format!("S0: {s}\n")), "{s} became {text}");
        assert_eq!(parse(&text).unwrap(), program);
    }
}

#[test]
fn words_are_names_where_that_is_clear() {
    let text = "nest @\"for\"[i8] {\n  array \"f64\": f64[i8]\n  scalar \"if\": f64 in\n  for i1 in 0..i8 {\n    \"x y\": \"f64\"[i1] = \"if\"\n  }\n}\n";
    let program = parse(text).unwrap();
    assert_eq!(print(&program), text);
    assert!(error("nest @f { array f64: f64[3] }").help.is_some());
    assert!(error("nest @f { for in in 0..3 { } }").help.is_some());
}

#[test]
fn complete_statements_keep_everything() {
    let body = |ops: &str| {
        format!(
            "nest @f[N] {{ array A: f64[N] scalar b: i1 for i in 0..N {{ S0 [side_effects, opaque]: {{ {ops} }} }} }}"
        )
    };
    for ops in [
        "read A[i] write A[0] maywrite A[*] %0 = load #0 %1 = load #0 %2 = fadd reassoc nnan f64 %0, %1 store #1, %2",
        "%x = const i1 true %y = load A[i] if %x store A[i], %y if !%x store b, %x maywrite A[*] read b",
        "%0 = affine nsw i8 (i mod 3) %1 = test (i == 2*N) %2 = select i8 %1, %0, %0 %3 = opaque 9 f32 (%0, %2) if %1",
        "%0 = const f32 0x7fc00001 %1 = pure 2 i64 (%0) %2 = pure 0 f32 ()",
        "%0 = const f32 0x7fc00001 %1 = call contract fma f32 (%0, %0, %0) %2 = fptosi i16 %1 %3 = cmp ninf fult %0, %1",
        "read A[*]",
        "%0 = affine i64 (i) %1 = load A[*] at %0 store A[*] at %0, %1",
        "read A[*] maywrite A[*] %0 = affine i64 (i) %1 = load #0 at %0 store #1 at %0, %1",
        "",
    ] {
        let program = parse(&body(ops)).unwrap_or_else(|e| panic!("{ops}: {e}"));
        let text = print(&program);
        assert_eq!(parse(&text).unwrap_or_else(|e| panic!("{text}: {e}")), program, "{text}");
        assert_eq!(print(&parse(&text).unwrap()), text);
    }
}

#[test]
fn errors_say_where() {
    for (text, at, message) in [
        ("nest @f[N] { for i in 0..M { } }", "M", "`M` is not known"),
        ("nest @f[N] { array A: f64[N] for i in 0..N { S: A[i, i] = 1.0 } }", "A[i, i]", "1 dimensions"),
        ("nest @f[N] { array A: f64[N] for i in 0..N*N { } }", "N*N", "not affine"),
        ("nest @f[N] { for i in 0..N { S0 } }", "S0", "not defined"),
        ("nest @f { array A: i32[4] S: A[0] = 1.5 }", "1.5", "not a number of type i32"),
        ("nest @f { scalar a: f32 scalar b: f64 S: a = b }", "b }", "type f64"),
        ("nest @f { for i in 0..99999999999999999999 { } }", "99999999999999999999", "64 bits"),
        ("nest @f { for i in 0..4 step 0 { } }", "0 {", "step"),
        ("nest @f { scalar a: f64 S: a = 1.0 S: a = 2.0 }", "S: a = 2", "defined already"),
        ("nest @f { ?", "?", "expected"),
        ("nest @f {", "", "expected"),
        ("nest @f { scalar a: f64 S [reduction fadd]: a = 1.0 }", "S [", "accumulator"),
        ("nest @f { scalar a: f64 S: { %0 = opaque 1 f64 () } }", "S:", "opaque"),
    ] {
        let e = error(text);
        assert!(e.message.contains(message), "{text}: {}", e.message);
        assert!(text[e.span.start..].starts_with(at), "{text}: {:?} {}", e.span, e.message);
        assert!(e.span.end <= text.len());
    }
    assert_eq!(
        error("nest @f {\n  for i in 0..M { } }").line_column("nest @f {\n  for i in 0..M { } }"),
        (2, 15)
    );
}

#[test]
fn depth_is_limited_not_the_stack() {
    for (open, close) in [("for i in 0..9 {", "}"), ("{", "}"), ("if i >= 0 {", "}")] {
        let text = format!("nest @f[i] {{ {} {} }}", open.repeat(5000), close.repeat(5000))
            .replace("for i", "for j");
        assert!(error(&text).message.contains("deep"));
    }
    let expression = |e: String| format!("nest @f[N] {{ array A: f64[N] S: A[0] = {e} }}");
    for e in [
        format!("{}1.0{}", "(".repeat(9000), ")".repeat(9000)),
        vec!["A[0]"; 9000].join(" + "),
        format!("{}A[0]", "-".repeat(9000)),
        format!("{}A[0]", "true ? 1.0 : ".repeat(9000)),
        format!("A[{}N{}]", "(".repeat(9000), ")".repeat(9000)),
        format!("A[{}N]", "-".repeat(9000)),
        format!("A[N{}]", " mod 3 / 2".repeat(9000)),
        format!("{}1.0{}", "sqrt(".repeat(9000), ")".repeat(9000)),
    ] {
        error(&expression(e));
    }
    let ok = expression(format!("{}1.0{}", "(".repeat(150), ")".repeat(150)));
    parse(&ok).unwrap();
    let condition = format!("nest @f[N] {{ if {}N >= 0{} {{ }} }}", "(".repeat(150), ")".repeat(150));
    parse(&condition).unwrap();
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(500))]
    #[test]
    fn any_bytes_give_a_result(bytes in proptest::collection::vec(any::<u8>(), 0..300)) {
        if let Err(e) = parse(&String::from_utf8_lossy(&bytes)) {
            prop_assert!(e.span.start <= e.span.end);
        }
    }

    /// Pieces of a valid program, moved about.
    #[test]
    fn mangled_programs_give_a_result(cuts in proptest::collection::vec((0usize..2000, 0usize..2000, 0usize..40), 1..6)) {
        let mut text = GEMM.to_string();
        for (from, to, length) in cuts {
            let from = from % text.len();
            let piece: String = text[from..].chars().take(length).collect();
            let to = to % text.len();
            text.replace_range(to..(to + length / 2).min(text.len()), &piece);
        }
        match parse(&text) {
            Ok(program) => prop_assert_eq!(parse(&print(&program)).unwrap(), program),
            Err(e) => prop_assert!(e.span.end <= text.len()),
        }
    }
}

#[test]
fn loops_keep_what_is_said_of_them() {
    let text = "nest @f[N] {\n  array A: f64[N]\n  kept scalar for i in 0..N {\n    S: A[i] = 0.0\n  }\n  kept for j in 0..N {\n    T: A[j] = 1.0\n  }\n  \
                variant {\n    kept scalar for i in 0..N {\n      S\n    }\n    library for t0 in 0..N {\n      let j = t0 {\n        T\n      }\n    }\n  }\n}\n";
    let program = loop_tree::text::parse(text).expect("it is well formed");
    let said: Vec<_> = program.kernel.variables.iter().map(|v| v.kept).collect();
    assert_eq!(said, [Some(loop_tree::Kept::Scalar), Some(loop_tree::Kept::Loop)]);
    let printed = loop_tree::text::print(&program);
    assert_eq!(loop_tree::text::parse(&printed).expect("it is well formed"), program, "{printed}");
    assert!(printed.contains("library for") && printed.contains("kept scalar for i"), "{printed}");
}
