// Functions called `alone` have loops of which there is one order; of those called `more` something can be tried.
#include <string.h>

void alone_scale(double *a, long n) {
    for (long i = 0; i < n; i++)
        a[i] = 2.0 * a[i];
}

double alone_sum(const double *a, long n) {
    double sum = 0;
    for (long i = 0; i < n; i++)
        sum += a[i];
    return sum;
}

// What counts is in memory, too.
void alone_counted(double *a, long *n) {
    while (*n < 100) {
        a[*n] = 0;
        (*n)++;
    }
}

// Either one or the other.
void alone_branches(double *a, long n, int up) {
    if (up) {
        for (long i = 0; i < n; i++)
            a[i] += 1.0;
    } else {
        for (long i = 0; i < n; i++)
            a[i] -= 1.0;
    }
}

void more_in_a_row(double *a, double *b, long n) {
    for (long i = 0; i < n; i++)
        a[i] = 1.0;
    for (long i = 0; i < n; i++)
        b[i] += a[i];
}

void more_behind_a_copy(double *a, double *b, long n) {
    memcpy(a, b, n * sizeof *a);
    for (long i = 0; i < n; i++)
        a[i] += 1.0;
}

void more_nested(double *a, long n) {
    for (long i = 0; i < n; i++)
        for (long j = 0; j < n; j++)
            a[j * n + i] += 1.0;
}

struct grid {
    long rows, columns;
};

// How often the loops run is read again and again, at places that stay.
void more_by_fields(const struct grid *g, double *a) {
    for (long i = 0; i < g->rows; i++)
        for (long j = 0; j < g->columns; j++)
            a[j * g->rows + i] += 1.0;
}

static void zero(double *row, long n) {
    for (long j = 0; j < n; j++)
        row[j] = 0.0;
}

void more_by_calls(double *a, long n) {
    for (long i = 0; i < n; i++)
        zero(a + i * n, n);
}

void more_stores(double *a, double *b, long n) {
    for (long i = 0; i < n; i++) {
        a[i] = 1.0;
        b[i] = 2.0;
    }
}

void more_rounds(double *a, const double *b, long n) {
    for (long i = 0; i < n; i++)
        a[i] = b[(i + 1) % n];
}

void more_asked_for(double *a, long n) {
#pragma clang loop unroll_count(4)
    for (long i = 0; i < n; i++)
        a[i] = 2.0 * a[i];
}
