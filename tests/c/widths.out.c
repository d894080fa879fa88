/* Written by looptree. Results are those of the original, bit for bit, with -ffp-contract=off and without -ffast-math.
   Pointers are aligned as their types are. */
#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#ifdef __clang__
#pragma STDC FP_CONTRACT OFF
#endif

/* widths#0; valid under: always */
bool widths(int32_t N, int64_t M, int8_t *restrict A, int16_t *restrict B, float *restrict F, double *last_out) {
  if (!(M >= INT64_C(-1099511627776) && M < INT64_C(1099511627776) && N > 0)) {
    return false; /* Nothing is done. */
  }
  double last = *last_out;
  for (int64_t i = 0; i < N; ++i) {
    A[i] = (int8_t)(A[i] + 3);
    B[i] = (int16_t)((uint32_t)B[i] * (uint32_t)B[i]);
  }
  for (int64_t j = 0; j < M; ++j) {
    if ((M >= j + 3 && j >= 3) || j == 0) {
      F[j] = sqrtf(F[j]) / 3.0f;
    }
    last = (double)F[j] - 0.1;
  }
  *last_out = last;
  return true;
}
