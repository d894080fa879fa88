// An integer sum: may be reassociated.
int f(int n, int *a, int *b) {
    int s = 0;
    for (int i = 0; i < n; i++)
        s += a[i] * b[i];
    return s;
}
