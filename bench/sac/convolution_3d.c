// One relaxation with periodic boundaries, as the pieces of a generator, then the test whether something still moves.
#include <math.h>

#define POINT(h, over, under, i, above, below, j, left, right)                                        \
    a[h][i][j] = (b[h][i][j] + b[over][i][j] + b[under][i][j] + b[h][above][j] + b[h][below][j] +     \
                  b[h][i][left] + b[h][i][right]) / 7

#define ROW(h, over, under, i, above, below)                             \
    {                                                                    \
        POINT(h, over, under, i, above, below, 0, n - 1, 1);             \
        for (int j = 1; j < n - 1; j++)                                  \
            POINT(h, over, under, i, above, below, j, j - 1, j + 1);     \
        POINT(h, over, under, i, above, below, n - 1, n - 2, 0);         \
    }

#define PLANE(h, over, under)                        \
    {                                                \
        ROW(h, over, under, 0, n - 1, 1)             \
        for (int i = 1; i < n - 1; i++)              \
            ROW(h, over, under, i, i - 1, i + 1)     \
        ROW(h, over, under, n - 1, n - 2, 0)         \
    }

int convolution(int n, const double b[restrict n][n][n], double a[restrict n][n][n], double eps) {
    PLANE(0, n - 1, 1)
    for (int h = 1; h < n - 1; h++)
        PLANE(h, h - 1, h + 1)
    PLANE(n - 1, n - 2, 0)

    int moves = 0;
    for (int h = 0; h < n; h++)
        for (int i = 0; i < n; i++)
            for (int j = 0; j < n; j++)
                moves |= fabs(a[h][i][j] - b[h][i][j]) > eps;
    return moves;
}
