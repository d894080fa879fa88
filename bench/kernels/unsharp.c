// unsharp: unsharp mask of a planar RGB image: blur x, blur y, sharpen, threshold.
// Sizes are constants, arrays are arguments that may alias; single precision.
// Of interest: four stages over [channel][y][x]; the threshold is a data-dependent select with fabsf.
// Strict floating point is expected: compile with -ffp-contract=off.
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#ifdef SMALL
#define SIZE(full, small) (small)
#else
#define SIZE(full, small) (full)
#endif
#ifndef H
#define H SIZE(500, 17)
#endif
#ifndef W
#define W SIZE(700, 23)
#endif
#ifndef REPS
#define REPS SIZE(150, 2)
#endif

__attribute__((noinline)) void kernel_unsharp(float threshold, float weight, float img[3][H][W],
                                              float blurx[3][H][W], float blury[3][H][W],
                                              float sharp[3][H][W], float mask[3][H][W]) {
    int c, y, x;
    for (c = 0; c < 3; c++)
        for (y = 2; y < H - 2; y++)
            for (x = 0; x < W; x++)
                blurx[c][y][x] = img[c][y - 2][x] * 0.0625f + img[c][y - 1][x] * 0.25f +
                                 img[c][y][x] * 0.375f + img[c][y + 1][x] * 0.25f +
                                 img[c][y + 2][x] * 0.0625f;
    for (c = 0; c < 3; c++)
        for (y = 2; y < H - 2; y++)
            for (x = 2; x < W - 2; x++)
                blury[c][y][x] = blurx[c][y][x - 2] * 0.0625f + blurx[c][y][x - 1] * 0.25f +
                                 blurx[c][y][x] * 0.375f + blurx[c][y][x + 1] * 0.25f +
                                 blurx[c][y][x + 2] * 0.0625f;
    for (c = 0; c < 3; c++)
        for (y = 2; y < H - 2; y++)
            for (x = 2; x < W - 2; x++)
                sharp[c][y][x] = img[c][y][x] * (1.0f + weight) - blury[c][y][x] * weight;
    for (c = 0; c < 3; c++)
        for (y = 2; y < H - 2; y++)
            for (x = 2; x < W - 2; x++) {
                if (fabsf(img[c][y][x] - blury[c][y][x]) < threshold)
                    mask[c][y][x] = img[c][y][x];
                else
                    mask[c][y][x] = sharp[c][y][x];
            }
}

static float img[3][H][W], blurx[3][H][W], blury[3][H][W], sharp[3][H][W], mask[3][H][W];

static void init(void) {
    for (int c = 0; c < 3; c++)
        for (int y = 0; y < H; y++)
            for (int x = 0; x < W; x++)
                img[c][y][x] = (float)((c * 57 + y * 31 + x * 17 + x * y / 8) % 256) / 256.0f;
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
        kernel_unsharp(0.02f, 3.0f, img, blurx, blury, sharp, mask);
        img[r % 3][r % H][r % W] = 0.25f + 0.25f * mask[r % 3][H / 2][W / 2];
    }
    printf("checksum %016llx\n", (unsigned long long)fnv(1469598103u, mask, sizeof mask));
    return 0;
}
