// Rows of unknown length, walked from their end.
void f(int n, int m, double a[n][m], double b[n][m]) {
    for (int i = 0; i < n; i++)
        for (int j = m - 1; j >= 0; j--)
            a[i][j] = b[i][j];
}
