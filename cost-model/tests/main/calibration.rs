//! Predicted against measured: the loops of `calibration/loops.c`, with the times that they took on a server with
//! AVX-512, 48 KB L1, 2 MB L2 and a large shared L3 (nanoseconds, the least of several runs).
//!
//! The numbers are not asserted, the relations are: which of two orders is better, and that what is slower in fact is not
//! predicted to be faster. `cargo test -p looptree-cost-model --test main calibration -- --nocapture` prints the table.

use cost_model::{AnalyticModel, CostModel, targets};
use loop_tree::text::{Program, parse, parse_tree};

struct Family {
    name: &'static str,
    program: Program,
    /// Name, tree, measured nanoseconds.
    variants: Vec<(&'static str, String, f64)>,
}

const GEMM: &str = "nest @gemm[] {
  array A: f64[1000, 1000]
  array B: f64[1000, 1000]
  array C: f64[1000, 1000]
  for i in 0..1000 { for j in 0..1000 { for k in 0..1000 { S: C[i, j] = C[i, j] + A[i, k] * B[k, j] } } }
}";

/// `for t in lo..hi/f { let v = f*t {...} let v = f*t + 1 {...} }`
fn copies(var: &str, t: &str, factor: i64, body: &str) -> String {
    (0..factor).map(|u| format!("let {var} = {factor}*{t} + {u} {{ {body} }} ")).collect()
}

fn gemm() -> Family {
    let k4 = copies("k", "kk", 4, "S");
    let k8 = copies("k", "kk", 8, "S");
    let jam = |fi: i64, fk: i64, body: &str| {
        format!(
            "for ii in 0..{} {{ for kk in 0..{} {{ for j in 0..1000 {{ {} }} }} }}",
            1000 / fi,
            1000 / fk,
            copies("i", "ii", fi, body)
        )
    };
    let tiled = |t: i64| {
        let n = (1000 + t - 1) / t;
        let bound = |tile: &str| match 1000 % t {
            0 => format!("{t}*{tile}..{t}*{tile} + {t}"),
            _ => format!("{t}*{tile}..min({t}*{tile} + {t}, 1000)"),
        };
        format!(
            "for ti in 0..{n} {{ for tk in 0..{n} {{ for tj in 0..{n} {{ for i in {} {{ for k in {} {{ for j in {} \
             {{ S }} }} }} }} }} }}",
            bound("ti"),
            bound("tk"),
            bound("tj")
        )
    };
    let row = "for j in 0..1000 { S }";
    let j4 = copies("j", "jj", 4, "S");
    let j8 = copies("j", "jj", 8, "S");
    let v = |name, tree: String, ns| (name, tree, ns);
    Family {
        name: "gemm",
        program: parse(GEMM).unwrap(),
        variants: vec![
            v("ijk", "for i in 0..1000 { for j in 0..1000 { for k in 0..1000 { S } } }".into(), 918e6),
            v("ikj", format!("for i in 0..1000 {{ for k in 0..1000 {{ {row} }} }}"), 285e6),
            v("kij", format!("for k in 0..1000 {{ for i in 0..1000 {{ {row} }} }}"), 295e6),
            v("jki", "for j in 0..1000 { for k in 0..1000 { for i in 0..1000 { S } } }".into(), 8277e6),
            v(
                "ikj_jk4",
                format!("for i in 0..1000 {{ for kk in 0..250 {{ for j in 0..1000 {{ {k4} }} }} }}"),
                280e6,
            ),
            v(
                "ikj_jk8",
                format!("for i in 0..1000 {{ for kk in 0..125 {{ for j in 0..1000 {{ {k8} }} }} }}"),
                277e6,
            ),
            v(
                "ikj_ji4",
                format!(
                    "for ii in 0..250 {{ for k in 0..1000 {{ for j in 0..1000 {{ {} }} }} }}",
                    copies("i", "ii", 4, "S")
                ),
                134e6,
            ),
            v("ikj_ji2jk4", jam(2, 4, &k4), 139e6),
            v("ikj_ji4jk4", jam(4, 4, &k4), 78.7e6),
            v("ikj_ji8jk8", jam(8, 8, &k8), 64.6e6),
            v("tile32", tiled(32), 184e6),
            v("tile20", tiled(20), 76.1e6),
            v("tile40", tiled(40), 73.7e6),
            v("tile125", tiled(125), 99e6),
            v(
                "ktile40",
                format!(
                    "for kt in 0..25 {{ for i in 0..1000 {{ for k in 40*kt..40*kt + 40 {{ {row} }} }} }}"
                ),
                178e6,
            ),
            v(
                "ktile200_jk8",
                format!(
                    "for kt in 0..5 {{ for i in 0..1000 {{ for kk in 25*kt..25*kt + 25 {{ for j in 0..1000 {{ {k8} }} }} }} }}"
                ),
                109e6,
            ),
            v(
                "ktile40_jk4ji4",
                format!(
                    "for kt in 0..25 {{ for ii in 0..250 {{ for kk in 10*kt..10*kt + 10 {{ for j in 0..1000 {{ {} }} }} }} }}",
                    copies("i", "ii", 4, &k4)
                ),
                57.4e6,
            ),
            v(
                "ijk_jj4",
                format!("for i in 0..1000 {{ for jj in 0..250 {{ for k in 0..1000 {{ {j4} }} }} }}"),
                411e6,
            ),
            v(
                "ijk_jj8",
                format!("for i in 0..1000 {{ for jj in 0..125 {{ for k in 0..1000 {{ {j8} }} }} }}"),
                366e6,
            ),
            v(
                "ijk_ji4jj8",
                format!(
                    "for ii in 0..250 {{ for jj in 0..125 {{ for k in 0..1000 {{ {} }} }} }}",
                    copies("i", "ii", 4, &j8)
                ),
                190e6,
            ),
            v(
                "ijk_ji4",
                format!(
                    "for ii in 0..250 {{ for j in 0..1000 {{ for k in 0..1000 {{ {} }} }} }}",
                    copies("i", "ii", 4, "S")
                ),
                293e6,
            ),
        ],
    }
}

fn transpose(n: i64, repeat: i64, variants: &[(&'static str, i64, f64)]) -> Family {
    let text = format!(
        "nest @transpose[] {{ array P: f64[{n}, {n}] array Q: f64[{n}, {n}] for r in 0..{repeat} {{ for i in 0..{n} {{ for j in 0..{n} {{ S: P[i, j] = Q[j, i] }} }} }} }}"
    );
    let tree = |t: i64| match t {
        0 => format!("for r in 0..{repeat} {{ for i in 0..{n} {{ for j in 0..{n} {{ S }} }} }}"),
        1 => format!("for r in 0..{repeat} {{ for j in 0..{n} {{ for i in 0..{n} {{ S }} }} }}"),
        t => format!(
            "for r in 0..{repeat} {{ for ti in 0..{m} {{ for tj in 0..{m} {{ for i in {t}*ti..{t}*ti + {t} {{ for j in {t}*tj..{t}*tj + {t} {{ S }} }} }} }} }}",
            m = n / t
        ),
    };
    Family {
        name: if n > 1000 { "transpose" } else { "transpose_small" },
        program: parse(&text).unwrap(),
        variants: variants.iter().map(|(name, t, ns)| (*name, tree(*t), *ns)).collect(),
    }
}

fn simple(name: &'static str, text: &str, variants: &[(&'static str, &str, f64)]) -> Family {
    Family {
        name,
        program: parse(text).unwrap_or_else(|e| panic!("{name}: {e}")),
        variants: variants.iter().map(|(n, t, ns)| (*n, (*t).to_owned(), *ns)).collect(),
    }
}

fn families() -> Vec<Family> {
    let mv4 = format!("for ii in 0..1000 {{ for j in 0..4000 {{ {} }} }}", copies("i", "ii", 4, "S"));
    let mv8 = format!("for ii in 0..500 {{ for j in 0..4000 {{ {} }} }}", copies("i", "ii", 8, "S"));
    let mvt4 = format!("for jj in 0..1000 {{ for i in 0..4000 {{ {} }} }}", copies("j", "jj", 4, "S"));
    let stencil = |n: i64, t: i64| {
        format!(
            "nest @stencil[] {{ array P: f64[{n}, {n}] array Q: f64[{n}, {n}] for t in 0..{t} {{
               for i in 1..{m} {{ for j in 1..{m} {{ S: P[i, j] = 0.2 * (Q[i, j] + Q[i, j-1] + Q[i, j+1] + Q[i-1, j] + Q[i+1, j]) }} }}
               for i2 in 1..{m} {{ for j2 in 1..{m} {{ T: Q[i2, j2] = 0.2 * (P[i2, j2] + P[i2, j2-1] + P[i2, j2+1] + P[i2-1, j2] + P[i2+1, j2]) }} }} }} }}",
            m = n - 1
        )
    };
    let plain = |n: i64, t: i64| {
        format!(
            "for t in 0..{t} {{ for i in 1..{m} {{ for j in 1..{m} {{ S }} }} for i2 in 1..{m} {{ for j2 in 1..{m} {{ T }} }} }}",
            m = n - 1
        )
    };
    let tiles = |n: i64, t: i64| {
        let one = |i: &str, j: &str, s: &str| {
            format!(
                "for a in 0..{c} {{ for b in 0..{c} {{ for {i} in 32*a + 1..min(32*a + 33, {m}) {{ for {j} in 32*b + 1..min(32*b + 33, {m}) {{ {s} }} }} }} }}",
                c = (n - 2 + 31) / 32,
                m = n - 1
            )
        };
        format!("for t in 0..{t} {{ {} {} }}", one("i", "j", "S"), one("i2", "j2", "T"))
    };
    let columns = "for t in 0..4 { for j in 1..3999 { for i in 1..3999 { S } } for j2 in 1..3999 { for i2 in 1..3999 { T } } }";
    let rows2 = format!(
        "for t in 0..4 {{ for ii in 0..1999 {{ for j in 1..3999 {{ {} }} }} for i3 in 0..1999 {{ for j2 in 1..3999 {{ {} }} }} }}",
        copies("i", "ii", 2, "S").replace("2*ii + 1", "2*ii + 2").replacen("2*ii + 0", "2*ii + 1", 1),
        copies("i2", "i3", 2, "T").replace("2*i3 + 1", "2*i3 + 2").replacen("2*i3 + 0", "2*i3 + 1", 1)
    );
    let fused = "for t in 0..4 { for u in 1..4000 { if u < 3999 { let i = u { for j in 1..3999 { S } } } if u >= 2 { let i2 = u - 1 { for j2 in 1..3999 { T } } } } }";
    let (big, small) = (stencil(4000, 4), stencil(120, 500));
    vec![
        gemm(),
        transpose(4000, 1, &[("ij", 0, 164e6), ("ji", 1, 143e6), ("t8", 8, 60.6e6), ("t32", 32, 61.2e6)]),
        transpose(120, 1000, &[("ij", 0, 3.53e6), ("t8", 8, 6.1e6), ("t40", 40, 5.86e6)]),
        simple(
            "mv",
            "nest @mv[] { array P: f64[4000, 4000] array x: f64[4000] array y: f64[4000] for i in 0..4000 { for j in 0..4000 { S: x[i] = x[i] + P[i, j] * y[j] } } }",
            &[
                ("ij", "for i in 0..4000 { for j in 0..4000 { S } }", 18.8e6),
                ("ji", "for j in 0..4000 { for i in 0..4000 { S } }", 170e6),
                ("ji4", &mv4, 10.2e6),
                ("ji8", &mv8, 8.28e6),
            ],
        ),
        simple(
            "mvt",
            "nest @mvt[] { array P: f64[4000, 4000] array x: f64[4000] array y: f64[4000] for i in 0..4000 { for j in 0..4000 { S: x[i] = x[i] + P[j, i] * y[j] } } }",
            &[
                ("ij", "for i in 0..4000 { for j in 0..4000 { S } }", 159e6),
                ("ji", "for j in 0..4000 { for i in 0..4000 { S } }", 11.6e6),
                ("jij4", &mvt4, 8.67e6),
            ],
        ),
        simple(
            "stencil",
            &big,
            &[
                ("plain", &plain(4000, 4), 167e6),
                ("columns", columns, 2600e6),
                ("t32", &tiles(4000, 4), 372e6),
                ("rows2", &rows2, 177e6),
                ("fused_rows", fused, 114e6),
            ],
        ),
        simple(
            "stencil_small",
            &small,
            &[("plain", &plain(120, 500), 3.77e6), ("t32", &tiles(120, 500), 5.29e6)],
        ),
        simple(
            "seidel",
            "nest @seidel[] { array P: f64[4000, 4000] for i in 1..3999 { for j in 1..3999 { S: P[i, j] = 0.2 * (P[i, j] + P[i, j-1] + P[i, j+1] + P[i-1, j] + P[i+1, j]) } } }",
            &[
                ("plain", "for i in 1..3999 { for j in 1..3999 { S } }", 54.5e6),
                (
                    "skewed",
                    "for s in 2..7997 { for i in max(1, s - 3998)..min(3999, s) { let j = s - i { S } } }",
                    122e6,
                ),
            ],
        ),
        simple(
            "stream",
            "nest @stream[] { array a: f64[8388608] array b: f64[8388608] array c: f64[8388608] for i in 0..8388608 { S: b[i] = a[i] * 2.0 } for j in 0..8388608 { T: c[j] = b[j] + a[j] } }",
            &[
                ("plain", "for i in 0..8388608 { S } for j in 0..8388608 { T }", 9.83e6),
                ("fused", "for t in 0..8388608 { let i = t { S } let j = t { T } }", 9.78e6),
            ],
        ),
        simple(
            "stream_small",
            "nest @stream[] { array a: f64[2000] array b: f64[2000] array c: f64[2000] for r in 0..5000 { for i in 0..2000 { S: b[i] = a[i] * 2.0 } for j in 0..2000 { T: c[j] = b[j] + a[j] } } }",
            &[
                ("plain", "for r in 0..5000 { for i in 0..2000 { S } for j in 0..2000 { T } }", 1.14e6),
                (
                    "fused",
                    "for r in 0..5000 { for t in 0..2000 { let i = t { S } let j = t { T } } }",
                    1.03e6,
                ),
            ],
        ),
        simple(
            "recurrence",
            "nest @rec[] { array a: f64[2000] array b: f64[2000] array c: f64[2000] array d: f64[2000] for r in 0..5000 { for i in 1..2000 { S: a[i] = a[i-1] * 0.5 + b[i] T: c[i] = (b[i] * d[i] + 1.0) * (b[i] + d[i]) / (b[i] + 3.0) } } }",
            &[
                ("plain", "for r in 0..5000 { for i in 1..2000 { S T } }", 14.65e6),
                (
                    "distributed",
                    "for r in 0..5000 { for i in 1..2000 { S } for i in 1..2000 { T } }",
                    15.28e6,
                ),
            ],
        ),
        simple(
            "colsum",
            "nest @colsum[] { array P: f64[4000, 4000] array y: f64[4000] for j in 0..4000 { for i in 0..4000 { S: y[j] = y[j] + P[i, j] } } }",
            &[
                ("ji", "for j in 0..4000 { for i in 0..4000 { S } }", 167e6),
                ("ij", "for i in 0..4000 { for j in 0..4000 { S } }", 11.65e6),
            ],
        ),
        simple(
            "lu",
            "nest @lu[] { array A: f64[1000, 1000] for i in 0..1000 { for j in 0..i { for k in 0..j { S: A[i, j] = A[i, j] - A[i, k] * A[k, j] } T: A[i, j] = A[i, j] / A[j, j] } for j2 in i..1000 { for k2 in 0..i { U: A[i, j2] = A[i, j2] - A[i, k2] * A[k2, j2] } } } }",
            &[
                (
                    "dot",
                    "for i in 0..1000 { for j in 0..i { for k in 0..j { S } T } for j2 in i..1000 { for k2 in 0..i { U } } }",
                    226e6,
                ),
                (
                    "row",
                    "for i in 0..1000 { for k in 0..i { let j = k { T } for j in k + 1..1000 { let k = k { S } } } }",
                    91.4e6,
                ),
            ],
        ),
    ]
}

#[test]
fn relations_hold() {
    let model = AnalyticModel::new(targets::x86_64_avx512());
    let mut wrong = Vec::new();
    for family in families() {
        let kernel = &family.program.kernel;
        let mut rows = Vec::new();
        for (name, text, ns) in &family.variants {
            let tree =
                parse_tree(kernel, text).unwrap_or_else(|e| panic!("{} {name}: {e}\n{text}", family.name));
            let cost = model.cost(kernel, &tree, &[]);
            if std::env::var_os("EXPLAIN").is_some_and(|e| e == **name || e == *family.name) {
                println!("{} {name}\n{}", family.name, cost.explain());
            }
            rows.push((*name, cost.cycles, *ns));
        }
        let (_, c0, n0) = rows[0];
        for &(name, cycles, ns) in &rows {
            println!(
                "{:>16} {name:<16} predicted {:>7.3} measured {:>7.3}   {:>10.3e} cycles, {:>6.2} per ns",
                family.name,
                c0 / cycles,
                n0 / ns,
                cycles,
                cycles / ns
            );
        }
        for (x, a) in rows.iter().enumerate() {
            for b in &rows[x + 1..] {
                let (measured, predicted) = (a.2 / b.2, a.1 / b.1);
                // Clear differences must not clearly point the wrong way.
                if !(0.6..1.67).contains(&measured)
                    && (if measured > 1.0 { predicted < 0.83 } else { predicted > 1.2 })
                {
                    wrong.push(format!(
                        "{}: {} / {}: measured {measured:.2}, predicted {predicted:.2}",
                        family.name, a.0, b.0
                    ));
                }
            }
        }
        let best = rows.iter().min_by(|a, b| a.1.total_cmp(&b.1)).unwrap();
        if best.2 > n0 * 1.05 && c0 > 1.1 * best.1 {
            wrong.push(format!(
                "{}: the predicted best, {}, is slower than the original",
                family.name, best.0
            ));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
