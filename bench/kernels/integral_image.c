// integral_image: summed-area table of a byte image, then a box mean of radius R from it.
// Sizes are run-time ints, arrays are VLAs that may alias; u8 and i32.
// Of interest: prefix sums in both dimensions (a recurrence), then four distant reads per pixel.
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
#define H SIZE(1000, 23)
#endif
#ifndef W
#define W SIZE(1400, 27)
#endif
#ifndef R
#define R SIZE(4, 2)
#endif
#ifndef REPS
#define REPS SIZE(80, 2)
#endif

__attribute__((noinline)) void kernel_integral_image(int h, int w, int r, unsigned char in[h][w],
                                                     int sum[h][w], int mean[h][w]) {
    for (int y = 0; y < h; y++)
        for (int x = 0; x < w; x++)
            sum[y][x] = in[y][x];
    for (int y = 0; y < h; y++)
        for (int x = 1; x < w; x++)
            sum[y][x] += sum[y][x - 1];
    for (int x = 0; x < w; x++)
        for (int y = 1; y < h; y++)
            sum[y][x] += sum[y - 1][x];
    for (int y = r + 1; y < h - r; y++)
        for (int x = r + 1; x < w - r; x++)
            mean[y][x] = (sum[y + r][x + r] - sum[y - r - 1][x + r] - sum[y + r][x - r - 1] +
                          sum[y - r - 1][x - r - 1]) /
                         ((2 * r + 1) * (2 * r + 1));
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
    int r = argc > 3 ? atoi(argv[3]) : R;
    unsigned char(*in)[w] = malloc((size_t)h * w);
    int(*sum)[w] = malloc(sizeof(int[h][w]));
    int(*mean)[w] = calloc(1, sizeof(int[h][w]));
    for (int y = 0; y < h; y++)
        for (int x = 0; x < w; x++)
            in[y][x] = (unsigned char)(y * 3 + x * 5 + x * y / 64);
    for (int rep = 0; rep < REPS; rep++) {
        kernel_integral_image(h, w, r, in, sum, mean);
        in[rep % h][rep % w] = (unsigned char)mean[h / 2][w / 2];
    }
    printf("checksum %016llx\n", (unsigned long long)fnv(1469598103u, mean, sizeof(int[h][w])));
    free(in);
    free(sum);
    free(mean);
    return 0;
}
