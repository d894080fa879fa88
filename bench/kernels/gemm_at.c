// gemm_at: C += A^T * B, loops i, j, k as the formula has them.
// Sizes are run-time ints, arrays are VLAs that may alias.
// Of interest: both inputs are walked down their columns by the inner loop.
// Strict floating point is expected: compile with -ffp-contract=off.
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifdef SMALL
#define SIZE(full, small) (small)
#else
#define SIZE(full, small) (full)
#endif
#ifndef NI
#define NI SIZE(650, 13)
#endif
#ifndef NJ
#define NJ SIZE(680, 19)
#endif
#ifndef NK
#define NK SIZE(700, 17)
#endif
#ifndef REPS
#define REPS SIZE(1, 2)
#endif

__attribute__((noinline)) void kernel_gemm_at(int ni, int nj, int nk, double C[ni][nj],
                                              double A[nk][ni], double B[nk][nj]) {
    for (int i = 0; i < ni; i++)
        for (int j = 0; j < nj; j++)
            for (int k = 0; k < nk; k++)
                C[i][j] += A[k][i] * B[k][j];
}

static void init(int ni, int nj, int nk, double C[ni][nj], double A[nk][ni], double B[nk][nj]) {
    for (int k = 0; k < nk; k++) {
        for (int i = 0; i < ni; i++)
            A[k][i] = ((k * i + 5) % 61) / 61.0;
        for (int j = 0; j < nj; j++)
            B[k][j] = ((k * 3 + j) % 67) / (67.0 * nk);
    }
    for (int i = 0; i < ni; i++)
        for (int j = 0; j < nj; j++)
            C[i][j] = ((i + j) % 11) / 11.0;
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

int main(int argc, char **argv) {
    int ni = argc > 1 ? atoi(argv[1]) : NI;
    int nj = argc > 2 ? atoi(argv[2]) : NJ;
    int nk = argc > 3 ? atoi(argv[3]) : NK;
    double(*C)[nj] = malloc(sizeof(double[ni][nj]));
    double(*A)[ni] = malloc(sizeof(double[nk][ni]));
    double(*B)[nj] = malloc(sizeof(double[nk][nj]));
    init(ni, nj, nk, C, A, B);
    for (int r = 0; r < REPS; r++)
        kernel_gemm_at(ni, nj, nk, C, A, B);
    printf("checksum %016llx\n", (unsigned long long)fnv(1469598103u, C, sizeof(double[ni][nj])));
    free(C);
    free(A);
    free(B);
    return 0;
}
