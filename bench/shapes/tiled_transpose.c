// tiled_transpose: a transposed matrix is added to another, tiled in the source with a size that only the run knows.
// Of interest: the loops over a tile are short, which nothing but the step of the loops around them says.
#include "common.h"

#ifndef N
#define N SIZE(2500, 13)
#endif
#ifndef REPS
#define REPS SIZE(10, 2)
#endif

static int least(int a, int b) { return a < b ? a : b; }

__attribute__((noinline)) void kernel_tiled_transpose(int n, int tile, double *restrict a, double *restrict b) {
    for (int it = 0; it < n; it += tile)
        for (int jt = 0; jt < n; jt += tile)
            for (int i = it; i < least(n, it + tile); i++)
                for (int j = jt; j < least(n, jt + tile); j++) {
                    b[i * n + j] += a[j * n + i];
                    a[j * n + i] += 1.0;
                }
}

static double a[N * N], b[N * N];

int main(int argc, char **argv) {
    int n = argc > 1 ? atoi(argv[1]) : N, tile = argc > 2 ? atoi(argv[2]) : 32;
    for (int i = 0; i < N * N; i++)
        a[i] = content(i), b[i] = content(7L * i);
    for (int r = 0; r < REPS; r++)
        kernel_tiled_transpose(n, tile, a, b);
    print(b, sizeof b);
    return 0;
}
