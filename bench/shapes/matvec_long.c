// matvec_long: y = A x for many short rows of floats; one long stream that is prefetched well.
// Of interest: jammed rows make several short streams.
#include "common.h"

#ifndef N
#define N SIZE(32000, 13)
#endif
#ifndef M
#define M SIZE(288, 9)
#endif
#ifndef REPS
#define REPS SIZE(100, 2)
#endif

__attribute__((noinline)) void kernel_matvec_long(int n, int m, float a[n][m], const float x[m], float y[n]) {
    for (int i = 0; i < n; i++) {
        float sum = 0.0f;
        for (int j = 0; j < m; j++)
            sum += a[i][j] * x[j];
        y[i] = sum;
    }
}

static float a[N][M], x[M], y[N];

int main(int argc, char **argv) {
    int n = argc > 1 ? atoi(argv[1]) : N, m = argc > 2 ? atoi(argv[2]) : M;
    for (int i = 0; i < N; i++)
        for (int j = 0; j < M; j++)
            a[i][j] = (float)content(i + 3L * j);
    for (int j = 0; j < M; j++)
        x[j] = (float)content(5L * j);
    for (int r = 0; r < REPS; r++)
        kernel_matvec_long(n, m, (float(*)[m])a, x, y);
    print(y, sizeof y);
    return 0;
}
