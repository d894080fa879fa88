// A strict floating-point sum in a scalar, returned.
double f(int n, double *a) {
    double s = 0.0;
    for (int i = 0; i < n; i++)
        s += a[i];
    return s;
}
