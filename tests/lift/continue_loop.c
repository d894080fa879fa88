// continue skips the rest of the body.
void f(int n, int *a, int *b) {
    for (int i = 0; i < n; i++) {
        if (b[i] == 0)
            continue;
        a[i] = 100 / b[i];
    }
}
