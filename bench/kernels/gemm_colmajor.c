// gemm_colmajor: C += A*B on column-major, linearised square matrices, loops i, j, k.
// The size is a run-time int; the pointers are not restrict.
// Of interest: products n*k in the subscripts, sum kept in a scalar, A walked with stride n.
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
#define N SIZE(820, 17)
#endif
#ifndef REPS
#define REPS SIZE(1, 2)
#endif

__attribute__((noinline)) void kernel_gemm_colmajor(int n, const double *A, const double *B,
                                                    double *C) {
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++) {
            double sum = C[i + j * n];
            for (int k = 0; k < n; k++)
                sum += A[i + k * n] * B[k + j * n];
            C[i + j * n] = sum;
        }
}

static void init(int n, double *A, double *B, double *C) {
    for (int i = 0; i < n * n; i++) {
        A[i] = (i % 97) / 97.0;
        B[i] = (i % 89) / (89.0 * n);
        C[i] = (i % 53) / 53.0;
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
    size_t bytes = sizeof(double) * n * n;
    double *A = malloc(bytes), *B = malloc(bytes), *C = malloc(bytes);
    init(n, A, B, C);
    for (int r = 0; r < REPS; r++)
        kernel_gemm_colmajor(n, A, B, C);
    printf("checksum %016llx\n", (unsigned long long)fnv(1469598103u, C, bytes));
    free(A);
    free(B);
    free(C);
    return 0;
}
