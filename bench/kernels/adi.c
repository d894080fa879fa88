// adi: alternating direction implicit scheme, a column sweep and a row sweep per time step.
// Sizes are constants, arrays are arguments that may alias.
// Of interest: forward and backward recurrences, the first sweep reads u by columns; loops count down.
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
#define N SIZE(400, 17)
#endif
#ifndef T
#define T SIZE(140, 4)
#endif
#ifndef REPS
#define REPS SIZE(1, 2)
#endif

__attribute__((noinline)) void kernel_adi(double u[N][N], double v[N][N], double p[N][N],
                                          double q[N][N]) {
    double DX = 1.0 / N, DY = 1.0 / N, DT = 1.0 / T;
    double B1 = 2.0, B2 = 1.0;
    double mul1 = B1 * DT / (DX * DX), mul2 = B2 * DT / (DY * DY);
    double a = -mul1 / 2.0, b = 1.0 + mul1, c = a;
    double d = -mul2 / 2.0, e = 1.0 + mul2, f = d;
    for (int t = 1; t <= T; t++) {
        for (int i = 1; i < N - 1; i++) {
            v[0][i] = 1.0;
            p[i][0] = 0.0;
            q[i][0] = v[0][i];
            for (int j = 1; j < N - 1; j++) {
                p[i][j] = -c / (a * p[i][j - 1] + b);
                q[i][j] = (-d * u[j][i - 1] + (1.0 + 2.0 * d) * u[j][i] - f * u[j][i + 1] -
                           a * q[i][j - 1]) /
                          (a * p[i][j - 1] + b);
            }
            v[N - 1][i] = 1.0;
            for (int j = N - 2; j >= 1; j--)
                v[j][i] = p[i][j] * v[j + 1][i] + q[i][j];
        }
        for (int i = 1; i < N - 1; i++) {
            u[i][0] = 1.0;
            p[i][0] = 0.0;
            q[i][0] = u[i][0];
            for (int j = 1; j < N - 1; j++) {
                p[i][j] = -f / (d * p[i][j - 1] + e);
                q[i][j] = (-a * v[i - 1][j] + (1.0 + 2.0 * a) * v[i][j] - c * v[i + 1][j] -
                           d * q[i][j - 1]) /
                          (d * p[i][j - 1] + e);
            }
            u[i][N - 1] = 1.0;
            for (int j = N - 2; j >= 1; j--)
                u[i][j] = p[i][j] * u[i][j + 1] + q[i][j];
        }
    }
}

static double u[N][N], v[N][N], p[N][N], q[N][N];

static void init(void) {
    for (int i = 0; i < N; i++)
        for (int j = 0; j < N; j++)
            u[i][j] = (double)(i + N - j) / N;
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
        kernel_adi(u, v, p, q);
    printf("checksum %016llx\n", (unsigned long long)fnv(1469598103u, u, sizeof u));
    return 0;
}
