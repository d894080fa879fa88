// mirror_add: below its diagonal a matrix becomes what is above it, plus another; extents are known only at run time.
// Of interest: one array is walked along rows and along columns, in a triangle.
#include "common.h"

#ifndef N
#define N SIZE(1024, 13)
#endif
#ifndef REPS
#define REPS SIZE(150, 2)
#endif

__attribute__((noinline)) void kernel_mirror_add(int n, double aa[n][n], double bb[n][n]) {
    for (int i = 0; i < n; i++)
        for (int j = 0; j < i; j++)
            aa[i][j] = aa[j][i] + bb[i][j];
}

static double aa[N][N], bb[N][N];

int main(int argc, char **argv) {
    int n = argc > 1 ? atoi(argv[1]) : N;
    for (int i = 0; i < N; i++)
        for (int j = 0; j < N; j++)
            aa[i][j] = content(i + 3L * j), bb[i][j] = content(7L * i + j);
    for (int r = 0; r < REPS; r++)
        kernel_mirror_add(n, (double(*)[n])aa, (double(*)[n])bb);
    print(aa, sizeof aa);
    return 0;
}
