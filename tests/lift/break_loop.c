// A loop with a data-dependent break.
int f(int n, int *a, int key) {
    int i;
    for (i = 0; i < n; i++)
        if (a[i] == key)
            break;
    return i;
}
