// gramschmidt: modified Gram-Schmidt, A = Q*R with orthonormal columns of Q.
// Sizes are run-time ints, arrays are VLAs that may alias.
// Of interest: everything is a column walk of row-major arrays; sqrt once per column.
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
#ifndef M
#define M SIZE(600, 19)
#endif
#ifndef N
#define N SIZE(560, 13)
#endif
#ifndef REPS
#define REPS SIZE(1, 1)
#endif

__attribute__((noinline)) void kernel_gramschmidt(int m, int n, double A[m][n], double R[n][n],
                                                  double Q[m][n]) {
    for (int k = 0; k < n; k++) {
        double nrm = 0.0;
        for (int i = 0; i < m; i++)
            nrm += A[i][k] * A[i][k];
        R[k][k] = sqrt(nrm);
        for (int i = 0; i < m; i++)
            Q[i][k] = A[i][k] / R[k][k];
        for (int j = k + 1; j < n; j++) {
            R[k][j] = 0.0;
            for (int i = 0; i < m; i++)
                R[k][j] += Q[i][k] * A[i][j];
            for (int i = 0; i < m; i++)
                A[i][j] = A[i][j] - Q[i][k] * R[k][j];
        }
    }
}

static void init(int m, int n, double A[m][n], double R[n][n], double Q[m][n]) {
    for (int i = 0; i < m; i++)
        for (int j = 0; j < n; j++) {
            A[i][j] = ((i * 37 + j * 91 + i * j) % 1009) / 1009.0 + (i == j ? 4.0 : 0.0);
            Q[i][j] = 0.0;
        }
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++)
            R[i][j] = 0.0;
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
    double(*R)[n] = malloc(sizeof(double[n][n]));
    double(*Q)[n] = malloc(sizeof(double[m][n]));
    init(m, n, A, R, Q);
    for (int r = 0; r < REPS; r++)
        kernel_gramschmidt(m, n, A, R, Q);
    uint64_t h = fnv(1469598103u, R, sizeof(double[n][n]));
    printf("checksum %016llx\n", (unsigned long long)fnv(h, Q, sizeof(double[m][n])));
    free(A);
    free(R);
    free(Q);
    return 0;
}
