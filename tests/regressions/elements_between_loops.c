// Which element is known once the outer loop has read it, beside a loop inside.
__attribute__((noinline)) void gather(long n, const unsigned char *restrict index, double (*restrict b)[8], double *restrict out) {
  double sums[256];
  for (int i = 0; i < 256; i++)
    sums[i] = 0.25 * i;
  for (long i = 0; i < n; i++) {
    for (int j = 0; j < 8; j++)
      b[i][j] = b[i][j] * 0.5 + j;
    sums[index[i]] += b[i][3];
  }
  for (int i = 0; i < 256; i++)
    out[i] = sums[i];
}
