// trmm: B = alpha * A^T * B, A lower triangular with a unit diagonal, in place.
// Sizes are run-time ints, arrays are VLAs that may alias.
// Of interest: in-place update reads rows of B that are written later (anti dependences).
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
#define M SIZE(900, 13)
#endif
#ifndef N
#define N SIZE(950, 19)
#endif
#ifndef REPS
#define REPS SIZE(1, 2)
#endif

__attribute__((noinline)) void kernel_trmm(int m, int n, double alpha, double A[m][m],
                                           double B[m][n]) {
    for (int i = 0; i < m; i++)
        for (int j = 0; j < n; j++) {
            for (int k = i + 1; k < m; k++)
                B[i][j] += A[k][i] * B[k][j];
            B[i][j] = alpha * B[i][j];
        }
}

static void init(int m, int n, double A[m][m], double B[m][n]) {
    for (int i = 0; i < m; i++) {
        for (int j = 0; j < m; j++)
            A[i][j] = j < i ? ((i + j) % m) / ((double)m * m) : (j == i ? 1.0 : 0.0);
        for (int j = 0; j < n; j++)
            B[i][j] = ((n + i - j) % n + 1) / (double)n;
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
    int m = argc > 1 ? atoi(argv[1]) : M;
    int n = argc > 2 ? atoi(argv[2]) : N;
    double(*A)[m] = malloc(sizeof(double[m][m]));
    double(*B)[n] = malloc(sizeof(double[m][n]));
    init(m, n, A, B);
    for (int r = 0; r < REPS; r++)
        kernel_trmm(m, n, 0.9, A, B);
    printf("checksum %016llx\n", (unsigned long long)fnv(1469598103u, B, sizeof(double[m][n])));
    free(A);
    free(B);
    return 0;
}
