// min and max by ternaries, as reductions into scalars.
void f(int n, int *a, int *lo, int *hi) {
    int mn = a[0], mx = a[0];
    for (int i = 1; i < n; i++) {
        mn = a[i] < mn ? a[i] : mn;
        mx = a[i] > mx ? a[i] : mx;
    }
    *lo = mn;
    *hi = mx;
}
