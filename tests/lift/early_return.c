// A return from the middle of a nest.
int f(int n, int a[n][n], int *b) {
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++) {
            if (a[i][j] < 0)
                return i * n + j;
            b[i] += a[i][j];
        }
    return -1;
}
