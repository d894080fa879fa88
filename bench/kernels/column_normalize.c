// column_normalize: every column is divided by its sum, column by column.
// Sizes are constants, arrays are arguments that may alias.
// Of interest: the outer loop runs over columns of a row-major array; interchange gives unit stride.
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
#define N SIZE(1100, 19)
#endif
#ifndef M
#define M SIZE(900, 17)
#endif
#ifndef REPS
#define REPS SIZE(200, 2)
#endif

__attribute__((noinline)) void kernel_column_normalize(double A[N][M], double total[M]) {
    for (int j = 0; j < M; j++) {
        double sum = 0.0;
        for (int i = 0; i < N; i++)
            sum += A[i][j];
        total[j] = sum;
        for (int i = 0; i < N; i++)
            A[i][j] = A[i][j] / sum + 0.25;
    }
}

static double A[N][M], total[M];

static void init(void) {
    for (int i = 0; i < N; i++)
        for (int j = 0; j < M; j++)
            A[i][j] = 1.0 + ((i * 3 + j * 7) % 19) / 19.0;
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
    for (int r = 0; r < REPS; r++)
        kernel_column_normalize(A, total);
    uint64_t h = fnv(1469598103u, total, sizeof total);
    printf("checksum %016llx\n", (unsigned long long)fnv(h, A, sizeof A));
    return 0;
}
