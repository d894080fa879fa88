// jacobi_1d: two three-point averaging sweeps per time step, A -> B -> A.
// Sizes are run-time ints, the pointers are not restrict.
// Of interest: two adjacent loops per time step; fusing them needs a shift; time tiling needs a skew.
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
#define N SIZE(4000, 37)
#endif
#ifndef T
#define T SIZE(200000, 7)
#endif
#ifndef REPS
#define REPS SIZE(1, 2)
#endif

__attribute__((noinline)) void kernel_jacobi_1d(int tsteps, int n, double *A, double *B) {
    for (int t = 0; t < tsteps; t++) {
        for (int i = 1; i < n - 1; i++)
            B[i] = 0.33333 * (A[i - 1] + A[i] + A[i + 1]);
        for (int i = 1; i < n - 1; i++)
            A[i] = 0.33333 * (B[i - 1] + B[i] + B[i + 1]);
    }
}

static void init(int n, double *A, double *B) {
    for (int i = 0; i < n; i++) {
        A[i] = ((double)i + 2) / n;
        B[i] = ((double)i + 3) / n;
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
    int tsteps = argc > 2 ? atoi(argv[2]) : T;
    double *A = malloc(sizeof(double) * n), *B = malloc(sizeof(double) * n);
    init(n, A, B);
    for (int r = 0; r < REPS; r++)
        kernel_jacobi_1d(tsteps, n, A, B);
    printf("checksum %016llx\n", (unsigned long long)fnv(1469598103u, A, sizeof(double) * n));
    free(A);
    free(B);
    return 0;
}
