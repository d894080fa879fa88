// A three-dimensional array with run-time extents: subscripts are products of parameters.
void f(int n, int m, int p, double a[n][m][p], double b[n][m][p]) {
    for (int i = 0; i < n; i++)
        for (int j = 0; j < m; j++)
            for (int k = 1; k < p; k++)
                a[i][j][k] = b[i][j][k] + b[i][j][k - 1];
}
