// covariance: column means are subtracted, then cov = data^T * data / (N - 1), symmetric.
// Sizes are constants, arrays are arguments that may alias.
// Of interest: column walks everywhere; triangular j loop and a mirrored write cov[j][i].
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
#define N SIZE(860, 19)
#endif
#ifndef M
#define M SIZE(800, 17)
#endif
#ifndef REPS
#define REPS SIZE(1, 2)
#endif

__attribute__((noinline)) void kernel_covariance(double float_n, double data[N][M],
                                                 double cov[M][M], double mean[M]) {
    int i, j, k;
    for (j = 0; j < M; j++) {
        mean[j] = 0.0;
        for (i = 0; i < N; i++)
            mean[j] += data[i][j];
        mean[j] /= float_n;
    }
    for (i = 0; i < N; i++)
        for (j = 0; j < M; j++)
            data[i][j] -= mean[j];
    for (i = 0; i < M; i++)
        for (j = i; j < M; j++) {
            cov[i][j] = 0.0;
            for (k = 0; k < N; k++)
                cov[i][j] += data[k][i] * data[k][j];
            cov[i][j] /= (float_n - 1.0);
            cov[j][i] = cov[i][j];
        }
}

static double data[N][M], cov[M][M], mean[M];

static void init(void) {
    for (int i = 0; i < N; i++)
        for (int j = 0; j < M; j++)
            data[i][j] = ((double)i * j) / M + (i * 13 + j * 7) % 29;
}

static void feed_back(void) {
    for (int i = 0; i < N; i++)
        for (int j = 0; j < M; j++)
            data[i][j] += 0.01 * (i % 5) * mean[j];
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
        kernel_covariance((double)N, data, cov, mean);
        feed_back();
    }
    printf("checksum %016llx\n", (unsigned long long)fnv(1469598103u, cov, sizeof cov));
    return 0;
}
