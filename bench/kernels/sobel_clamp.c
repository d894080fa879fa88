// sobel_clamp: Sobel gradient magnitude |gx| + |gy| on bytes, zero border, clamped to 255.
// Sizes are constants, arrays are arguments that may alias; u8 and i32.
// Of interest: an affine if/else for the border and a data-dependent if/else for the clamp.
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
#define H SIZE(900, 17)
#endif
#ifndef W
#define W SIZE(1200, 23)
#endif
#ifndef REPS
#define REPS SIZE(150, 2)
#endif

__attribute__((noinline)) void kernel_sobel_clamp(unsigned char in[H][W], unsigned char out[H][W]) {
    for (int y = 0; y < H; y++) {
        for (int x = 0; x < W; x++) {
            if (y == 0 || x == 0 || y == H - 1 || x == W - 1) {
                out[y][x] = 0;
            } else {
                int gx = in[y - 1][x + 1] + 2 * in[y][x + 1] + in[y + 1][x + 1] -
                         in[y - 1][x - 1] - 2 * in[y][x - 1] - in[y + 1][x - 1];
                int gy = in[y + 1][x - 1] + 2 * in[y + 1][x] + in[y + 1][x + 1] -
                         in[y - 1][x - 1] - 2 * in[y - 1][x] - in[y - 1][x + 1];
                int g = abs(gx) + abs(gy);
                if (g > 255)
                    out[y][x] = 255;
                else
                    out[y][x] = (unsigned char)g;
            }
        }
    }
}

static unsigned char in[H][W], out[H][W];

static void init(void) {
    for (int y = 0; y < H; y++)
        for (int x = 0; x < W; x++)
            in[y][x] = (unsigned char)(y * 3 + x * 2 + (x / 16 + y / 16) * 50);
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
        kernel_sobel_clamp(in, out);
        in[r % H][r % W] = out[H / 2][(r * 3) % W];
    }
    printf("checksum %016llx\n", (unsigned long long)fnv(1469598103u, out, sizeof out));
    return 0;
}
