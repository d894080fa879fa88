// From one pointer to another: whole elements in between are a condition at run time.
void f(double *first, double *last, const double *weights, const double *end) {
    for (double *p = first; p != last; ++p)
        for (const double *w = weights; w < end; ++w)
            *p = *p * 0.5 + *w;
}

long g(const int *first, const int *last, int *to) {
    long n = last - first;
    for (long i = 0; i < n; i++)
        to[i] = first[i] * 3;
    return n;
}
