#include <stdint.h>
void halves(uint16_t n, uint16_t m, float *a) {
    for (uint16_t j = 0; j < m; j++)
        for (uint16_t i = 0; i < n; i++) a[i * m + j] *= 2;
}
void window(int n, int m, float *restrict out, const float *restrict in, const float *restrict w) {
    for (int y = 0; y < n; y++)
        for (int x = 0; x < n; x++) {
            float sum = 0;
            for (int i = 0; i < m; i++)
                for (int j = 0; j < m; j++) sum += in[(y + i) * (n + m) + x + j] * w[i * m + j];
            out[y * n + x] = sum;
        }
}
void from(unsigned lo, unsigned n, float *a) {
    for (unsigned x = lo; x != n; x++)
        for (unsigned y = lo; y != n; y++) a[y * n + x] *= 2;
}
