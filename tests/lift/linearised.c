// A two-dimensional array indexed by hand.
void f(int n, int m, float *a, float *b) {
    for (int i = 0; i < n; i++)
        for (int j = 0; j < m; j++)
            a[i * m + j] = b[j * n + i];
}
