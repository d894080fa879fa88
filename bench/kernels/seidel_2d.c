// seidel_2d: nine-point Gauss-Seidel sweeps in place.
// Sizes are run-time ints, the array is a VLA.
// Of interest: every loop carries a dependence; only a skew uncovers parallelism.
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
#define N SIZE(600, 17)
#endif
#ifndef T
#define T SIZE(140, 4)
#endif
#ifndef REPS
#define REPS SIZE(1, 2)
#endif

__attribute__((noinline)) void kernel_seidel_2d(int tsteps, int n, double A[n][n]) {
    for (int t = 0; t <= tsteps - 1; t++)
        for (int i = 1; i <= n - 2; i++)
            for (int j = 1; j <= n - 2; j++)
                A[i][j] = (A[i - 1][j - 1] + A[i - 1][j] + A[i - 1][j + 1] + A[i][j - 1] + A[i][j] +
                           A[i][j + 1] + A[i + 1][j - 1] + A[i + 1][j] + A[i + 1][j + 1]) /
                          9.0;
}

static void init(int n, double A[n][n]) {
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++)
            A[i][j] = ((double)i * (j + 2) + 2) / n;
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
    int tsteps = argc > 2 ? atoi(argv[2]) : T;
    double(*A)[n] = malloc(sizeof(double[n][n]));
    init(n, A);
    for (int r = 0; r < REPS; r++)
        kernel_seidel_2d(tsteps, n, A);
    printf("checksum %016llx\n", (unsigned long long)fnv(1469598103u, A, sizeof(double[n][n])));
    free(A);
    return 0;
}
