/* Recurrences and short loops: described, but in the best order already. */
void smooth(double *a, int n) {
  for (int i = 1; i < n; i++) a[i] = 0.9 * a[i - 1] + 0.1 * a[i];
}

void accumulate(double *restrict sum, const double *restrict x, int n) {
  double s = 0;
  for (int i = 0; i < n; i++) {
    s += x[i];
    sum[i] = s;
  }
}

void scale(double *restrict y, const double *restrict x, double f, int n) {
  for (int i = 0; i < n; i++) y[i] = f * x[i];
}

double dot3(const double *a, const double *b) {
  double s = 0;
  for (int i = 0; i < 3; i++) s += a[i] * b[i];
  return s;
}

void tridiagonal(double *restrict x, const double *restrict a, const double *restrict b, int n) {
  for (int i = 1; i < n; i++) x[i] -= a[i] * x[i - 1];
  x[n - 1] /= b[n - 1];
  for (int i = n - 2; i >= 0; i--) x[i] = (x[i] - a[i + 1] * x[i + 1]) / b[i];
}
