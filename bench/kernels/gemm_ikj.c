// gemm_ikj: C = beta*C + alpha*A*B with the loops in i, k, j order, all accesses unit stride.
// Sizes are run-time ints, arrays are restrict VLAs.
// Of interest: already vectorised by everyone; what is left is reuse in registers and caches.
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
#define NI SIZE(1000, 13)
#endif
#ifndef NJ
#define NJ SIZE(1100, 17)
#endif
#ifndef NK
#define NK SIZE(1200, 19)
#endif
#ifndef REPS
#define REPS SIZE(1, 2)
#endif

__attribute__((noinline)) void kernel_gemm_ikj(int ni, int nj, int nk, double alpha, double beta,
                                               double C[restrict ni][nj],
                                               double A[restrict ni][nk],
                                               double B[restrict nk][nj]) {
    for (int i = 0; i < ni; i++) {
        for (int j = 0; j < nj; j++)
            C[i][j] *= beta;
        for (int k = 0; k < nk; k++)
            for (int j = 0; j < nj; j++)
                C[i][j] += alpha * A[i][k] * B[k][j];
    }
}

static void init(int ni, int nj, int nk, double C[ni][nj], double A[ni][nk], double B[nk][nj]) {
    for (int i = 0; i < ni; i++)
        for (int k = 0; k < nk; k++)
            A[i][k] = ((i * (k + 1)) % 97) / 97.0;
    for (int k = 0; k < nk; k++)
        for (int j = 0; j < nj; j++)
            B[k][j] = ((k * (j + 2)) % 89) / (89.0 * nk);
    for (int i = 0; i < ni; i++)
        for (int j = 0; j < nj; j++)
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

int main(int argc, char **argv) {
    int ni = argc > 1 ? atoi(argv[1]) : NI;
    int nj = argc > 2 ? atoi(argv[2]) : NJ;
    int nk = argc > 3 ? atoi(argv[3]) : NK;
    double(*C)[nj] = malloc(sizeof(double[ni][nj]));
    double(*A)[nk] = malloc(sizeof(double[ni][nk]));
    double(*B)[nj] = malloc(sizeof(double[nk][nj]));
    init(ni, nj, nk, C, A, B);
    for (int r = 0; r < REPS; r++)
        kernel_gemm_ikj(ni, nj, nk, 1.5, 0.75, C, A, B);
    printf("checksum %016llx\n", (unsigned long long)fnv(1469598103u, C, sizeof(double[ni][nj])));
    free(C);
    free(A);
    free(B);
    return 0;
}
