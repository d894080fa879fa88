// trsm: forward substitution with many right-hand sides, L*X = B, X overwrites B.
// Sizes are run-time ints, arrays are VLAs that may alias.
// Of interest: written one right-hand side after the other, so every access to B is a column walk.
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
#define N SIZE(1000, 17)
#endif
#ifndef M
#define M SIZE(980, 13)
#endif
#ifndef REPS
#define REPS SIZE(1, 2)
#endif

__attribute__((noinline)) void kernel_trsm(int n, int m, double L[n][n], double B[n][m]) {
    for (int j = 0; j < m; j++)
        for (int i = 0; i < n; i++) {
            for (int k = 0; k < i; k++)
                B[i][j] -= L[i][k] * B[k][j];
            B[i][j] /= L[i][i];
        }
}

static void init(int n, int m, double L[n][n], double B[n][m]) {
    for (int i = 0; i < n; i++) {
        for (int j = 0; j < n; j++)
            L[i][j] = ((i * 3 + j) % 41) / (41.0 * n);
        L[i][i] = 1.25;
        for (int j = 0; j < m; j++)
            B[i][j] = 1.0 + ((i + j) % 23) / 23.0;
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
    double(*L)[n] = malloc(sizeof(double[n][n]));
    double(*B)[m] = malloc(sizeof(double[n][m]));
    init(n, m, L, B);
    for (int r = 0; r < REPS; r++)
        kernel_trsm(n, m, L, B);
    printf("checksum %016llx\n", (unsigned long long)fnv(1469598103u, B, sizeof(double[n][m])));
    free(L);
    free(B);
    return 0;
}
