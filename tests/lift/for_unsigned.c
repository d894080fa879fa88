// An unsigned counter may wrap: i + 1 is taken modulo 2^32 before it is extended.
void f(unsigned n, int *a, int *b) {
    for (unsigned i = 0; i < n; i++)
        a[i] = b[i + 1];
}
