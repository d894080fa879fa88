// Pointers are the induction variables.
void f(double *p, double *end, double *q) {
    while (p != end)
        *p++ = *q++ * 0.5;
}
