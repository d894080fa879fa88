// conv2d_layer: convolution of several input channels into several output channels, bias and ReLU.
// Sizes are constants, arrays are arguments that may alias; single precision.
// Of interest: seven loops in the order of the formula; the three inner ones are short.
// Strict floating point is expected: compile with -ffp-contract=off.
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#ifdef SMALL
#define SIZE(full, small) (small)
#else
#define SIZE(full, small) (full)
#endif
#ifndef CO
#define CO SIZE(24, 5)
#endif
#ifndef CI
#define CI SIZE(20, 3)
#endif
#ifndef H
#define H SIZE(64, 11)
#endif
#ifndef W
#define W SIZE(66, 13)
#endif
#ifndef K
#define K SIZE(3, 3)
#endif
#ifndef REPS
#define REPS SIZE(40, 2)
#endif

__attribute__((noinline)) void kernel_conv2d_layer(float out[CO][H][W],
                                                   float in[CI][H + K - 1][W + K - 1],
                                                   float weight[CO][CI][K][K], float bias[CO]) {
    for (int o = 0; o < CO; o++)
        for (int y = 0; y < H; y++)
            for (int x = 0; x < W; x++) {
                out[o][y][x] = bias[o];
                for (int c = 0; c < CI; c++)
                    for (int ky = 0; ky < K; ky++)
                        for (int kx = 0; kx < K; kx++)
                            out[o][y][x] += in[c][y + ky][x + kx] * weight[o][c][ky][kx];
            }
    for (int o = 0; o < CO; o++)
        for (int y = 0; y < H; y++)
            for (int x = 0; x < W; x++)
                if (out[o][y][x] < 0.0f)
                    out[o][y][x] = 0.0f;
}

static float out[CO][H][W], in[CI][H + K - 1][W + K - 1], weight[CO][CI][K][K], bias[CO];

static void init(void) {
    for (int c = 0; c < CI; c++)
        for (int y = 0; y < H + K - 1; y++)
            for (int x = 0; x < W + K - 1; x++)
                in[c][y][x] = (float)((c * 7 + y * 3 + x * 5) % 64) / 64.0f;
    for (int o = 0; o < CO; o++) {
        bias[o] = (float)(o % 5) * 0.1f - 0.2f;
        for (int c = 0; c < CI; c++)
            for (int ky = 0; ky < K; ky++)
                for (int kx = 0; kx < K; kx++)
                    weight[o][c][ky][kx] = (float)((o * 3 + c * 5 + ky + kx * 2) % 9 - 4) / 64.0f;
    }
}

static void feed_back(void) {
    for (int y = 0; y < H; y++)
        for (int x = 0; x < W; x++)
            in[y % CI][y][x] = 0.5f + 0.125f * out[x % CO][y][x];
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
        kernel_conv2d_layer(out, in, weight, bias);
        feed_back();
    }
    printf("checksum %016llx\n", (unsigned long long)fnv(1469598103u, out, sizeof out));
    return 0;
}
