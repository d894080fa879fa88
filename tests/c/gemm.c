// emit interchange(j, k); tile(i, k; 32, 16)
void gemm(int n, int m, double A[n][m], double B[n][m], double C[n][m], double alpha) {
  for (int i = 0; i < n - 1; i++)
    for (int j = 0; j < m; j++)
      for (int k = 0; k < m; k++)
        C[i][j] += alpha * A[i][k] * B[k][j];
}
