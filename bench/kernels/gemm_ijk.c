// gemm_ijk: C = beta*C + alpha*A*B, the textbook i, j, k order; C is accumulated in memory.
// Sizes are constants, arrays are arguments that may alias.
// Of interest: the inner loop walks B down a column; j innermost would be unit stride.
// Strict floating point is expected: compile with -ffp-contract=off.
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#ifdef SMALL
#define SIZE(full, small) (small)
#else
#define SIZE(full, small) (full)
#endif
#ifndef NI
#define NI SIZE(680, 13)
#endif
#ifndef NJ
#define NJ SIZE(700, 17)
#endif
#ifndef NK
#define NK SIZE(720, 19)
#endif
#ifndef REPS
#define REPS SIZE(1, 2)
#endif

__attribute__((noinline)) void kernel_gemm_ijk(double alpha, double beta, double C[NI][NJ],
                                               double A[NI][NK], double B[NK][NJ]) {
    for (int i = 0; i < NI; i++)
        for (int j = 0; j < NJ; j++) {
            C[i][j] *= beta;
            for (int k = 0; k < NK; k++)
                C[i][j] += alpha * A[i][k] * B[k][j];
        }
}

static double A[NI][NK], B[NK][NJ], C[NI][NJ];

static void init(void) {
    for (int i = 0; i < NI; i++)
        for (int k = 0; k < NK; k++)
            A[i][k] = ((i * k + 1) % 97) / 97.0;
    for (int k = 0; k < NK; k++)
        for (int j = 0; j < NJ; j++)
            B[k][j] = ((k * (j + 2)) % 89) / (89.0 * NK);
    for (int i = 0; i < NI; i++)
        for (int j = 0; j < NJ; j++)
            C[i][j] = ((i + 3 * j) % 53) / 53.0;
}

static uint64_t fnv(uint64_t h, const void *data, size_t bytes) {
    const unsigned char *p = data;
    for (; bytes >= 8; bytes -= 8, p += 8) {
        uint64_t w;
        memcpy(&w, p, 8);
        h = (h ^ w) * 0x100000001b3u;
        h ^= h >> 32;
    }
    for (; bytes > 0; bytes--, p++)
        h = (h ^ *p) * 0x100000001b3u;
    return h;
}

int main(void) {
    init();
    for (int r = 0; r < REPS; r++)
        kernel_gemm_ijk(1.5, 0.75, C, A, B);
    printf("checksum %016llx\n", (unsigned long long)fnv(1469598103u, C, sizeof C));
    return 0;
}
