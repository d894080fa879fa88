// A pointer that leads into one table, into the other, or elsewhere; the tables are apart.
enum { N = 40 };
static int table[N][N], copy[N][N];

__attribute__((noinline)) void shift(long n, const int *cells) {
  for (long j = 0; j < n; j++)
    for (long i = 0; i < n; i++)
      copy[i][j] = table[i][j] * 3 + cells[i] + copy[i][j] / 2;
}

void tables(long n, int *out) {
  for (int i = 0; i < N; i++)
    for (int j = 0; j < N; j++)
      table[i][j] = i * 7 + j, copy[i][j] = i - j * 5;
  int cells[N];
  for (int i = 0; i < N; i++)
    cells[i] = i * i;
  shift(n, cells);
  shift(n, table[n % N]);
  shift(n, copy[n / 2]);
  shift(n, &copy[0][0] + n / 2);
  for (int i = 0; i < n; i++) {
    out[i] = 0;
    for (int j = 0; j < N; j++)
      out[i] = out[i] * 31 + copy[i][j];
  }
}
