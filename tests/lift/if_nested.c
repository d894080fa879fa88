// Nested conditions with a join in the middle of the body.
void f(int n, int *a, int *b, int *c) {
    for (int i = 0; i < n; i++) {
        int t = b[i];
        if (t > 3) {
            if (i > 5)
                c[i] = t;
            a[i] = t * 2;
        }
        b[i] = t + a[i];
    }
}
