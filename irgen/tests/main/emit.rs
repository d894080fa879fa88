//! Trees as machine code: what it computes, bit for bit, without and with LLVM's optimisations, and what LLVM makes of it.

mod alignment;
mod buffers;
mod harness;
mod held;
mod memory;
mod optimised;
mod random;
mod threads;

use harness::{Buffer, Compiled};

const GEMM: &str = "nest @gemm[N, M, K] {
  array C: f64[N, M]
  array A: f64[N, K]
  array B: f64[K, M]
  for i in 0..N { for j in 0..M { for k in 0..K {
    S0 [reduction fadd]: C[i, j] += A[i, k] * B[k, j]
  } } }
  variant {
    for it in 0..floor((N + 2)/3) { for k in 0..K { for i in 3*it..min(3*it + 3, N) { for j in 0..M { S0 } } } }
  }
}";

fn gemm(n: usize, m: usize, k: usize, [c, a, b]: [&[f64]; 3]) -> Vec<f64> {
    let mut c = c.to_vec();
    for i in 0..n {
        for j in 0..m {
            for l in 0..k {
                c[i * m + j] += a[i * k + l] * b[l * m + j];
            }
        }
    }
    c
}

#[test]
fn gemm_in_two_orders() {
    for variant in [false, true] {
        for (n, m, k) in [(5, 7, 4), (6, 1, 3), (1, 1, 1), (0, 3, 2), (4, 4, 0)] {
            let [c, a, b] =
                [(n * m, 1), (n * k, 2), (k * m, 3)].map(|(len, seed)| harness::floats(len, seed));
            let expected = gemm(n, m, k, [&c, &a, &b]);
            harness::each_way(GEMM, variant, &[], |compiled| {
                let mut buffers = [&c, &a, &b].map(|v| Buffer::from_f64(v));
                assert!(compiled.call(&[n as i64, m as i64, k as i64], &mut buffers));
                assert_eq!(buffers[0].f64s(), expected, "{n} {m} {k} {variant}");
            });
        }
    }
}

#[test]
fn floor_divisions_steps_and_negative_bounds() {
    // Writes i + 100*j where the subscripts go back to zero by hand.
    let text = "nest @t[N, P: i32] {
      array A: i64[64]
      for i in -N..P step 3 {
        for j in floor((i - 4)/3)..floor(i/4) + 3 {
          S0: A[j - 3*floor(j/3) + 3*i - 9*floor(i/3) + 20] += affine(i + 100*j)
        }
      }
    }";
    for (n, p) in [(0_i64, 0_i64), (7, 9), (20, -3), (-5, 31), (3, -3)] {
        let mut expected = vec![0_i64; 64];
        let mut i = -n;
        while i < p {
            for j in (i - 4).div_euclid(3)..i.div_euclid(4) + 3 {
                expected[(j.rem_euclid(3) + 3 * i.rem_euclid(3) + 20) as usize] += i + 100 * j;
            }
            i += 3;
        }
        harness::each_way(text, false, &[], |compiled| {
            let mut buffers = [Buffer::zeroed(64 * 8)];
            assert!(compiled.call(&[n, p], &mut buffers));
            assert_eq!(buffers[0].i64s(), expected, "{n} {p}");
        });
    }
}

#[test]
fn guards_with_alternatives_bindings_and_scalars() {
    let text = "nest @t[N] {
      array A: i32[N]
      scalar sum: i32 out
      scalar flag: i1 local
      scalar scale: i32 in
      for i in 0..N {
        S0: flag = test(i - 3*floor(i/3) == 1)
        let m = N - i - 1 {
          if i >= 2 && i < 5 || m == 0 || i == 2*floor(i/2) && m >= N - 2 { S1: A[m] = scale * affine.i32(i + m) }
          if flag { S2: sum = sum + A[m] }
        }
      }
    }";
    for n in [0_i64, 1, 2, 9] {
        let (scale, mut sum) = (3_i32, 40_i32);
        let mut a: Vec<i32> = (0..n as i32).map(|i| 1000 + i).collect();
        for i in 0..n {
            let m = n - i - 1;
            if (2..5).contains(&i) || m == 0 || (i % 2 == 0 && m >= n - 2) {
                a[m as usize] = scale * (i + m) as i32;
            }
            if i % 3 == 1 {
                sum += a[m as usize];
            }
        }
        harness::each_way(text, false, &[], |compiled| {
            let start: Vec<i32> = (0..n as i32).map(|i| 1000 + i).collect();
            let mut buffers = [
                Buffer::from_i32(&start),
                Buffer::from_i32(&[40]),
                Buffer::zeroed(1),
                Buffer::from_i32(&[scale]),
            ];
            assert!(compiled.call(&[n], &mut buffers));
            assert_eq!(buffers[0].i32s(), a, "{n}");
            assert_eq!(buffers[1].i32s(), [sum], "{n}");
        });
    }
}

#[test]
fn masks_in_masks_and_values_used_across_them() {
    let text = "nest @t[N] {
      array A: i32[N]
      array B: i32[N]
      for i in 0..N {
        S0: {
          %a = load A[i]
          %zero = const i32 0
          %ten = const i32 10
          %positive = cmp sgt %a, %zero
          %b = load B[i] if %positive
          %small = cmp slt %b, %ten if %positive
          %sum = add i32 %a, %b if %small
          store B[i], %sum if %small
          %big = sub i32 %a, %b if !%small
          store A[i], %big if !%small
          %either = select i32 %positive, %b, %zero
          %minus = sub i32 %a, %ten if !%positive
          %last = select i32 %positive, %either, %minus
          store A[i], %last if !%positive
        }
      }
    }";
    let a = [3, -4, 0, 7, 100, -1];
    let b = [1, 50, 9, 11, 9, 3];
    let (mut ea, mut eb) = (a, b);
    for i in 0..a.len() {
        if a[i] > 0 {
            if b[i] < 10 {
                eb[i] = a[i] + b[i];
            } else {
                ea[i] = a[i] - b[i];
            }
        } else {
            ea[i] = a[i] - 10;
        }
    }
    harness::each_way(text, false, &[], |compiled| {
        let mut buffers = [Buffer::from_i32(&a), Buffer::from_i32(&b)];
        assert!(compiled.call(&[6], &mut buffers));
        assert_eq!((buffers[0].i32s(), buffers[1].i32s()), (ea.to_vec(), eb.to_vec()));
    });
}

#[test]
fn parameters_beyond_their_limits_run_nothing() {
    let compiled = Compiled::new(GEMM, false, &[], None);
    let mut buffers = [Buffer::zeroed(8), Buffer::zeroed(8), Buffer::zeroed(8)];
    assert!(!compiled.call(&[1 << 41, 1, 0], &mut buffers));
    assert!(!compiled.call(&[i64::MIN, 1, 0], &mut buffers));
    assert!(!compiled.call(&[1, i64::MAX, 0], &mut buffers));
    assert!(compiled.call(&[1, 1, 1], &mut buffers));

    // A parameter of a narrower type, and one that the context bounds.
    let text =
        "nest @t[N: i32, M] { assume M >= 2  array A: i64[?] for i in 0..N { S0: A[i] = affine(i + M) } }";
    let compiled = Compiled::new(text, false, &[], None);
    let mut buffers = [Buffer::zeroed(80)];
    assert!(!compiled.call(&[1 << 31, 5], &mut buffers));
    assert!(!compiled.call(&[3, 1], &mut buffers));
    assert!(compiled.call(&[3, 5], &mut buffers));
    assert_eq!(buffers[0].i64s()[..4], [5, 6, 7, 0]);
}

#[test]
fn bounds_that_could_overflow_narrow_the_limits() {
    // 2^30 * N fits for N < 2^31 only.
    let text = "nest @t[N] { array A: i64[?] for i in 1073741824*N..1073741824*N + 2 { S0: A[i - 1073741824*N] = 7 } }";
    let compiled = Compiled::new(text, false, &[], None);
    let mut buffers = [Buffer::zeroed(32)];
    assert!(!compiled.call(&[1 << 35], &mut buffers));
    assert!(compiled.call(&[1 << 30], &mut buffers));
    assert_eq!(buffers[0].i64s(), [7, 7, 0, 0]);
    // No limit helps here.
    let text = "nest @t[N] { array A: i64[?] for i in 0..4611686018427387904*N { S0: A[i] = 7 } }";
    assert!(harness::emit(text, false, &[]).is_err());
}
