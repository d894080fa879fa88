// Arrays inside a struct: one object, disjoint ranges.
struct soa {
    double x[64], y[64], z[64];
};
void f(int n, struct soa *s) {
    for (int i = 0; i < n; i++)
        s->z[i] = s->x[i] + s->y[i];
}
