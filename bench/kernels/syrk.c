// syrk: lower triangle of C = beta*C + alpha*A*A^T.
// Sizes are run-time ints, arrays are VLAs that may alias.
// Of interest: triangular j loop; the inner k loop is unit stride but a strict reduction.
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
#ifndef N
#define N SIZE(1150, 17)
#endif
#ifndef M
#define M SIZE(900, 19)
#endif
#ifndef REPS
#define REPS SIZE(1, 2)
#endif

__attribute__((noinline)) void kernel_syrk(int n, int m, double alpha, double beta,
                                           double C[n][n], double A[n][m]) {
    for (int i = 0; i < n; i++) {
        for (int j = 0; j <= i; j++)
            C[i][j] *= beta;
        for (int j = 0; j <= i; j++)
            for (int k = 0; k < m; k++)
                C[i][j] += alpha * A[i][k] * A[j][k];
    }
}

static void init(int n, int m, double C[n][n], double A[n][m]) {
    for (int i = 0; i < n; i++) {
        for (int k = 0; k < m; k++)
            A[i][k] = ((i * k + 1) % 47) / (47.0 * 25);
        for (int j = 0; j < n; j++)
            C[i][j] = ((i * j + 2) % 43) / 43.0;
    }
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
    int n = argc > 1 ? atoi(argv[1]) : N;
    int m = argc > 2 ? atoi(argv[2]) : M;
    double(*C)[n] = malloc(sizeof(double[n][n]));
    double(*A)[m] = malloc(sizeof(double[n][m]));
    init(n, m, C, A);
    for (int r = 0; r < REPS; r++)
        kernel_syrk(n, m, 1.5, 0.5, C, A);
    printf("checksum %016llx\n", (unsigned long long)fnv(1469598103u, C, sizeof(double[n][n])));
    free(C);
    free(A);
    return 0;
}
