//! Arrays that overlap, memory scalars, aliasing.

use super::harness::{self, Buffer, Compiled};
use loop_tree::{ArrayId, RuntimeCondition};

const COPY: &str = "nest @copy[N, O] {
  array A: f64[?] alias 1
  array B: f64[?] alias 1
  for i in 0..N { S0: A[i + O] = B[i] }
}";

#[test]
fn overlapping_arrays_are_noticed_to_the_byte() {
    for passes in [None, Some("default<O3>")] {
        let compiled = Compiled::under(
            COPY,
            false,
            &[RuntimeCondition::NoOverlap(ArrayId(1), ArrayId(0))],
            &[&[]],
            passes,
        );
        let run = |n: i64, o: i64, a: usize, b: usize| {
            let mut buffers = [Buffer::from_f64(&harness::floats(64, 5))];
            let before = buffers[0].f64s();
            let ran = compiled.call_at(&[n, o], &mut buffers, &[(0, a), (0, b)]);
            assert!(ran || buffers[0].f64s() == before);
            ran
        };
        assert!(run(8, 0, 0, 64));
        assert!(run(8, 0, 64, 0));
        assert!(!run(9, 0, 0, 64));
        assert!(!run(8, 0, 0, 63));
        assert!(!run(8, 0, 0, 57));
        assert!(!run(8, 0, 7, 64));
        assert!(!run(8, 1, 0, 64));
        assert!(run(8, 1, 64, 0));
        assert!(run(8, -1, 80, 0));
        assert!(!run(8, -1, 64, 0));
        // Nothing is touched.
        assert!(run(0, 0, 0, 0));
    }
}

/// So many arrays, the second half of them only read.
fn many(arrays: usize) -> String {
    let half = arrays / 2;
    let lines = |number, line: &dyn Fn(usize) -> String| (0..number).map(line).collect::<String>();
    let declared = lines(arrays, &|k| format!("array A{k}: i64[?] alias 1\n"));
    let stored = lines(half, &|k| format!("S{k}: A{k}[i] = A{}[i] + 1\n", k + half));
    format!("nest @many[N] {{\n{declared}for i in 0..N {{\n{stored}}}\n}}")
}

#[test]
fn each_of_many_pairs_is_compared() {
    const N: usize = 3;
    // In line, by one table, by several.
    for (arrays, passes) in [(4, None), (28, None), (28, Some("default<O3>")), (70, None)] {
        let compiled = Compiled::new(&many(arrays), false, &[&[]], passes);
        let run = |moved: usize, place: usize| {
            let mut buffers = [Buffer::zeroed(arrays * 2 * N * 8)];
            let mut places: Vec<_> = (0..arrays).map(|k| (0, k * 2 * N * 8)).collect();
            places[moved].1 = place;
            let ran = compiled.call_at(&[N as i64], &mut buffers, &places);
            let sum: i64 = buffers[0].i64s().iter().sum();
            assert_eq!(sum, if ran { (arrays / 2 * N) as i64 } else { 0 });
            ran
        };
        for a in 0..arrays {
            for b in 0..arrays {
                let end = (b * 2 + 1) * N * 8;
                let harmless = a == b || a.min(b) >= arrays / 2;
                assert_eq!(run(a, end - 8), harmless, "{a} in {b} of {arrays}");
                assert!(run(a, end), "{a} behind {b} of {arrays}");
            }
        }
    }
}

#[test]
fn code_of_a_check_grows_with_arrays_and_not_with_pairs() {
    let comparisons = |arrays| harness::emit(&many(arrays), false, &[&[]]).unwrap().matches("icmp").count();
    let (some, twice) = (comparisons(14), comparisons(28));
    assert!(twice < 3 * some, "{some} comparisons for 14 arrays, {twice} for 28");
    // Several tables: 70 arrays are written, 140 compared, and 7,315 pairs.
    let many = comparisons(140);
    assert!(many < 1000, "{many} comparisons for 140 arrays");
}

#[test]
fn scalars_in_memory_may_be_elements() {
    // `s` is the element A[3] here, so it changes meanwhile.
    let text = "nest @t[N] {
      array A: i32[N] alias 1
      scalar s: i32 memory alias 1
      for i in 0..N { S0: A[i] = A[i] + s }
    }";
    harness::each_way(text, false, &[], |compiled| {
        let mut buffers = [Buffer::from_i32(&[1, 2, 3, 4, 5, 6])];
        assert!(!compiled.call_at(&[6], &mut buffers, &[(0, 0), (0, 12)]));
        assert!(compiled.call_at(&[3], &mut buffers, &[(0, 0), (0, 12)]));
        assert_eq!(buffers[0].i32s(), [5, 6, 7, 4, 5, 6]);
    });
}

#[test]
fn arrays_that_nothing_touches_overlap_nothing() {
    let text = "nest @t[N] {
      array A: i32[N] alias 1
      array B: i32[?] alias 1
      scalar s: i32 in
      require nooverlap(A, B)
      for i in 0..N { S0: A[i] = s }
    }";
    harness::each_way(text, false, &[], |compiled| {
        let mut buffers = [Buffer::zeroed(12), Buffer::from_i32(&[5])];
        assert!(compiled.call_at(&[3], &mut buffers, &[(0, 0), (0, 0), (1, 0)]));
        assert_eq!(buffers[0].i32s(), [5, 5, 5]);
    });
}

#[test]
fn four_dimensions_with_parameters() {
    let text = "nest @t[N, M, K, L] {
      array A: i32[N, M, K, L] alias 1
      array B: i32[N, M, K, L] alias 1
      for i in 0..N { for j in 0..M { for k in 0..K { for l in 0..L { S0: A[i, j, k, l] = B[i, j, k, l] + 1 } } } }
    }";
    harness::each_way(text, false, &[&[], &[0], &[0, 0], &[0, 0, 0]], |compiled| {
        let b: Vec<i32> = (0..120).collect();
        let mut buffers = [Buffer::zeroed(480), Buffer::from_i32(&b)];
        assert!(compiled.call(&[2, 3, 4, 5], &mut buffers));
        assert_eq!(buffers[0].i32s(), b.iter().map(|v| v + 1).collect::<Vec<_>>());
        // Would overflow 128 bits.
        assert!(!compiled.call(&[1 << 40, 1 << 40, 1 << 40, 1 << 40], &mut buffers));
    });
}
