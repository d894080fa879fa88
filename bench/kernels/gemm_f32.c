// gemm_f32: C = A*B in single precision, textbook dot products with a scalar sum.
// Sizes are constants, arrays are globals.
// Of interest: a float reduction that may not be reassociated; the parallel loops are i and j.
// Strict floating point is expected: compile with -ffp-contract=off.
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#ifdef SMALL
#define SIZE(full, small) (small)
#else
#define SIZE(full, small) (full)
#endif
#ifndef N
#define N SIZE(900, 19)
#endif
#ifndef REPS
#define REPS SIZE(1, 2)
#endif

static float A[N][N], B[N][N], C[N][N];

__attribute__((noinline)) void kernel_gemm_f32(void) {
    for (int i = 0; i < N; i++) {
        for (int j = 0; j < N; j++) {
            float sum = 0.0f;
            for (int k = 0; k < N; k++)
                sum += A[i][k] * B[k][j];
            C[i][j] = sum;
        }
    }
}

static void init(void) {
    for (int i = 0; i < N; i++)
        for (int j = 0; j < N; j++) {
            A[i][j] = (float)((i * j + 3) % 101) / 101.0f;
            B[i][j] = (float)((i + 2 * j) % 79) / (79.0f * N);
        }
}

static void feed_back(void) {
    for (int i = 0; i < N; i++)
        for (int j = 0; j < N; j++)
            A[i][j] = 0.5f + 0.5f * C[i][j];
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
        kernel_gemm_f32();
        feed_back();
    }
    printf("checksum %016llx\n", (unsigned long long)fnv(1469598103u, C, sizeof C));
    return 0;
}
