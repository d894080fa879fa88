// The bound of a loop is the smaller of two values (a tile loop written by hand).
void f(int n, double *a) {
    for (int ii = 0; ii < n; ii += 32) {
        int end = ii + 32 < n ? ii + 32 : n;
        for (int i = ii; i < end; i++)
            a[i] = a[i] * 3.0;
    }
}
