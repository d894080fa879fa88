// The condition depends on data: two predicated statements.
void f(int n, int *a, int *b) {
    for (int i = 0; i < n; i++) {
        if (b[i] > 0)
            a[i] = b[i];
        else
            b[i] = a[i] + 1;
    }
}
