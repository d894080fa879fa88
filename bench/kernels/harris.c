// harris: Harris corner response: two gradients, three products, three box sums, one response.
// Sizes are constants, all arrays are globals; single precision.
// Of interest: nine adjacent nests, seven removable temporaries; fusion needs shifts of one row.
// Strict floating point is expected: compile with -ffp-contract=off.
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#ifdef SMALL
#define SIZE(full, small) (small)
#else
#define SIZE(full, small) (full)
#endif
#ifndef H
#define H SIZE(600, 17)
#endif
#ifndef W
#define W SIZE(800, 19)
#endif
#ifndef REPS
#define REPS SIZE(200, 2)
#endif

static float img[H][W], Ix[H][W], Iy[H][W], Ixx[H][W], Iyy[H][W], Ixy[H][W];
static float Sxx[H][W], Syy[H][W], Sxy[H][W], response[H][W];

static void box3(float dst[H][W], float src[H][W]) {
    for (int y = 2; y < H - 2; y++)
        for (int x = 2; x < W - 2; x++)
            dst[y][x] = src[y - 1][x - 1] + src[y - 1][x] + src[y - 1][x + 1] + src[y][x - 1] +
                        src[y][x] + src[y][x + 1] + src[y + 1][x - 1] + src[y + 1][x] +
                        src[y + 1][x + 1];
}

__attribute__((noinline)) void kernel_harris(void) {
    for (int y = 1; y < H - 1; y++)
        for (int x = 1; x < W - 1; x++)
            Ix[y][x] = (img[y - 1][x + 1] - img[y - 1][x - 1] + 2.0f * img[y][x + 1] -
                        2.0f * img[y][x - 1] + img[y + 1][x + 1] - img[y + 1][x - 1]) /
                       12.0f;
    for (int y = 1; y < H - 1; y++)
        for (int x = 1; x < W - 1; x++)
            Iy[y][x] = (img[y + 1][x - 1] - img[y - 1][x - 1] + 2.0f * img[y + 1][x] -
                        2.0f * img[y - 1][x] + img[y + 1][x + 1] - img[y - 1][x + 1]) /
                       12.0f;
    for (int y = 1; y < H - 1; y++)
        for (int x = 1; x < W - 1; x++)
            Ixx[y][x] = Ix[y][x] * Ix[y][x];
    for (int y = 1; y < H - 1; y++)
        for (int x = 1; x < W - 1; x++)
            Iyy[y][x] = Iy[y][x] * Iy[y][x];
    for (int y = 1; y < H - 1; y++)
        for (int x = 1; x < W - 1; x++)
            Ixy[y][x] = Ix[y][x] * Iy[y][x];
    box3(Sxx, Ixx);
    box3(Syy, Iyy);
    box3(Sxy, Ixy);
    for (int y = 2; y < H - 2; y++)
        for (int x = 2; x < W - 2; x++) {
            float det = Sxx[y][x] * Syy[y][x] - Sxy[y][x] * Sxy[y][x];
            float trace = Sxx[y][x] + Syy[y][x];
            response[y][x] = det - 0.04f * trace * trace;
        }
}

static void init(void) {
    for (int y = 0; y < H; y++)
        for (int x = 0; x < W; x++)
            img[y][x] = (float)((y * 31 + x * 17 + (x / 9) * (y / 7) * 40) % 256) / 16.0f;
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
        kernel_harris();
        img[r % H][r % W] = response[H / 2][W / 2] > 0.0f ? 4.0f : 8.0f;
    }
    printf("checksum %016llx\n", (unsigned long long)fnv(1469598103u, response, sizeof response));
    return 0;
}
