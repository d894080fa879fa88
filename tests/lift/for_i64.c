// A 64-bit counter with offsets on both sides.
void f(long n, double *a, double *b) {
    for (long i = 1; i < n - 1; i++)
        a[i] = b[i - 1] + b[i + 1];
}
