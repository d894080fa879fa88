// The counter goes down to zero.
void f(int n, double *a, double *b) {
    for (int i = n - 1; i >= 0; i--)
        a[i] = b[i] - 1.0;
}
