// blur_chain: horizontal blur, vertical blur, then the difference to the input, through temporaries.
// Sizes are run-time ints, arrays are VLAs that may alias; single precision.
// Of interest: three adjacent nests over slightly different ranges; the temporaries could be line buffers.
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
#define H SIZE(1000, 17)
#endif
#ifndef W
#define W SIZE(1500, 23)
#endif
#ifndef REPS
#define REPS SIZE(180, 2)
#endif

__attribute__((noinline)) void kernel_blur_chain(int h, int w, float in[h][w], float tmp[h][w],
                                                 float blur[h][w], float out[h][w]) {
    for (int y = 0; y < h; y++)
        for (int x = 1; x < w - 1; x++)
            tmp[y][x] = 0.25f * in[y][x - 1] + 0.5f * in[y][x] + 0.25f * in[y][x + 1];
    for (int y = 1; y < h - 1; y++)
        for (int x = 1; x < w - 1; x++)
            blur[y][x] = 0.25f * tmp[y - 1][x] + 0.5f * tmp[y][x] + 0.25f * tmp[y + 1][x];
    for (int y = 1; y < h - 1; y++)
        for (int x = 1; x < w - 1; x++)
            out[y][x] = in[y][x] - blur[y][x];
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
    size_t bytes = sizeof(float[h][w]);
    float(*in)[w] = malloc(bytes);
    float(*tmp)[w] = calloc(1, bytes);
    float(*blur)[w] = calloc(1, bytes);
    float(*out)[w] = calloc(1, bytes);
    for (int y = 0; y < h; y++)
        for (int x = 0; x < w; x++)
            in[y][x] = (float)((y * 31 + x * 17 + x * y) % 256) / 256.0f;
    for (int r = 0; r < REPS; r++) {
        kernel_blur_chain(h, w, in, tmp, blur, out);
        in[r % h][r % w] = 0.5f + out[r % h][r % w];
    }
    uint64_t hash = fnv(1469598103u, blur, bytes);
    printf("checksum %016llx\n", (unsigned long long)fnv(hash, out, bytes));
    free(in);
    free(tmp);
    free(blur);
    free(out);
    return 0;
}
