// Accumulators at two levels: one per row, one for all.
double f(int n, double a[n][n], double *row) {
    double all = 0.0;
    for (int i = 0; i < n; i++) {
        double s = 0.0;
        for (int j = 0; j < n; j++)
            s += a[i][j];
        row[i] = s;
        all += s;
    }
    return all;
}
