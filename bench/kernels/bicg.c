// bicg: s = A^T * r and q = A * p in one sweep over A.
// Sizes are run-time size_t, A is linearised, the pointers are not restrict.
// Of interest: two statements with different reductions in one loop body; possible aliasing costs much.
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
#define N SIZE(1400, 19)
#endif
#ifndef M
#define M SIZE(1300, 17)
#endif
#ifndef REPS
#define REPS SIZE(40, 3)
#endif

__attribute__((noinline)) void kernel_bicg(size_t n, size_t m, double *A, double *s, double *q,
                                           double *p, double *r) {
    for (size_t i = 0; i < m; i++)
        s[i] = 0;
    for (size_t i = 0; i < n; i++) {
        q[i] = 0.0;
        for (size_t j = 0; j < m; j++) {
            s[j] = s[j] + r[i] * A[i * m + j];
            q[i] = q[i] + A[i * m + j] * p[j];
        }
    }
}

static void init(size_t n, size_t m, double *A, double *p, double *r) {
    for (size_t i = 0; i < m; i++)
        p[i] = (double)(i % m) / (double)m;
    for (size_t i = 0; i < n; i++) {
        r[i] = (double)(i % n) / (double)n;
        for (size_t j = 0; j < m; j++)
            A[i * m + j] = (double)((i * (j + 1)) % n) / (double)(n * n);
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
    size_t n = argc > 1 ? strtoul(argv[1], NULL, 10) : N;
    size_t m = argc > 2 ? strtoul(argv[2], NULL, 10) : M;
    double *A = malloc(sizeof(double) * n * m);
    double *s = calloc(m, sizeof(double)), *p = calloc(m, sizeof(double));
    double *q = calloc(n, sizeof(double)), *r = calloc(n, sizeof(double));
    init(n, m, A, p, r);
    for (int rep = 0; rep < REPS; rep++) {
        kernel_bicg(n, m, A, s, q, p, r);
        for (size_t i = 0; i < m; i++)
            p[i] = 0.25 + 0.5 * s[i];
    }
    uint64_t h = fnv(1469598103u, s, sizeof(double) * m);
    printf("checksum %016llx\n", (unsigned long long)fnv(h, q, sizeof(double) * n));
    free(A);
    free(s);
    free(p);
    free(q);
    free(r);
    return 0;
}
