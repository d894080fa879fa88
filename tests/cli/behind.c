/* Behind what an array begins with: nothing is known of what lies there. */
void three(long n, double *a) {
  for (long i = 0; i < n; ++i) a[i] = a[i - 3] + 1;
}
void five(long n, double *a) {
  for (long i = 0; i < n; ++i) a[i] = a[i - 5] + 1;
}
