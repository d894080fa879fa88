// The condition is affine in the counter: it splits the domain.
void f(int n, int *a, int *b) {
    for (int i = 0; i < n; i++) {
        if (i < 10)
            a[i] = 0;
        else
            a[i] = b[i];
    }
}
