// Becomes a memset when optimised: an intrinsic with a byte range.
void f(int n, int m, double a[n][m]) {
    for (int i = 0; i < n; i++)
        for (int j = 0; j < m; j++)
            a[i][j] = 0.0;
}
