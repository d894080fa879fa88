// One relaxation with periodic boundaries, as the pieces of a generator, then the test whether something still moves.
#include <math.h>

#define POINT(i, above, below, j, left, right) \
    a[i][j] = (b[i][j] + b[above][j] + b[below][j] + b[i][left] + b[i][right]) / 5

#define ROW(i, above, below)                     \
    {                                            \
        POINT(i, above, below, 0, n - 1, 1);     \
        for (int j = 1; j < n - 1; j++)          \
            POINT(i, above, below, j, j - 1, j + 1); \
        POINT(i, above, below, n - 1, n - 2, 0); \
    }

int convolution(int n, const double b[restrict n][n], double a[restrict n][n], double eps) {
    ROW(0, n - 1, 1)
    for (int i = 1; i < n - 1; i++)
        ROW(i, i - 1, i + 1)
    ROW(n - 1, n - 2, 0)

    int moves = 0;
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++)
            moves |= fabs(a[i][j] - b[i][j]) > eps;
    return moves;
}
