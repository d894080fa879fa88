// A value carried from one iteration to the next, not a reduction.
void f(int n, double *a, double *b) {
    double prev = 0.0;
    for (int i = 0; i < n; i++) {
        b[i] = a[i] - prev;
        prev = a[i];
    }
}
