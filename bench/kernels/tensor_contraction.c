// tensor_contraction: C[a][b][c][d] += sum over k, l of A[a][k][c][l] * B[l][b][k][d].
// The extent is a run-time int, arrays are four-dimensional restrict VLAs.
// Of interest: six loops in the order of the formula; d is the unit-stride index and sits outside k, l.
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
#define N SIZE(29, 5)
#endif
#ifndef REPS
#define REPS SIZE(1, 2)
#endif

__attribute__((noinline)) void kernel_tensor_contraction(int n, double C[restrict n][n][n][n],
                                                         double A[restrict n][n][n][n],
                                                         double B[restrict n][n][n][n]) {
    for (int a = 0; a < n; a++)
        for (int b = 0; b < n; b++)
            for (int c = 0; c < n; c++)
                for (int d = 0; d < n; d++)
                    for (int k = 0; k < n; k++)
                        for (int l = 0; l < n; l++)
                            C[a][b][c][d] += A[a][k][c][l] * B[l][b][k][d];
}

static void init(int count, double *A, double *B, double *C) {
    for (int i = 0; i < count; i++) {
        A[i] = (i % 103) / 103.0;
        B[i] = (i % 109) / (109.0 * 600);
        C[i] = (i % 13) / 13.0;
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
    size_t bytes = sizeof(double[n][n][n][n]);
    double(*A)[n][n][n] = malloc(bytes);
    double(*B)[n][n][n] = malloc(bytes);
    double(*C)[n][n][n] = malloc(bytes);
    init(n * n * n * n, &A[0][0][0][0], &B[0][0][0][0], &C[0][0][0][0]);
    for (int r = 0; r < REPS; r++)
        kernel_tensor_contraction(n, C, A, B);
    printf("checksum %016llx\n", (unsigned long long)fnv(1469598103u, C, bytes));
    free(A);
    free(B);
    free(C);
    return 0;
}
