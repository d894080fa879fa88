/* Written by looptree. Results are those of the original, bit for bit, with -ffp-contract=off and without -ffast-math.
   Pointers are aligned as their types are. */
#include <stdbool.h>
#include <stdint.h>
#ifdef __clang__
#pragma STDC FP_CONTRACT OFF
#endif

/* sums#0; valid under: always */
bool sums(int64_t N, int64_t M, const double *restrict A, double *restrict B) {
  if (!(N >= INT64_C(-1099511627776) && N < INT64_C(1099511627776) && M >= INT64_C(-1099511627776) && M < INT64_C(1099511627776))) {
    return false; /* Nothing is done. */
  }
#ifdef _OPENMP
#pragma omp parallel for schedule(static)
#endif
  for (int64_t i = 0; i < N; ++i) {
    double s_1 = 0;
    s_1 = 0.0;
    for (int64_t j = 0; j < M; ++j) {
      s_1 += A[i * M + j] * A[i * M + j];
    }
    B[i] = s_1;
  }
  return true;
}
