//! Buffers: packed panels, register tiles, contraction, expansion; the same bytes as the interpreter computes for the original.

use super::harness::{Buffer, Compiled, emit};
use super::random::agree;
use loop_tree::text::{self, Program};

fn program(nest: &str, variant: &str) -> Program {
    let text = nest.replace("VARIANT", &format!("variant {{ {variant} }}"));
    text::parse(&text).unwrap_or_else(|e| panic!("{text}: {e}"))
}

/// The variant as machine code does what the original does in the interpreter, and so does it in the interpreter.
fn same(nest: &str, params: &[&[i64]], variant: &str) {
    let p = program(nest, variant);
    for params in params {
        for passes in [None, Some("default<O1>"), Some("default<O3>")] {
            for order in [&p.kernel.original, p.tree()] {
                let ran = agree(&p.kernel, order, p.tree(), params, 5, (passes, 1));
                assert_eq!(ran, Ok(true), "{params:?} {passes:?} {variant}");
            }
        }
    }
}

fn optimised(nest: &str, variant: &str) -> String {
    let p = program(nest, variant);
    Compiled::of(&p.kernel, p.tree(), &[], &Default::default(), Some("default<O3>"), 1).ir
}

const GEMM: &str = "nest @gemm[N] {
    array A: f64[N, N]
    array B: f64[N, N]
    array C: f64[N, N]
    for i in 0..N { for j in 0..N { for k in 0..N { S: C[i, j] = C[i, j] + A[i, k] * B[k, j] } } }
    VARIANT
}";

#[test]
fn packed_panels_on_stack_and_heap() {
    for (home, extent) in
        [("stack align 64", "16"), ("heap align 64", "N"), ("heap", "N + 3"), ("heap align 16", "2*N")]
    {
        let panel = format!(
            "for t0 in 0..(N + 3)/4 {{
               alloc B[x, y] in [x : {extent}, y - 4*t0 : 4] on {home} fill [0..N, 4*t0..min(N, 4*t0 + 4)] {{
                 for i in 0..N {{ for k in 0..N {{ for j in 4*t0..min(N, 4*t0 + 4) {{ S }} }} }} }}
             }}"
        );
        same(GEMM, &[&[1], &[9], &[16]], &panel);
    }
    let transposed = "alloc B[x, y] in [y : N, x : N] on heap align 64 fill [0..N, 0..N] {
        for i in 0..N { for j in 0..N { for k in 0..N { S } } } }";
    same(GEMM, &[&[0], &[7]], transposed);
    let panel_of_a_panel = "alloc B[x, y] in [y : N + 3, x : N] on heap fill [0..N, 0..N] {
        for i in 0..N { for k in 0..N {
          alloc B[x, y] in [y : N, x - k : 1] on heap fill [k..k + 1, 0..N] { for j in 0..N { S } }
        } } }";
    same(GEMM, &[&[1], &[6]], panel_of_a_panel);
}

/// `S` at the elements of a register tile.
fn tile(rows: i64, columns: i64, full: bool) -> String {
    let mut copies = String::new();
    for i in 0..rows {
        for j in 0..columns {
            let inside = if full { String::new() } else { format!("if 3*t0 + {i} < N && 2*t1 + {j} < N") };
            let copy = format!("let i = {rows}*t0 + {i} {{ let j = {columns}*t1 + {j} {{ S }} }}");
            copies += &if full { copy } else { format!("{inside} {{ {copy} }}") };
        }
    }
    copies
}

#[test]
fn register_tiles_become_registers() {
    // The last rows and columns are left to a second nest.
    let full = format!(
        "for t0 in 0..N/3 {{ for t1 in 0..N/2 {{
           alloc C[x, y] in [x - 3*t0 : 3, y - 2*t1 : 2] on registers
             fill [3*t0..3*t0 + 3, 2*t1..2*t1 + 2] write [3*t0..3*t0 + 3, 2*t1..2*t1 + 2] {{
             for k in 0..N {{ {} }}
           }} }} }}
         for i in 0..N {{ for j in 0..N {{ if i >= 3*(N/3) || j >= 2*(N/2) {{ for k in 0..N {{ S }} }} }} }}",
        tile(3, 2, true)
    );
    same(GEMM, &[&[0], &[1], &[6], &[7]], &full);
    let partial = format!(
        "for t0 in 0..(N + 2)/3 {{ for t1 in 0..(N + 1)/2 {{
           alloc C[x, y] in [x - 3*t0 : 3, y - 2*t1 : 2] on registers
             fill [3*t0..min(N, 3*t0 + 3), 2*t1..min(N, 2*t1 + 2)]
             write [3*t0..min(N, 3*t0 + 3), 2*t1..min(N, 2*t1 + 2)] {{
             for k in 0..N {{ {} }}
           }} }} }}",
        tile(3, 2, false)
    );
    same(GEMM, &[&[0], &[1], &[6], &[7]], &partial);
    for variant in [full, partial] {
        let ir = optimised(GEMM, &variant);
        assert!(!ir.contains("alloca"), "{ir}");
    }
    // Loops of constant length inside are unrolled by LLVM, and copies are loops as well.
    let loops = "for t0 in 0..N/4 { for t1 in 0..N/8 {
        alloc C[x, y] in [x - 4*t0 : 4, y - 8*t1 : 8] on registers align 64
          fill [4*t0..4*t0 + 4, 8*t1..8*t1 + 8] write [4*t0..4*t0 + 4, 8*t1..8*t1 + 8] {
          for k in 0..N { for i in 4*t0..4*t0 + 4 { for j in 8*t1..8*t1 + 8 { S } } }
        } } }
      for i in 0..N { for j in 0..N { if i >= 4*(N/4) || j >= 8*(N/8) { for k in 0..N { S } } } }";
    same(GEMM, &[&[5], &[8], &[17]], loops);
    let ir = optimised(GEMM, loops);
    assert!(!ir.contains("alloca"), "{ir}");
}

#[test]
fn what_is_computed_of_elements_is_packed() {
    let nest = "nest @gemm[N] {
        array A: f64[N, N]
        array B: f64[N, N]
        array C: f64[N, N]
        scalar alpha: f64 in
        for i in 0..N { for k in 0..N { for j in 0..N { S: C[i, j] = C[i, j] + alpha * A[i, k] * B[k, j] } } }
        VARIANT
    }";
    // Panels of both operands, one of them scaled, and a register tile.
    let rows = "for t0 in 0..N/4 {
          alloc A[x, y] in [y : N, x - 4*t0 : 4] on heap align 64 fill [4*t0..4*t0 + 4, 0..N] by S {
            for t1 in 0..N/8 {
              alloc C[x, y] in [x - 4*t0 : 4, y - 8*t1 : 8] on registers align 64
                fill [4*t0..4*t0 + 4, 8*t1..8*t1 + 8] write [4*t0..4*t0 + 4, 8*t1..8*t1 + 8] {
                for k in 0..N { for i in 4*t0..4*t0 + 4 { for j in 8*t1..8*t1 + 8 { S } } }
              }
            }
          } }";
    let rest = "for i in 0..N { for j in 0..N { if i >= 4*(N/4) || j >= 8*(N/8) { for k in 0..N { S } } } }";
    let panels =
        format!("alloc B[x, y] in [x : N, y : N] on heap align 64 fill [0..N, 0..N] {{ {rows} }} {rest}");
    same(nest, &[&[0], &[3], &[8], &[17]], &panels);
    // The scaling is in the copy, and in the rest.
    let ir = Compiled::of(
        &program(nest, rows).kernel,
        program(nest, rows).tree(),
        &[],
        &Default::default(),
        None,
        1,
    )
    .ir;
    assert_eq!(ir.matches("fmul").count(), 2, "{ir}");
}

#[test]
fn an_inner_binder_of_the_same_name_does_not_move_a_buffer() {
    // The tile speaks of the outer `i`, the statement of the inner one.
    let nest = "nest @t[N] {
        array A: f64[4*N]
        for i in 0..N { for j in 0..4 { S: A[4*i + j] = A[4*i + j] * 2.0 } }
        VARIANT
    }";
    let variant = "for i in 0..N {
        alloc A[x] in [x - 4*i : 4] on registers fill [4*i..4*i + 4] write [4*i..4*i + 4] {
          for j in 0..4 { let i = i { S } }
        } }";
    same(nest, &[&[0], &[3]], variant);
    let shifted = "for i in 0..N {
        alloc A[x] in [x - 4*i + 4 : 4] on stack fill [4*i - 4..4*i] write [4*i - 4..4*i] {
          if i >= 1 { let i = i - 1 { for j in 0..4 { S } } }
        }
      }";
    let last = "for j in 0..4 { let i = N - 1 { S } }";
    // `fill` of the first iteration would leave the array.
    same(nest, &[&[3]], &format!("{} {last}", shifted.replacen("i in 0..N", "i in 1..N", 1)));
}

const CHAIN: &str = "nest @chain[N] {
    array A: f64[N]
    array T: f64[N]
    array B: f64[N]
    for i in 0..N { S: T[i] = A[i] * 2.0 }
    for j in 0..N { R: B[j] = T[j] + 1.0 }
    VARIANT
}";

#[test]
fn contraction_to_scalars_and_windows() {
    // T is a temporary: what it holds behind the region is not compared.
    let nest = CHAIN.replace("T: f64[N]", "T: f64[N] local");
    let fused = "for t0 in 0..N { alloc T[x] in [] on registers { let i = t0 { S } let j = t0 { R } } }";
    same(&nest, &[&[0], &[1], &[70]], fused);
    let ir = optimised(&nest, fused);
    assert!(!ir.contains("alloca") && ir.contains("x double>"), "{ir}");
    let window = "alloc T[x] in [x mod 4 : 4] on stack {
        for t0 in 0..N + 3 { if t0 < N { let i = t0 { S } } if t0 >= 3 { let j = t0 - 3 { R } } } }";
    same(&nest, &[&[0], &[1], &[9]], window);
    let strip = "for t0 in 0..N/8 {
        alloc T[x] in [x - 8*t0 : 8] on stack align 64 {
          for i in 8*t0..8*t0 + 8 { S } for j in 8*t0..8*t0 + 8 { R } } }
      alloc T[x] in [x mod 8 : 8] on stack { for i in 8*(N/8)..N { S } for j in 8*(N/8)..N { R } }";
    same(&nest, &[&[0], &[7], &[8], &[61]], strip);
}

#[test]
fn a_buffer_that_iterations_share_is_in_no_group_of_theirs() {
    let nest = CHAIN.replace("T: f64[N]", "T: f64[N] local");
    // Marked loops: sharing the buffer is all that connects iterations.
    let shared = "parallel for t0 in 0..N { alloc T[x] in [x mod 4 : 4] on stack { let i = t0 { S } let j = t0 { R } } }";
    same(&nest, &[&[3], &[100]], shared);
    let variant = program(&nest, shared);
    let text = text::print(&variant);
    let ir = emit(&text, true, &[]).unwrap();
    for line in ir.lines().filter(|l| l.contains("load double") || l.contains("store double")) {
        assert_eq!(line.contains("!llvm.access.group"), line.contains("!alias.scope"), "{line}");
    }
    let heap = shared.replace("on stack", "on heap");
    same(&nest, &[&[3], &[100]], &heap);
    // One element for each iteration, outside of the loop: these do belong to the group. What is stored is not loaded.
    let own =
        "alloc T[x] in [x : N] on heap { parallel for t0 in 0..N { let i = t0 { S } let j = t0 { R } } }";
    same(&nest, &[&[3], &[100]], own);
    let ir = emit(&text::print(&program(&nest, own)), true, &[]).unwrap();
    let accesses = ir.lines().filter(|l| l.contains("load double") || l.contains("store double"));
    assert!(
        accesses.clone().count() == 3 && accesses.clone().all(|l| l.contains("!llvm.access.group")),
        "{ir}"
    );
}

#[test]
fn expansion_of_scalars() {
    let nest = "nest @rows[N] {
        array A: f64[N, N]
        array B: f64[N]
        scalar s: f64 local
        for i in 0..N { Z: s = 0.0 for j in 0..N { S: s = s + A[i, j] } E: B[i] = s }
        VARIANT
    }";
    for home in ["heap", "heap align 64"] {
        let expanded = format!(
            "alloc s(x) in [x : N] on {home} {{
               for i in 0..N {{ Z }} for j in 0..N {{ for i in 0..N {{ S }} }} for i in 0..N {{ E }} }}"
        );
        same(nest, &[&[0], &[1], &[8]], &expanded);
    }
    same(nest, &[&[8]], "for i in 0..N { alloc s { Z for j in 0..N { S } E } }");
    // Nothing says which iteration's scalar is copied.
    let part = "for i in 0..N { Z alloc s in [] on registers fill [] write [] { for j in 0..N { S } } E }";
    let error = emit(&text::print(&program(nest, part)), true, &[]).unwrap_err();
    assert_eq!(error.to_string(), "a copy of a scalar of which iterations have their own cannot be emitted");
    let live_out = "nest @sum[N] {
        array A: f64[N]
        scalar s: f64 out
        for i in 0..N { S: s = s + A[i] }
        VARIANT
    }";
    same(live_out, &[&[0], &[8]], "alloc s in [] on registers fill [] write [] { for i in 0..N { S } }");
}

#[test]
fn predicates_in_buffers() {
    let nest = "nest @t[N] {
        array A: i32[N]
        array B: i32[N]
        scalar p: i1 local
        for i in 0..N { P: p = test(i - 3*floor(i/3) == 1) if p { S: A[i] = B[i] } if !p { R: A[i] = 7 } }
        VARIANT
    }";
    same(nest, &[&[0], &[10]], "for i in 0..N { alloc p { P if p { S } if !p { R } } }");
}

#[test]
fn what_does_not_fit_is_left_to_the_original() {
    let nest = CHAIN
        .replace("T: f64[N]", "T: f64[N] local")
        .replace("B: f64[N]", "B: f64[?]")
        .replace("A: f64[N]", "A: f64[?]");
    let run = |extent: &str, n: i64| {
        let variant =
            format!("alloc T[x] in [{extent}] on heap {{ for i in 0..N {{ S }} for j in 0..N {{ R }} }}");
        let p = program(&nest.replace("@chain[N]", "@chain[N, M]"), &variant);
        let compiled = Compiled::of(&p.kernel, p.tree(), &[], &Default::default(), None, 1);
        let mut buffers = [Buffer::from_f64(&[1.0; 8]), Buffer::zeroed(0), Buffer::zeroed(64)];
        let ran = compiled.call(&[n, 1 << 39], &mut buffers);
        assert_eq!(buffers[2].f64s(), if ran && n > 0 { [3.0; 8] } else { [0.0; 8] }, "{extent}");
        ran
    };
    assert!(run("x : N", 8));
    // More memory than there is; more than there are addresses; more than 64 bits count.
    assert!(!run("x : M + N, 0 : 256", 8));
    assert!(!run("x : M + N, 0 : M", 8));
    assert!(!run("0 : M, 0 : M, x : N", 8));
    // Nothing at all, and what looks like a positive product.
    assert!(run("x : N", 0));
    assert!(run("x : N, 0 : N - 8", 0));
}

#[test]
fn buffers_that_cannot_be_emitted() {
    let large = "alloc B[x, y] in [x : 512, y : 512] on stack { for i in 0..N { for j in 0..N { for k in 0..N { S } } } }";
    let error = emit(&text::print(&program(GEMM, large)), true, &[]).unwrap_err();
    assert_eq!(error.to_string(), "so large a buffer on the stack cannot be emitted");
    // Places that are not exact in 64 bits for any parameters.
    let far = "alloc B[x, y] in [floor(954991291540701863*x/1350851717672992089) : 64, y : 64] on stack
        { for i in 0..N { for j in 0..N { for k in 0..N { S } } } }";
    assert!(emit(&text::print(&program(GEMM, far)), true, &[]).is_err());
}
