void chain(int n, double *restrict a, double *restrict b, double *restrict c) {
  for (int i = 0; i < n; i++)
    a[i] = a[i] * 2.0;
  double s = c[0];
  for (int i = 0; i < n; i++)
    b[i] = a[i] + s;
  for (int i = 1; i < n; i++)
    c[i] = b[i - 1] + a[i];
}

void backwards(int n, double *a, double *b) {
  for (int i = 0; i < n; i++)
    a[i] = a[i] * 2.0;
  for (int i = 0; i < n; i++)
    b[i] = a[n - 1 - i];
}

void recurrence(int n, double *restrict a, double *restrict b) {
  for (int i = 0; i < n; i++)
    a[i] = a[i] * 2.0;
  for (int i = 0; i < n; i++)
    b[i + 1] = b[i] + a[n - 1 - i];
}
