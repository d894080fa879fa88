// emit fuse(@0, @1)
#include <stdint.h>
void integers(int n, uint32_t *restrict a, const int16_t *restrict b, int64_t *restrict c) {
  for (int i = 0; i < n; i++)
    a[i] = (a[i] >> 3) * 7u + (uint32_t)b[i] / 3u;
  for (int i = 0; i < n; i++)
    if (b[i] > 4)
      c[i] = c[i] % 5 - b[i] * (int64_t)a[i];
}
