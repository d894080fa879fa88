// The counter goes up, the address goes down.
void f(int n, double *a, double *b) {
    for (int i = 0; i < n; i++)
        a[i] = b[n - 1 - i];
}
