// complex_rotate: multiplies a vector of interleaved complex numbers by another, then accumulates power.
// The size is a run-time size_t, pointers are not restrict; single precision.
// Of interest: stride-2 loads and stores in two adjacent loops, the second reads what the first wrote.
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
#ifndef N
#define N SIZE(100000, 97)
#endif
#ifndef REPS
#define REPS SIZE(7000, 3)
#endif

__attribute__((noinline)) void kernel_complex_rotate(size_t n, float *z, float *w, float *power) {
    for (size_t i = 0; i < n; i++) {
        float re = z[2 * i] * w[2 * i] - z[2 * i + 1] * w[2 * i + 1];
        float im = z[2 * i] * w[2 * i + 1] + z[2 * i + 1] * w[2 * i];
        z[2 * i] = re;
        z[2 * i + 1] = im;
    }
    for (size_t i = 0; i < n; i++)
        power[i] = 0.5f * power[i] + z[2 * i] * z[2 * i] + z[2 * i + 1] * z[2 * i + 1];
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
    size_t n = argc > 1 ? strtoul(argv[1], NULL, 10) : N;
    float *z = malloc(sizeof(float) * 2 * n), *w = malloc(sizeof(float) * 2 * n);
    float *power = calloc(n, sizeof(float));
    for (size_t i = 0; i < n; i++) {
        z[2 * i] = (float)(i % 100 + 1) / 100.0f;
        z[2 * i + 1] = (float)(i % 37) / 37.0f;
        w[2 * i] = i % 2 ? 0.6f : 0.8f;
        w[2 * i + 1] = i % 2 ? 0.8f : -0.6f;
    }
    for (int r = 0; r < REPS; r++)
        kernel_complex_rotate(n, z, w, power);
    uint64_t h = fnv(1469598103u, z, sizeof(float) * 2 * n);
    printf("checksum %016llx\n", (unsigned long long)fnv(h, power, sizeof(float) * n));
    free(z);
    free(w);
    free(power);
    return 0;
}
