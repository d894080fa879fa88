// cholesky: in-place lower Cholesky factor of a symmetric positive definite matrix.
// The size is a run-time int, the array is a VLA.
// Of interest: triangular, sqrt once per row, strict unit-stride reductions.
// Strict floating point is expected: compile with -ffp-contract=off.
#include <math.h>
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
#define N SIZE(1450, 17)
#endif
#ifndef REPS
#define REPS SIZE(1, 1)
#endif

__attribute__((noinline)) void kernel_cholesky(int n, double A[n][n]) {
    for (int i = 0; i < n; i++) {
        for (int j = 0; j < i; j++) {
            for (int k = 0; k < j; k++)
                A[i][j] -= A[i][k] * A[j][k];
            A[i][j] /= A[j][j];
        }
        for (int k = 0; k < i; k++)
            A[i][i] -= A[i][k] * A[i][k];
        A[i][i] = sqrt(A[i][i]);
    }
}

static void init(int n, double A[n][n]) {
    for (int i = 0; i < n; i++) {
        for (int j = 0; j < n; j++)
            A[i][j] = ((i + j) % 17) / (17.0 * n);
        A[i][i] += 2.0;
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
    double(*A)[n] = malloc(sizeof(double[n][n]));
    init(n, A);
    for (int r = 0; r < REPS; r++)
        kernel_cholesky(n, A);
    printf("checksum %016llx\n", (unsigned long long)fnv(1469598103u, A, sizeof(double[n][n])));
    free(A);
    return 0;
}
