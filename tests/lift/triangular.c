// The inner bound is the outer counter.
void f(int n, double a[n][n]) {
    for (int i = 0; i < n; i++)
        for (int j = 0; j <= i; j++)
            a[i][j] = a[i][j] + 1.0;
}
