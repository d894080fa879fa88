// Counters that go by steps that only the program knows: how often the loops run is found in front of them.
#include <stddef.h>

void passes(int n, int dual, const double *wr, const double *wi, double *data) {
    for (int a = 1; a < dual; a++)
        for (int b = 0; b < n; b += 2 * dual) {
            int i = 2 * (b + a), j = 2 * (b + a + dual);
            double re = wr[a] * data[j] - wi[a] * data[j + 1], im = wr[a] * data[j + 1] + wi[a] * data[j];
            data[j] = data[i] - re;
            data[j + 1] = data[i + 1] - im;
            data[i] += re;
            data[i + 1] += im;
        }
}

// One step that is a number, and one that is none.
void mixed(int n, int m, int s, double *a, const double *b) {
    for (int i = 0; i < n; i += s)
        for (int j = 0; j < m; j += 48)
            a[i * 4000 + j] += b[j];
}

// The bound is so many steps away.
void blocks(int n, int m, int s, double *restrict out, const double *restrict in) {
    for (int i = 0; i < n * s; i += s)
        for (int k = 0; k < s; k++)
            for (int j = 0; j < m; j++)
                out[(i + k) * m + j] += in[i * m + j];
}

void rows(long n, int m, long stride, double *a) {
    for (double *row = a; row < a + n; row += stride)
        for (int j = 0; j < m; j++)
            row[j] *= 0.5;
}

void backwards(size_t n, size_t step, double *a) {
    for (size_t i = 8 * step; i > n; i -= step)
        a[i] *= 0.5;
}

// Of the tiles around, the step of the one is a number, of the other none.
void tiles(int n, int t, double a[restrict 2000][2000], double b[restrict 2000][2000]) {
    for (int ii = 0; ii < n; ii += t)
        for (int jj = 0; jj < n; jj += 48)
            for (int i = ii; i < (ii + t < n ? ii + t : n); i++)
                for (int j = jj; j < (jj + 48 < n ? jj + 48 : n); j++)
                    a[i][j] += b[j][i];
}
