// jacobi_2d: two five-point averaging sweeps per time step, A -> B -> A.
// Sizes are constants, arrays are arguments that may alias.
// Of interest: the two sweeps are adjacent two-deep nests; fusion needs a shift in both dimensions.
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
#define N SIZE(1000, 19)
#endif
#ifndef T
#define T SIZE(300, 5)
#endif
#ifndef REPS
#define REPS SIZE(1, 2)
#endif

__attribute__((noinline)) void kernel_jacobi_2d(int tsteps, double A[N][N], double B[N][N]) {
    int t, i, j;
    for (t = 0; t < tsteps; t++) {
        for (i = 1; i < N - 1; i++)
            for (j = 1; j < N - 1; j++)
                B[i][j] = 0.2 * (A[i][j] + A[i][j - 1] + A[i][1 + j] + A[1 + i][j] + A[i - 1][j]);
        for (i = 1; i < N - 1; i++)
            for (j = 1; j < N - 1; j++)
                A[i][j] = 0.2 * (B[i][j] + B[i][j - 1] + B[i][1 + j] + B[1 + i][j] + B[i - 1][j]);
    }
}

static double A[N][N], B[N][N];

static void init(void) {
    for (int i = 0; i < N; i++)
        for (int j = 0; j < N; j++) {
            A[i][j] = ((double)i * (j + 2) + 2) / N;
            B[i][j] = ((double)i * (j + 3) + 3) / N;
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

int main(void) {
    init();
    for (int r = 0; r < REPS; r++)
        kernel_jacobi_2d(T, A, B);
    printf("checksum %016llx\n", (unsigned long long)fnv(1469598103u, A, sizeof A));
    return 0;
}
