//! The interpreter on small programs: values, and what is undefined.

use loop_tree::interp::{InterpErrorKind, Layout, Memory, RunOptions, instances, run};
use loop_tree::text::{Program, parse};
use loop_tree::{ArrayId, StmtId};

fn program(text: &str) -> Program {
    parse(text).unwrap_or_else(|e| panic!("{text}: {e} at {:?}", e.span))
}

/// Runs `S: r = value` and gives the bits of `r`.
fn value(ty: &str, value: &str) -> Result<u64, InterpErrorKind> {
    result(&format!("nest @f {{ scalar r: {ty} scalar a: {ty} scalar b: {ty} S: r = {value} }}"))
}

/// The bits of the first scalar in the end.
fn result(text: &str) -> Result<u64, InterpErrorKind> {
    let p = program(text);
    let mut memory = Memory::new(Layout::disjoint(&p.kernel, &[], &|_| 0).unwrap());
    let run = run(&p.kernel, p.tree(), &mut memory, &RunOptions::default());
    run.map(|_| memory.get(ArrayId(0), &[]).unwrap()).map_err(|e| e.kind)
}

fn i32_of(text: &str) -> i32 {
    value("i32", text).unwrap_or_else(|e| panic!("{text}: {e}")) as i32
}

fn f64_of(text: &str) -> f64 {
    f64::from_bits(value("f64", text).unwrap_or_else(|e| panic!("{text}: {e}")))
}

#[test]
fn integers_wrap_to_their_width() {
    assert_eq!(i32_of("2147483647 + 1"), i32::MIN);
    assert_eq!(i32_of("-7 / 2"), -3);
    assert_eq!(i32_of("-7 % 2"), -1);
    assert_eq!(i32_of("udiv(-7, 2)"), ((-7i32 as u32) / 2) as i32);
    assert_eq!(i32_of("-8 >> 1"), -4);
    assert_eq!(i32_of("lshr(-8, 1)"), ((-8i32 as u32) >> 1) as i32);
    assert_eq!(i32_of("mul.nuw(65536, 65535)"), 65536u32.wrapping_mul(65535) as i32);
    assert_eq!(i32_of("sadd.sat(2147483647, 5)"), i32::MAX);
    assert_eq!(i32_of("usub.sat(3, 5)"), 0);
    assert_eq!(i32_of("bswap(1)"), 1 << 24);
    assert_eq!(i32_of("ctpop(-1)"), 32);
    assert_eq!([i32_of("ctlz(1)"), i32_of("ctlz(0)"), i32_of("ctlz(-1)")], [31, 32, 0]);
    assert_eq!([i32_of("cttz(8)"), i32_of("cttz(0)"), i32_of("cttz(-1)")], [3, 32, 0]);
    assert_eq!(i32_of("fshl(305419896, -2023406815, 8)"), 0x3456_7887);
    assert_eq!(i32_of("fshr(305419896, -2023406815, 40)"), 0x7887_6543);
    assert_eq!(i32_of("fshl(7, 9, 32)"), 7);
    assert_eq!(i32_of("fptosi.sat.i32(1e10)"), i32::MAX);
    assert_eq!(i32_of("fptosi.sat.i32(-1e10)"), i32::MIN);
    assert_eq!(i32_of("fptoui.sat.i32(-2.5)"), 0);
    assert_eq!(i32_of("fptosi.sat.i32(-2.9)"), -2);
    assert_eq!(i32_of("abs(-2147483648)"), i32::MIN);
    assert_eq!(i32_of("i32(i8(200))"), -56);
    assert_eq!(i32_of("zext.i32(i8(200))"), 200);
    assert_eq!(i32_of("fptosi.i32(-2.9)"), -2);
}

#[test]
fn undefined_is_an_error_and_poison_only_where_it_is_used() {
    let poison = |text| matches!(value("i32", text), Err(InterpErrorKind::Poison(_)));
    assert!(poison("add.nsw(2147483647, 1)"));
    assert!(poison("sub.nuw(1, 2)"));
    assert!(poison("1 << 32"));
    assert!(poison("shl.nsw(1073741824, 1)"));
    assert!(poison("lshr.exact(3, 1)"));
    assert!(poison("or.disjoint(3, 1)"));
    assert!(poison("fptosi.i32(2147483648.0)"));
    assert!(poison("abs.int_min_poison(-2147483648)"));
    assert!(poison("cttz.int_min_poison(0)"));
    assert!(poison("1 + add.nsw(2147483647, 1)"));
    assert_eq!(i32_of("a == 0 ? 5 : add.nsw(2147483647, 1)"), 5);
    let division = |text| matches!(value("i32", text), Err(InterpErrorKind::Division(_)));
    assert!(division("1 / a"));
    assert!(division("urem(1, a)"));
    assert!(division("-2147483648 / (a - 1)"));
    assert!(matches!(value("f64", "fadd.nnan(0x7ff8000000000000, a)"), Err(InterpErrorKind::Poison(_))));
}

#[test]
fn floats_are_exact_in_their_own_width() {
    assert_eq!(f64_of("0.1 + 0.2"), 0.1 + 0.2);
    assert_eq!(f64_of("fma(0.1, 10.0, -1.0)"), 0.1f64.mul_add(10.0, -1.0));
    assert_ne!(f64_of("fma(0.1, 10.0, -1.0)"), 0.1 * 10.0 - 1.0);
    assert_eq!(f64_of("f64(fadd(f32(0.1), f32(0.2)))"), f64::from(0.1f32 + 0.2f32));
    assert_eq!(f64_of("rint(2.5)"), 2.0);
    assert_eq!(f64_of("round(2.5)"), 3.0);
    assert_eq!(f64_of("minnum(0x7ff8000000000000, 1.0)"), 1.0);
    assert!(f64_of("minimum(0x7ff8000000000000, 1.0)").is_nan());
    assert!(f64_of("minimum(0.0, -0.0)").is_sign_negative());
    assert!(f64_of("maximum(-0.0, 0.0)").is_sign_positive());
    assert_eq!(f64_of("0x7ff8000000000000 != 1.0 ? 1.0 : 2.0"), 1.0);
    assert_eq!(f64_of("frem(-7.5, 2.0)"), -1.5);
}

#[test]
fn a_multiplication_of_matrices() {
    let p = program(include_str!("../lt/matmul.lt"));
    let (n, m, l) = (3usize, 4usize, 5usize);
    let layout = Layout::disjoint(&p.kernel, &[3, 4, 5], &|_| 0).unwrap();
    let mut memory = Memory::new(layout);
    memory.fill(42);
    let f = |a: u32, i: usize, j: usize, memory: &Memory| {
        f64::from_bits(memory.get(ArrayId(a), &[i as i64, j as i64]).unwrap())
    };
    let before = memory.clone();
    let stats = run(&p.kernel, p.tree(), &mut memory, &RunOptions::default()).unwrap();
    assert_eq!(stats.instances, (n * m * (l + 1)) as u64);
    for i in 0..n {
        for j in 0..m {
            let sum = (0..l).fold(0.0, |s, k| s + f(1, i, k, &before) * f(2, k, j, &before));
            assert_eq!(f(0, i, j, &memory).to_bits(), sum.to_bits());
        }
    }
    assert_ne!(memory.bits(), before.bits());
}

#[test]
fn errors_name_the_instance() {
    let p = program("nest @f[N] { array A: i32[N] for i in 0..N { S: A[i + 1] = 0 } }");
    let mut memory = Memory::new(Layout::disjoint(&p.kernel, &[3], &|_| 0).unwrap());
    let e = run(&p.kernel, p.tree(), &mut memory, &RunOptions::default()).unwrap_err();
    assert_eq!(e.to_string(), "S(2): `A` subscript 3 of dimension 0 is outside of 0..3");
    let options = RunOptions { fuel: 4, ..RunOptions::default() };
    let e = run(&p.kernel, p.tree(), &mut memory, &options).unwrap_err();
    assert_eq!(e.kind, InterpErrorKind::Fuel(4));
    assert!(Layout::disjoint(&p.kernel, &[], &|_| 0).is_err());
    assert!(Layout::disjoint(&p.kernel, &[-1], &|_| 0).is_err());
    assert!(Layout::disjoint(&p.kernel, &[i64::MAX], &|_| 0).is_err());
}

#[test]
fn predicates_versions_and_unbounded_loops() {
    let p = program(
        "nest @f[N] {
           array A: i32[N] alias 0  array B: i32[N] alias 0  scalar p: i1  scalar done: i1  array T: i32[1] local
           loop w until done { S0: A[0] += 1  S1: done = A[0] >= 5 }
           S2: p = A[0] == 5
           if p { S3: A[1] = 7 }
           if !p { S4: A[1] = 8 }
           version { when nooverlap(A, B), N >= 2 { S5: B[0] = 1 } else { S6: B[0] = 2 } }
           S7: { %0 = load A[0]  %1 = const i32 5  %2 = cmp eq %0, %1  store A[0], %1 if %2  store B[1], %1 if !%2 }
         }",
    );
    let layout = Layout::disjoint(&p.kernel, &[4], &|_| 0).unwrap();
    let mut memory = Memory::new(layout.clone());
    run(&p.kernel, p.tree(), &mut memory, &RunOptions::default()).unwrap();
    let get = |m: &Memory, a: u32, i: i64| m.get(ArrayId(a), &[i]).unwrap();
    assert_eq!(
        (get(&memory, 0, 0), get(&memory, 0, 1), get(&memory, 1, 0), get(&memory, 1, 1)),
        (5, 7, 1, 0)
    );
    // B lies two elements behind A.
    let mut memory = Memory::new(layout.placed(ArrayId(1), ArrayId(0), 8).unwrap());
    run(&p.kernel, p.tree(), &mut memory, &RunOptions::default()).unwrap();
    assert_eq!((get(&memory, 1, 0), get(&memory, 0, 2)), (2, 2));
    assert_eq!(instances(&p.kernel, p.tree(), &[4], 100).unwrap_err().kind, InterpErrorKind::NeedsValues);
}

#[test]
fn loops_run_from_max_to_min_by_step() {
    let p = program(
        "nest @f[N] { array A: i32[N + 9] for i in 1..min(N, 8) step 3 { for j in max(i, 3)..floor((N + i)/2) { S: A[j] = 0 } } }",
    );
    let list = instances(&p.kernel, p.tree(), &[9], 1000).unwrap();
    let mut expected = Vec::new();
    for i in (1..8).step_by(3) {
        for j in i.max(3)..(9 + i) / 2 {
            expected.push(vec![i, j]);
        }
    }
    assert_eq!(list.iter().map(|x| x.dims.clone()).collect::<Vec<_>>(), expected);
    assert!(list.iter().all(|x| x.statement == StmtId(0)));
}

#[test]
fn what_did_not_execute_may_be_left_out_by_a_select() {
    let taken = |wanted: &str| {
        result(&format!(
            "nest @f {{ scalar r: i32 S: {{
               %0 = const i32 7
               %1 = const i1 false
               %2 = cmp eq %0, %0 if %1
               %3 = const i1 true
               %4 = xor i1 %2, %3
               %5 = select i1 %1, %4, %3
               store r, %0 if {wanted}
             }} }}"
        ))
    };
    assert_eq!(taken("%5"), Ok(7));
    // What does not execute lets nothing else execute.
    assert_eq!(taken("%4"), Ok(0));
}
