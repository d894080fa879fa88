// lu: in-place LU decomposition without pivoting, A = L*U.
// The size is a constant, the array is an argument.
// Of interest: triangular loops, dot products of a row with a column of the same array.
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
#define N SIZE(1000, 19)
#endif
#ifndef REPS
#define REPS SIZE(1, 1)
#endif

__attribute__((noinline)) void kernel_lu(double A[N][N]) {
    for (int i = 0; i < N; i++) {
        for (int j = 0; j < i; j++) {
            for (int k = 0; k < j; k++)
                A[i][j] -= A[i][k] * A[k][j];
            A[i][j] /= A[j][j];
        }
        for (int j = i; j < N; j++)
            for (int k = 0; k < i; k++)
                A[i][j] -= A[i][k] * A[k][j];
    }
}

static double A[N][N];

static void init(void) {
    for (int i = 0; i < N; i++) {
        for (int j = 0; j < N; j++)
            A[i][j] = ((i * 7 + j * 13 + i * j) % 101) / (101.0 * N);
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
        kernel_lu(A);
    printf("checksum %016llx\n", (unsigned long long)fnv(1469598103u, A, sizeof A));
    return 0;
}
