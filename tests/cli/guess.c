// Steps in time over planes of which nobody states the size.
void relax(int steps, int n, double *restrict x, double *restrict y) {
    for (int t = 0; t < steps; t++) {
        for (int i = 1; i < n - 1; i++)
            for (int j = 1; j < n - 1; j++)
                y[i * n + j] = 0.25 * (x[i * n + j - 1] + x[i * n + j + 1] + x[i * n + n + j] + x[i * n - n + j]);
        for (int i = 1; i < n - 1; i++)
            for (int j = 1; j < n - 1; j++)
                x[i * n + j] = 0.25 * (y[i * n + j - 1] + y[i * n + j + 1] + y[i * n + n + j] + y[i * n - n + j]);
    }
}
