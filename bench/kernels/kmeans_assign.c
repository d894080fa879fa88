// kmeans_assign: each point gets the index of its nearest centre, then the centres' sums are rebuilt.
// Sizes are run-time ints, arrays are linearised and not restrict; single precision.
// Of interest: running minimum with an index (if), then an indirect write through the label.
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
#ifndef POINTS
#define POINTS SIZE(40000, 41)
#endif
#ifndef CENTRES
#define CENTRES SIZE(37, 5)
#endif
#ifndef DIM
#define DIM SIZE(16, 3)
#endif
#ifndef REPS
#define REPS SIZE(30, 2)
#endif

__attribute__((noinline)) void kernel_kmeans_assign(int npoints, int ncentres, int dim, float *points,
                                                    float *centres, int *label, float *best,
                                                    float *sum, int *count) {
    for (int i = 0; i < npoints; i++) {
        best[i] = 3.0e38f;
        label[i] = 0;
        for (int c = 0; c < ncentres; c++) {
            float dist = 0.0f;
            for (int d = 0; d < dim; d++) {
                float diff = points[i * dim + d] - centres[c * dim + d];
                dist += diff * diff;
            }
            if (dist < best[i]) {
                best[i] = dist;
                label[i] = c;
            }
        }
    }
    for (int i = 0; i < npoints; i++) {
        count[label[i]]++;
        for (int d = 0; d < dim; d++)
            sum[label[i] * dim + d] += points[i * dim + d];
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
    int np = argc > 1 ? atoi(argv[1]) : POINTS;
    int nc = argc > 2 ? atoi(argv[2]) : CENTRES;
    int dim = argc > 3 ? atoi(argv[3]) : DIM;
    float *points = malloc(sizeof(float) * np * dim), *centres = malloc(sizeof(float) * nc * dim);
    float *best = calloc(np, sizeof(float)), *sum = calloc(nc * dim, sizeof(float));
    int *label = calloc(np, sizeof(int)), *count = calloc(nc, sizeof(int));
    for (int i = 0; i < np; i++)
        for (int d = 0; d < dim; d++)
            points[i * dim + d] = (float)((i * 31 + d * 17 + i * d) % 997) / 997.0f;
    for (int c = 0; c < nc; c++)
        for (int d = 0; d < dim; d++)
            centres[c * dim + d] = points[(c * 7 % np) * dim + d];
    for (int r = 0; r < REPS; r++) {
        kernel_kmeans_assign(np, nc, dim, points, centres, label, best, sum, count);
        for (int c = 0; c < nc; c++) {
            for (int d = 0; d < dim; d++) {
                if (count[c] > 0)
                    centres[c * dim + d] = sum[c * dim + d] / (float)count[c];
                sum[c * dim + d] = 0.0f;
            }
            count[c] = 0;
        }
    }
    uint64_t h = fnv(1469598103u, label, sizeof(int) * np);
    h = fnv(h, best, sizeof(float) * np);
    printf("checksum %016llx\n", (unsigned long long)fnv(h, centres, sizeof(float) * nc * dim));
    free(points);
    free(centres);
    free(best);
    free(sum);
    free(label);
    free(count);
    return 0;
}
