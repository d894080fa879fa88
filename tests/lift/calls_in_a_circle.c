// Functions that call one another are calls.
static double g(double *a, int n);
static double h(double *a, int n) { return n > 0 ? g(a, n - 1) * 0.5 : a[0]; }
static double g(double *a, int n) { return n > 1 ? h(a, n / 2) + h(a, n - 2) : a[1]; }
void f(int n, double *a) {
    for (int i = 0; i < n; i++)
        a[i] = g(a, i);
}
