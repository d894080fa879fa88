// column_scan: running sums down the columns, written column by column, then a row-wise scale.
// Sizes are run-time longs, the array is a VLA.
// Of interest: the recurrence is along i, the parallel and unit-stride loop j is outside.
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
#define N SIZE(1000, 19)
#endif
#ifndef M
#define M SIZE(1100, 23)
#endif
#ifndef REPS
#define REPS SIZE(200, 2)
#endif

__attribute__((noinline)) void kernel_column_scan(long n, long m, double A[n][m], double scale[n]) {
    for (long j = 0; j < m; j++)
        for (long i = 1; i < n; i++)
            A[i][j] = A[i][j] + A[i - 1][j];
    for (long i = 0; i < n; i++)
        for (long j = 0; j < m; j++)
            A[i][j] = A[i][j] * scale[i];
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
    long n = argc > 1 ? atol(argv[1]) : N;
    long m = argc > 2 ? atol(argv[2]) : M;
    double(*A)[m] = malloc(sizeof(double[n][m]));
    double *scale = malloc(sizeof(double) * n);
    for (long i = 0; i < n; i++) {
        scale[i] = 1.0 / (double)(i + 1);
        for (long j = 0; j < m; j++)
            A[i][j] = 1.0 + (double)((i + 2 * j) % 31) / 31.0;
    }
    for (int r = 0; r < REPS; r++)
        kernel_column_scan(n, m, A, scale);
    printf("checksum %016llx\n", (unsigned long long)fnv(1469598103u, A, sizeof(double[n][m])));
    free(A);
    free(scale);
    return 0;
}
