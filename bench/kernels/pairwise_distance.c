// pairwise_distance: D[i][j] = squared Euclidean distance of rows i of X and j of Y.
// Sizes are run-time ints, arrays are VLAs that may alias.
// Of interest: like gemm with a transposed operand: unit stride, but a strict reduction over d.
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
#define M SIZE(1100, 19)
#endif
#ifndef DIM
#define DIM SIZE(128, 13)
#endif
#ifndef REPS
#define REPS SIZE(6, 2)
#endif

__attribute__((noinline)) void kernel_pairwise_distance(int n, int m, int dim, double X[n][dim],
                                                        double Y[m][dim], double D[n][m]) {
    for (int i = 0; i < n; i++)
        for (int j = 0; j < m; j++) {
            double s = 0.0;
            for (int d = 0; d < dim; d++)
                s += (X[i][d] - Y[j][d]) * (X[i][d] - Y[j][d]);
            D[i][j] = s;
        }
}

static void init(int n, int m, int dim, double X[n][dim], double Y[m][dim]) {
    for (int d = 0; d < dim; d++) {
        for (int i = 0; i < n; i++)
            X[i][d] = ((i * 29 + d * 11) % 211) / 211.0;
        for (int j = 0; j < m; j++)
            Y[j][d] = ((j * 23 + d * 7) % 223) / 223.0;
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
    int dim = argc > 3 ? atoi(argv[3]) : DIM;
    double(*X)[dim] = malloc(sizeof(double[n][dim]));
    double(*Y)[dim] = malloc(sizeof(double[m][dim]));
    double(*D)[m] = calloc(1, sizeof(double[n][m]));
    init(n, m, dim, X, Y);
    for (int r = 0; r < REPS; r++) {
        kernel_pairwise_distance(n, m, dim, X, Y, D);
        for (int i = 0; i < n; i++)
            X[i][i % dim] += 1e-3 * D[i][i % m];
    }
    printf("checksum %016llx\n", (unsigned long long)fnv(1469598103u, D, sizeof(double[n][m])));
    free(X);
    free(Y);
    free(D);
    return 0;
}
