// complex_matmul: C = A*B for complex matrices stored as interleaved (re, im) pairs.
// The size is a run-time int, arrays are linearised restrict pointers.
// Of interest: stride-2 accesses, two coupled reductions, the inner loop walks B down a column.
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
#define N SIZE(660, 13)
#endif
#ifndef REPS
#define REPS SIZE(1, 2)
#endif

__attribute__((noinline)) void kernel_complex_matmul(int n, const double *restrict A,
                                                     const double *restrict B,
                                                     double *restrict C) {
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++) {
            double re = 0.0, im = 0.0;
            for (int k = 0; k < n; k++) {
                double ar = A[2 * (i * n + k)], ai = A[2 * (i * n + k) + 1];
                double br = B[2 * (k * n + j)], bi = B[2 * (k * n + j) + 1];
                re += ar * br - ai * bi;
                im += ar * bi + ai * br;
            }
            C[2 * (i * n + j)] = re;
            C[2 * (i * n + j) + 1] = im;
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
    int count = 2 * n * n;
    double *A = malloc(sizeof(double) * count), *B = malloc(sizeof(double) * count);
    double *C = calloc(count, sizeof(double));
    for (int i = 0; i < count; i++) {
        A[i] = (i % 113 - 50) / 113.0;
        B[i] = (i % 127 - 60) / (127.0 * n);
    }
    for (int r = 0; r < REPS; r++) {
        kernel_complex_matmul(n, A, B, C);
        for (int i = 0; i < count; i++)
            A[i] = 0.5 * A[i] + 0.5 * C[i];
    }
    printf("checksum %016llx\n", (unsigned long long)fnv(1469598103u, C, sizeof(double) * count));
    free(A);
    free(B);
    free(C);
    return 0;
}
