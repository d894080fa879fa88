// Three exits to different places.
int f(int n, int *a, int *b) {
    for (int i = 0; i < n; i++) {
        if (a[i] == 1)
            return 10;
        b[i] = a[i];
        if (b[i] > 50)
            break;
        if (a[i] < 0)
            goto out;
    }
    return 20;
out:
    return 30;
}
