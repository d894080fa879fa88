// gemver: A += u1*v1^T + u2*v2^T; x += beta*A^T*y; x += z; w = alpha*A*x.
// The size is a constant, arrays are arguments that may alias.
// Of interest: four nests in a row, the second walks A by columns, the third is one-dimensional.
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
#define N SIZE(1300, 17)
#endif
#ifndef REPS
#define REPS SIZE(100, 2)
#endif

__attribute__((noinline)) void kernel_gemver(double alpha, double beta, double A[N][N],
                                             double u1[N], double v1[N], double u2[N],
                                             double v2[N], double w[N], double x[N], double y[N],
                                             double z[N]) {
    int i, j;
    for (i = 0; i < N; i++)
        for (j = 0; j < N; j++)
            A[i][j] = A[i][j] + u1[i] * v1[j] + u2[i] * v2[j];
    for (i = 0; i < N; i++)
        for (j = 0; j < N; j++)
            x[i] = x[i] + beta * A[j][i] * y[j];
    for (i = 0; i < N; i++)
        x[i] = x[i] + z[i];
    for (i = 0; i < N; i++)
        for (j = 0; j < N; j++)
            w[i] = w[i] + alpha * A[i][j] * x[j];
}

static double A[N][N], u1[N], v1[N], u2[N], v2[N], w[N], x[N], y[N], z[N];

static void init(void) {
    for (int i = 0; i < N; i++) {
        u1[i] = i / (double)N;
        u2[i] = ((i + 1) / (double)N) / 2.0;
        v1[i] = ((i + 1) / (double)N) / 4.0;
        v2[i] = ((i + 1) / (double)N) / 6.0;
        y[i] = ((i + 1) / (double)N) / 8.0;
        z[i] = ((i + 1) / (double)N) / 9.0;
        for (int j = 0; j < N; j++)
            A[i][j] = (i * j % N) / (double)N;
    }
}

static void feed_back(void) {
    for (int i = 0; i < N; i++)
        y[i] = 0.5 * y[i] + 1e-6 * w[i];
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
    for (int r = 0; r < REPS; r++) {
        kernel_gemver(1.5 / N, 1.2 / N, A, u1, v1, u2, v2, w, x, y, z);
        feed_back();
    }
    uint64_t h = fnv(1469598103u, w, sizeof w);
    h = fnv(h, x, sizeof x);
    printf("checksum %016llx\n", (unsigned long long)fnv(h, A, sizeof A));
    return 0;
}
