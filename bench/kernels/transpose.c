// transpose: B = A^T out of place, then A += B.
// The size is a run-time int, arrays are linearised and not restrict.
// Of interest: one of the two accesses is always a column walk; only tiling helps both.
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
#define N SIZE(1500, 19)
#endif
#ifndef REPS
#define REPS SIZE(40, 3)
#endif

__attribute__((noinline)) void kernel_transpose(int n, double *A, double *B) {
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++)
            B[j * n + i] = A[i * n + j];
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++)
            A[i * n + j] = 0.5 * (A[i * n + j] + B[i * n + j]);
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
    double *A = malloc(bytes), *B = calloc(1, bytes);
    for (int i = 0; i < n * n; i++)
        A[i] = (i % 1013) / 1013.0;
    for (int r = 0; r < REPS; r++) {
        kernel_transpose(n, A, B);
        A[(r * 7) % (n * n)] += 1.0;
    }
    uint64_t h = fnv(1469598103u, A, bytes);
    printf("checksum %016llx\n", (unsigned long long)fnv(h, B, bytes));
    free(A);
    free(B);
    return 0;
}
