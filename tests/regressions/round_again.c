// Two ways through a loop that meet only one iteration later: the nest that both lead to is one nest.
enum { N = 40 };
static int a[N][N], b[N][N], last[1];

__attribute__((noinline)) void rounds(const int *x, long n) {
  int i;
  for (i = 0;; i++) {
    if (i < n)
      goto nest;
    if (x[i % N] % 4 == 0)
      break;
  nest:
    for (int j = 0; j < N; j++)
      for (int k = 0; k < N; k++)
        a[k][j] += b[k][j] * 3;
  }
  last[0] = i;
}

void all(long n, int *out) {
  for (int i = 0; i < N; i++) {
    out[i] = i * 7 + 1;
    for (int j = 0; j < N; j++)
      a[i][j] = i * 5 - j, b[i][j] = i ^ j;
  }
  rounds(out, n);
  for (int i = 0; i < n; i++) {
    out[i] = last[0];
    for (int j = 0; j < N; j++)
      out[i] = out[i] * 31 + a[i][j];
  }
}
