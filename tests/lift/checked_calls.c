// What a small function does where the program ends is not part of loops: it may call whatever it likes.
void complain(const char *text);
_Noreturn void stop(void);
static double at(const double *a, unsigned n, unsigned i) {
    if (i >= n) {
        complain("out of range");
        stop();
    }
    return a[i];
}
void f(unsigned n, const double *a, double *b) {
    for (unsigned i = 0; i < n; i++)
        b[i] = at(a, n, i);
}
