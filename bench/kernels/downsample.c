// downsample: two levels of a pyramid, each pixel the bilinear mean of a 2x2 block, then a difference.
// Sizes are run-time ints, rounded down to even ones (at least 4); arrays are VLAs that may alias; single precision.
// Of interest: stride-2 reads, subscripts x/2 (floor division) in the third nest.
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
#ifndef H
#define H SIZE(1200, 18)
#endif
#ifndef W
#define W SIZE(1600, 22)
#endif
#ifndef REPS
#define REPS SIZE(240, 2)
#endif

__attribute__((noinline)) void kernel_downsample(int h, int w, float in[h][w],
                                                 float half[h / 2][w / 2],
                                                 float quarter[h / 4][w / 4], float detail[h][w]) {
    for (int y = 0; y < h / 2; y++)
        for (int x = 0; x < w / 2; x++)
            half[y][x] = 0.25f * (in[2 * y][2 * x] + in[2 * y][2 * x + 1] + in[2 * y + 1][2 * x] +
                                  in[2 * y + 1][2 * x + 1]);
    for (int y = 0; y < h / 4; y++)
        for (int x = 0; x < w / 4; x++)
            quarter[y][x] = 0.25f * (half[2 * y][2 * x] + half[2 * y][2 * x + 1] +
                                     half[2 * y + 1][2 * x] + half[2 * y + 1][2 * x + 1]);
    for (int y = 0; y < h; y++)
        for (int x = 0; x < w; x++)
            detail[y][x] = in[y][x] - half[y / 2][x / 2];
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
    int h = argc > 1 ? atoi(argv[1]) : H;
    int w = argc > 2 ? atoi(argv[2]) : W;
    h = h < 4 ? 4 : h - h % 2;
    w = w < 4 ? 4 : w - w % 2;
    float(*in)[w] = malloc(sizeof(float[h][w]));
    float(*half)[w / 2] = calloc(1, sizeof(float[h / 2][w / 2]));
    float(*quarter)[w / 4] = calloc(1, sizeof(float[h / 4][w / 4]));
    float(*detail)[w] = calloc(1, sizeof(float[h][w]));
    for (int y = 0; y < h; y++)
        for (int x = 0; x < w; x++)
            in[y][x] = (float)((y * 13 + x * 29 + x * y) % 256) / 256.0f;
    for (int r = 0; r < REPS; r++) {
        kernel_downsample(h, w, in, half, quarter, detail);
        in[r % h][r % w] = 0.5f + detail[h / 2][w / 2] + 0.125f * quarter[0][0];
    }
    uint64_t hash = fnv(1469598103u, quarter, sizeof(float[h / 4][w / 4]));
    printf("checksum %016llx\n", (unsigned long long)fnv(hash, detail, sizeof(float[h][w])));
    free(in);
    free(half);
    free(quarter);
    free(detail);
    return 0;
}
