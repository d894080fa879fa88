// trisolv: forward substitution, L*x = b.
// The size is a run-time int, L is linearised, the pointers are not restrict.
// Of interest: x[i] depends on all earlier x; row sums as written, column updates are the alternative.
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
#define REPS SIZE(400, 3)
#endif

__attribute__((noinline)) void kernel_trisolv(int n, double *L, double *x, double *b) {
    for (int i = 0; i < n; i++) {
        x[i] = b[i];
        for (int j = 0; j < i; j++)
            x[i] -= L[i * n + j] * x[j];
        x[i] = x[i] / L[i * n + i];
    }
}

static void init(int n, double *L, double *b) {
    for (int i = 0; i < n; i++) {
        b[i] = 1.0 + (i % 7) / 7.0;
        for (int j = 0; j < n; j++)
            L[i * n + j] = ((i + n - j + 1) % 29) / (29.0 * n);
        L[i * n + i] = 1.5;
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
    double *L = malloc(sizeof(double) * n * n);
    double *x = calloc(n, sizeof(double)), *b = calloc(n, sizeof(double));
    init(n, L, b);
    for (int r = 0; r < REPS; r++) {
        kernel_trisolv(n, L, x, b);
        for (int i = 0; i < n; i++)
            b[i] = 1.0 + 0.5 * x[i];
    }
    printf("checksum %016llx\n", (unsigned long long)fnv(1469598103u, x, sizeof(double) * n));
    free(L);
    free(x);
    free(b);
    return 0;
}
