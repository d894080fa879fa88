// triangle_solve: a column of a triangle at a time is subtracted from a vector, at a size that fits the second level of cache.
// Of interest: the inner loop gets shorter and shorter, and walks along a row.
#include "common.h"

#ifndef N
#define N SIZE(256, 11)
#endif
#ifndef REPS
#define REPS SIZE(20000, 2)
#endif

__attribute__((noinline)) void kernel_triangle_solve(double a[N], double aa[N][N]) {
    for (int j = 0; j < N; j++)
        for (int i = j + 1; i < N; i++)
            a[i] -= aa[j][i] * a[j];
}

static double a[N], aa[N][N];

int main(void) {
    for (int i = 0; i < N; i++)
        a[i] = content(i);
    for (int i = 0; i < N; i++)
        for (int j = 0; j < N; j++)
            aa[i][j] = content(i + 3L * j) / (4.0 * N);
    for (int r = 0; r < REPS; r++) {
        // No repetition of the solution decays to denormals.
        for (int i = 0; i < N; i++)
            a[i] = a[i] / 2.0 + content(i + r);
        kernel_triangle_solve(a, aa);
    }
    print(a, sizeof a);
    return 0;
}
