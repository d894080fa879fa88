// A negative number, converted as an unsigned one where a condition holds: in vectors of neighbours, which copies of an iteration
// are, LLVM 22 forgets its sign.
void signs(float *restrict o, const float *restrict a, long n) {
  for (long i = 0; i < n; i++) {
    unsigned long s = a[i] > -100 && a[i] < 100 ? (int)a[i] : 0;
    o[i] = (float)s;
  }
}

void counts(float *restrict o, const unsigned *restrict a, long n) {
  for (long i = 0; i < n; i++)
    o[i] = (float)a[i];
}
