// Strides that are values of their own: a plane is so many rows where the one is a multiple of the other.
void scaled(long n, long row, long plane, double *x) {
    for (long k = 0; k < n; k++)
        for (long j = 0; j < n; j++)
            for (long i = 0; i < n; i++)
                x[i + j * row + k * plane] *= 2;
}

// Neighbours in the outermost loop: the innermost has the greatest stride.
void columns(int n, unsigned row, int plane, float *x, const float *y) {
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++)
            for (int k = 0; k < n; k++)
                x[i + j * row + (long)k * plane] += y[k];
}

void pairs(int n, int column, int row, double *x, const double *y) {
    for (int j = 0; j < n; j++)
        for (int i = 0; i < n; i++)
            x[2 * (column * i + row * j)] += y[2 * (column * i + row * j) + 1];
}

// A table of tables: that of each plane is one of rows.
void table(int n, double ***u) {
    for (int k = 0; k < n; k++)
        for (int i = 0; i < n; i++)
            for (int j = 0; j < n; j++)
                u[k][j][i] += 1;
}

// The greater stride is read between loops that are a region of their own.
void behind(long n, long column, long *restrict x, long *restrict y) {
    for (long i = 0; i < n; i++)
        y[i] += 1;
    long row = y[0];
    for (long i = 0; i < n; i++)
        y[i] = y[i] * 2 + row;
    for (long j = 0; j < n; j++)
        for (long i = 0; i < n; i++)
            x[i * column + j * row] += 3;
}
