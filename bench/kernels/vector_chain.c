// vector_chain: a = b + c; d = a * e; f = d - b; g = f * f + a, one loop each, as array notation gives.
// The size is a run-time int, pointers are not restrict.
// Of interest: four adjacent loops with identical trip counts, two removable temporaries.
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
#define N SIZE(150000, 101)
#endif
#ifndef REPS
#define REPS SIZE(600, 3)
#endif

__attribute__((noinline)) void kernel_vector_chain(int n, double *a, double *b, double *c, double *d,
                                                   double *e, double *f, double *g) {
    int i;
    for (i = 0; i < n; i++)
        a[i] = b[i] + c[i];
    for (i = 0; i < n; i++)
        d[i] = a[i] * e[i];
    for (i = 0; i < n; i++)
        f[i] = d[i] - b[i];
    for (i = 0; i < n; i++)
        g[i] = f[i] * f[i] + a[i];
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
    size_t bytes = sizeof(double) * n;
    double *v[7];
    for (int k = 0; k < 7; k++) {
        v[k] = malloc(bytes);
        for (int i = 0; i < n; i++)
            v[k][i] = ((i * 7 + k * 13) % 251) / 251.0;
    }
    for (int r = 0; r < REPS; r++) {
        kernel_vector_chain(n, v[0], v[1], v[2], v[3], v[4], v[5], v[6]);
        v[1][r % n] = 0.5 * v[6][(r * 3) % n];
    }
    uint64_t h = 1469598103u;
    for (int k = 0; k < 7; k++)
        h = fnv(h, v[k], bytes);
    printf("checksum %016llx\n", (unsigned long long)h);
    for (int k = 0; k < 7; k++)
        free(v[k]);
    return 0;
}
