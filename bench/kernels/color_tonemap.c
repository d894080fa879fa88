// color_tonemap: interleaved 8-bit RGB -> luminance -> tone curve -> scaled and clamped RGB.
// The size is a run-time long, arrays are linearised and not restrict.
// Of interest: stride-3 accesses, u8 <-> float conversions, clamping by if, a temporary plane.
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
#ifndef PIXELS
#define PIXELS SIZE(600000, 391)
#endif
#ifndef REPS
#define REPS SIZE(300, 2)
#endif

__attribute__((noinline)) void kernel_color_tonemap(long n, const unsigned char *rgb, float *lum,
                                                    float *gain, unsigned char *out) {
    for (long i = 0; i < n; i++)
        lum[i] = 0.299f * rgb[3 * i] + 0.587f * rgb[3 * i + 1] + 0.114f * rgb[3 * i + 2];
    for (long i = 0; i < n; i++) {
        float l = lum[i] / 255.0f;
        float mapped = l * (1.0f + l / 0.64f) / (1.0f + l);
        gain[i] = mapped / (l + 0.001f);
    }
    for (long i = 0; i < n; i++)
        for (int c = 0; c < 3; c++) {
            float v = rgb[3 * i + c] * gain[i] + 0.5f;
            if (v > 255.0f)
                v = 255.0f;
            out[3 * i + c] = (unsigned char)v;
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
    long n = argc > 1 ? atol(argv[1]) : PIXELS;
    unsigned char *rgb = malloc(3 * n), *out = malloc(3 * n);
    float *lum = malloc(sizeof(float) * n), *gain = malloc(sizeof(float) * n);
    for (long i = 0; i < 3 * n; i++) {
        rgb[i] = (unsigned char)(i * 7 + i / 300);
        out[i] = 0;
    }
    for (int r = 0; r < REPS; r++) {
        kernel_color_tonemap(n, rgb, lum, gain, out);
        rgb[r % n] = out[(r * 5) % n];
    }
    printf("checksum %016llx\n", (unsigned long long)fnv(1469598103u, out, 3 * n));
    free(rgb);
    free(out);
    free(lum);
    free(gain);
    return 0;
}
