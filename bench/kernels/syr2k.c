// syr2k: lower triangle of C = beta*C + alpha*(A*B^T + B*A^T).
// Sizes are constants, arrays are arguments that may alias.
// Of interest: k is the middle loop, so A[j][k] and B[j][k] are walked down a column.
// Strict floating point is expected: compile with -ffp-contract=off.
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#ifdef SMALL
#define SIZE(full, small) (small)
#else
#define SIZE(full, small) (full)
#endif
#ifndef N
#define N SIZE(900, 17)
#endif
#ifndef M
#define M SIZE(760, 13)
#endif
#ifndef REPS
#define REPS SIZE(1, 2)
#endif

__attribute__((noinline)) void kernel_syr2k(double alpha, double beta, double C[N][N],
                                            double A[N][M], double B[N][M]) {
    int i, j, k;
    for (i = 0; i < N; i++) {
        for (j = 0; j <= i; j++)
            C[i][j] *= beta;
        for (k = 0; k < M; k++)
            for (j = 0; j <= i; j++)
                C[i][j] += A[j][k] * alpha * B[i][k] + B[j][k] * alpha * A[i][k];
    }
}

static double A[N][M], B[N][M], C[N][N];

static void init(void) {
    for (int i = 0; i < N; i++)
        for (int k = 0; k < M; k++) {
            A[i][k] = ((i * k + 1) % N) / (double)N;
            B[i][k] = ((i * k + 2) % M) / ((double)M * M);
        }
    for (int i = 0; i < N; i++)
        for (int j = 0; j < N; j++)
            C[i][j] = ((i * j + 3) % N) / (double)M;
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
        kernel_syr2k(1.5, 0.5, C, A, B);
    printf("checksum %016llx\n", (unsigned long long)fnv(1469598103u, C, sizeof C));
    return 0;
}
