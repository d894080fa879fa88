// LLVM 22's vectoriser takes the last value from a wrong element where the loop over j is unrolled.
// Found by random programs, seed 60000203.
__attribute__((noinline)) long last(unsigned long n, double *a, double *b) {
  long found = 3;
  for (int i = 0; i < n; i++) {
    for (int j = 0; j < i; j++) {
      b[j] = 1.0;
      found = (long)(a[j] > -100.0 && a[j] < 100.0 ? (int)a[j] : 0) & 255;
    }
  }
  return found;
}
