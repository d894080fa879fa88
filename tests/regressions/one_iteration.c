// Blocks of one element: LLVM knows that the counter is zero, and what it is behind the only iteration.
#define BLOCK 1
__attribute__((noinline)) void columns(int n, double (*restrict b)[BLOCK], const double (*restrict a)[64]) {
  for (int j = 0; j < 64; j++)
    for (int i = 0; i < n; i++)
      for (int k = 0; k < BLOCK; k++)
        b[i][k] += a[i][j + k];
}
