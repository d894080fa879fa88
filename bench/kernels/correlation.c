// correlation: columns are centred and scaled, then corr = data^T * data, symmetric, unit diagonal.
// Sizes are run-time ints, arrays are VLAs that may alias.
// Of interest: sqrt, a guard against tiny deviations (ternary), triangular nest, mirrored write.
// Strict floating point is expected: compile with -ffp-contract=off.
#include <math.h>
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
#define N SIZE(880, 19)
#endif
#ifndef M
#define M SIZE(780, 17)
#endif
#ifndef REPS
#define REPS SIZE(1, 2)
#endif

__attribute__((noinline)) void kernel_correlation(int m, int n, double data[n][m],
                                                  double corr[m][m], double mean[m],
                                                  double stddev[m]) {
    double eps = 0.1;
    for (int j = 0; j < m; j++) {
        mean[j] = 0.0;
        for (int i = 0; i < n; i++)
            mean[j] += data[i][j];
        mean[j] /= n;
    }
    for (int j = 0; j < m; j++) {
        stddev[j] = 0.0;
        for (int i = 0; i < n; i++)
            stddev[j] += (data[i][j] - mean[j]) * (data[i][j] - mean[j]);
        stddev[j] /= n;
        stddev[j] = sqrt(stddev[j]);
        stddev[j] = stddev[j] <= eps ? 1.0 : stddev[j];
    }
    for (int i = 0; i < n; i++)
        for (int j = 0; j < m; j++) {
            data[i][j] -= mean[j];
            data[i][j] /= sqrt((double)n) * stddev[j];
        }
    for (int i = 0; i < m - 1; i++) {
        corr[i][i] = 1.0;
        for (int j = i + 1; j < m; j++) {
            corr[i][j] = 0.0;
            for (int k = 0; k < n; k++)
                corr[i][j] += data[k][i] * data[k][j];
            corr[j][i] = corr[i][j];
        }
    }
    corr[m - 1][m - 1] = 1.0;
}

static void init(int m, int n, double data[n][m]) {
    for (int i = 0; i < n; i++)
        for (int j = 0; j < m; j++)
            data[i][j] = ((double)i * j) / m + (i * 17 + j * 5) % 31;
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
    int m = argc > 2 ? atoi(argv[2]) : M;
    double(*data)[m] = malloc(sizeof(double[n][m]));
    double(*corr)[m] = calloc(1, sizeof(double[m][m]));
    double *mean = calloc(m, sizeof(double)), *stddev = calloc(m, sizeof(double));
    init(m, n, data);
    for (int r = 0; r < REPS; r++)
        kernel_correlation(m, n, data, corr, mean, stddev);
    uint64_t h = fnv(1469598103u, stddev, sizeof(double) * m);
    printf("checksum %016llx\n", (unsigned long long)fnv(h, corr, sizeof(double[m][m])));
    free(data);
    free(corr);
    free(mean);
    free(stddev);
    return 0;
}
