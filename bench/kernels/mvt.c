// mvt: x1 += A*y1 and x2 += A^T*y2.
// The size is a constant, arrays are arguments that may alias.
// Of interest: the same matrix read by rows and then by columns in two independent nests.
// Strict floating point is expected: compile with -ffp-contract=off.
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#ifdef SMALL
#define SIZE(full, small) (small)
#else
#define SIZE(full, small) (full)
#endif
#ifndef N
#define N SIZE(1500, 17)
#endif
#ifndef REPS
#define REPS SIZE(70, 2)
#endif

__attribute__((noinline)) void kernel_mvt(double x1[N], double x2[N], double y1[N], double y2[N],
                                          double A[N][N]) {
    int i, j;
    for (i = 0; i < N; i++)
        for (j = 0; j < N; j++)
            x1[i] = x1[i] + A[i][j] * y1[j];
    for (i = 0; i < N; i++)
        for (j = 0; j < N; j++)
            x2[i] = x2[i] + A[j][i] * y2[j];
}

static double A[N][N], x1[N], x2[N], y1[N], y2[N];

static void init(void) {
    for (int i = 0; i < N; i++) {
        x1[i] = (i % N) / (double)N;
        x2[i] = ((i + 1) % N) / (double)N;
        y1[i] = ((i + 3) % N) / (double)N;
        y2[i] = ((i + 4) % N) / (double)N;
        for (int j = 0; j < N; j++)
            A[i][j] = (i * j % 1201) / (1201.0 * N);
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

int main(void) {
    init();
    for (int r = 0; r < REPS; r++)
        kernel_mvt(x1, x2, y1, y2, A);
    uint64_t h = fnv(1469598103u, x1, sizeof x1);
    printf("checksum %016llx\n", (unsigned long long)fnv(h, x2, sizeof x2));
    return 0;
}
