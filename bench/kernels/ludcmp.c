// ludcmp: LU decomposition with a scalar accumulator, then forward and backward substitution.
// The size is a constant, all arrays are globals.
// Of interest: the accumulator w is one scalar shared by all loops; the last loop counts down.
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
#define N SIZE(800, 19)
#endif
#ifndef REPS
#define REPS SIZE(1, 1)
#endif

static double A[N][N], b[N], x[N], y[N];

__attribute__((noinline)) void kernel_ludcmp(void) {
    int i, j, k;
    double w;
    for (i = 0; i < N; i++) {
        for (j = 0; j < i; j++) {
            w = A[i][j];
            for (k = 0; k < j; k++)
                w -= A[i][k] * A[k][j];
            A[i][j] = w / A[j][j];
        }
        for (j = i; j < N; j++) {
            w = A[i][j];
            for (k = 0; k < i; k++)
                w -= A[i][k] * A[k][j];
            A[i][j] = w;
        }
    }
    for (i = 0; i < N; i++) {
        w = b[i];
        for (j = 0; j < i; j++)
            w -= A[i][j] * y[j];
        y[i] = w;
    }
    for (i = N - 1; i >= 0; i--) {
        w = y[i];
        for (j = i + 1; j < N; j++)
            w -= A[i][j] * x[j];
        x[i] = w / A[i][i];
    }
}

static void init(void) {
    for (int i = 0; i < N; i++) {
        b[i] = (i + 1) / (2.0 * N) + 4;
        for (int j = 0; j < N; j++)
            A[i][j] = ((i * 11 + j * 5 + i * j) % 107) / (107.0 * N);
        A[i][i] += 2.0;
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

int main(void) {
    init();
    for (int r = 0; r < REPS; r++)
        kernel_ludcmp();
    uint64_t h = fnv(1469598103u, x, sizeof x);
    h = fnv(h, y, sizeof y);
    printf("checksum %016llx\n", (unsigned long long)fnv(h, A, sizeof A));
    return 0;
}
