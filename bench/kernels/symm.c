// symm: C = beta*C + alpha*A*B, A symmetric with only its lower triangle stored.
// Sizes are constants, arrays are arguments that may alias.
// Of interest: a scatter to C[k][j] and a reduction into a scalar in the same triangular loop.
// Strict floating point is expected: compile with -ffp-contract=off.
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#ifdef SMALL
#define SIZE(full, small) (small)
#else
#define SIZE(full, small) (full)
#endif
#ifndef M
#define M SIZE(680, 13)
#endif
#ifndef N
#define N SIZE(720, 17)
#endif
#ifndef REPS
#define REPS SIZE(1, 2)
#endif

__attribute__((noinline)) void kernel_symm(double alpha, double beta, double C[M][N],
                                           double A[M][M], double B[M][N]) {
    for (int i = 0; i < M; i++)
        for (int j = 0; j < N; j++) {
            double temp = 0.0;
            for (int k = 0; k < i; k++) {
                C[k][j] += alpha * B[i][j] * A[i][k];
                temp += B[k][j] * A[i][k];
            }
            C[i][j] = beta * C[i][j] + alpha * B[i][j] * A[i][i] + alpha * temp;
        }
}

static double A[M][M], B[M][N], C[M][N];

static void init(void) {
    for (int i = 0; i < M; i++) {
        for (int j = 0; j < N; j++) {
            C[i][j] = ((i + j) % 100) / 100.0;
            B[i][j] = ((N + i - j) % 100) / (100.0 * M);
        }
        for (int j = 0; j < M; j++)
            A[i][j] = j <= i ? ((i + j) % 100) / 100.0 : -999.0;
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
        kernel_symm(1.5, 0.25, C, A, B);
    printf("checksum %016llx\n", (unsigned long long)fnv(1469598103u, C, sizeof C));
    return 0;
}
