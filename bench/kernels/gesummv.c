// gesummv: y = alpha*A*x + beta*B*x.
// The size is a run-time int, arrays are VLAs that may alias.
// Of interest: two strict reductions in one inner loop; without aliasing facts y and tmp stay in memory.
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
#define N SIZE(1300, 19)
#endif
#ifndef REPS
#define REPS SIZE(60, 3)
#endif

__attribute__((noinline)) void kernel_gesummv(int n, double alpha, double beta, double A[n][n],
                                              double B[n][n], double tmp[n], double x[n],
                                              double y[n]) {
    for (int i = 0; i < n; i++) {
        tmp[i] = 0.0;
        y[i] = 0.0;
        for (int j = 0; j < n; j++) {
            tmp[i] = A[i][j] * x[j] + tmp[i];
            y[i] = B[i][j] * x[j] + y[i];
        }
        y[i] = alpha * tmp[i] + beta * y[i];
    }
}

static void init(int n, double A[n][n], double B[n][n], double x[n]) {
    for (int i = 0; i < n; i++) {
        x[i] = (i % 31 + 1) / 31.0;
        for (int j = 0; j < n; j++) {
            A[i][j] = ((i * j + 1) % 127) / (127.0 * n);
            B[i][j] = ((i * j + 2) % 113) / (113.0 * n);
        }
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
    double(*B)[n] = malloc(sizeof(double[n][n]));
    double *tmp = calloc(n, sizeof(double));
    double *x = calloc(n, sizeof(double));
    double *y = calloc(n, sizeof(double));
    init(n, A, B, x);
    for (int r = 0; r < REPS; r++) {
        kernel_gesummv(n, 1.5, 1.2, A, B, tmp, x, y);
        for (int i = 0; i < n; i++)
            x[i] = 0.5 + 0.25 * y[i];
    }
    printf("checksum %016llx\n", (unsigned long long)fnv(1469598103u, y, sizeof(double) * n));
    free(A);
    free(B);
    free(tmp);
    free(x);
    free(y);
    return 0;
}
