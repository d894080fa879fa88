// What a small function reads stands between loops.
struct S {
    int n;
    double c;
};
static double factor(const struct S *s) { return s->c; }
void f(const struct S *s, int n, double *a, double *b) {
    for (int i = 0; i < n; i++)
        a[i] *= 2;
    double c = factor(s);
    for (int i = 0; i < n; i++)
        b[i] += c * a[i];
}
