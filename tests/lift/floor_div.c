// Division and remainder of the counter by constants.
void f(int n, int *a, int *b) {
    for (int i = 0; i < n; i++)
        a[i] = b[i / 3] + b[i % 4];
}
