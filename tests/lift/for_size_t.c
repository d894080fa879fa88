// A size_t counter: the guard is n != 0, there is no sign extension.
#include <stddef.h>
void f(size_t n, double *a, double *b) {
    for (size_t i = 0; i < n; i++)
        a[i] = b[i] * 2.0;
}
