// A call to a function that is not visible: an opaque statement where it stands.
int g(int);
void f(int n, int *a, int *b) {
    for (int i = 0; i < n; i++)
        a[i] = g(b[i]);
    for (int i = 0; i < n; i++)
        b[i] = b[i] + 1;
}
