// atax: y = A^T * (A * x).
// Sizes are run-time ints, arrays are VLAs that may alias.
// Of interest: a reduction and then a row update per iteration of i; tmp[i] could be a scalar.
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
#ifndef M
#define M SIZE(1500, 17)
#endif
#ifndef N
#define N SIZE(1400, 19)
#endif
#ifndef REPS
#define REPS SIZE(170, 3)
#endif

__attribute__((noinline)) void kernel_atax(int m, int n, double A[m][n], double x[n], double y[n],
                                           double tmp[m]) {
    for (int i = 0; i < n; i++)
        y[i] = 0;
    for (int i = 0; i < m; i++) {
        tmp[i] = 0.0;
        for (int j = 0; j < n; j++)
            tmp[i] = tmp[i] + A[i][j] * x[j];
        for (int j = 0; j < n; j++)
            y[j] = y[j] + A[i][j] * tmp[i];
    }
}

static void init(int m, int n, double A[m][n], double x[n]) {
    for (int i = 0; i < n; i++)
        x[i] = 1 + i / (double)n;
    for (int i = 0; i < m; i++)
        for (int j = 0; j < n; j++)
            A[i][j] = ((i + j) % n) / (5.0 * m);
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
    int m = argc > 1 ? atoi(argv[1]) : M;
    int n = argc > 2 ? atoi(argv[2]) : N;
    double(*A)[n] = malloc(sizeof(double[m][n]));
    double *x = calloc(n, sizeof(double));
    double *y = calloc(n, sizeof(double));
    double *tmp = calloc(m, sizeof(double));
    init(m, n, A, x);
    for (int r = 0; r < REPS; r++) {
        kernel_atax(m, n, A, x, y, tmp);
        for (int i = 0; i < n; i++)
            x[i] = 1.0 + 1e-5 * y[i];
    }
    uint64_t h = fnv(1469598103u, y, sizeof(double) * n);
    printf("checksum %016llx\n", (unsigned long long)fnv(h, tmp, sizeof(double) * m));
    free(A);
    free(x);
    free(y);
    free(tmp);
    return 0;
}
