/* Tiled in the source: `step` is how long the inner loops are, and no size of the matrices. */
void transpose(int n, int step, double *restrict a, double *restrict b) {
    for (int it = 0; it < n; it += step)
        for (int jt = 0; jt < n; jt += step)
            for (int i = it; i < (it + step < n ? it + step : n); i++)
                for (int j = jt; j < (jt + step < n ? jt + step : n); j++)
                    b[i * n + j] += a[j * n + i];
}
