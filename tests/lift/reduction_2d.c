// One sum over a matrix: the scalar passes through both loops and is one, so that the loops are free to change places.
int f(int n, int a[n][n]) {
    int s = 0;
    for (int j = 0; j < n; j++)
        for (int i = 0; i < n; i++)
            s += a[i][j];
    return s;
}

// Where how often the inner loop runs is read in it.
int g(const long *n, int m, const int *a) {
    int s = 0;
    for (int j = 0; j < m; j++)
        for (long i = 0; i < *n; i++)
            s += a[i * m + j];
    return s;
}
