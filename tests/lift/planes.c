// Eight planes side by side, each a multiple of one product behind the first.
#include <stddef.h>
void f(size_t n, size_t m, const double *restrict a, double *restrict b) {
    for (size_t k = 0; k < m; ++k)
        for (size_t i = 0; i < n; ++i) {
            double x = a[i + n * (8 * k)], y = a[i + n * (8 * k + 7)];
            b[i + n * k] = x + y;
            b[i + n * (k + m)] = x - y;
            b[i + n * (k + m * 2)] = x + 2 * y;
            b[i + n * (k + m * 3)] = x + 3 * y;
            b[i + n * (k + m * 4)] = x + 4 * y;
            b[i + n * (k + m * 5)] = x + 5 * y;
            b[i + n * (k + m * 6)] = x + 6 * y;
            b[i + n * (k + m * 7)] = x + 7 * y;
        }
}
