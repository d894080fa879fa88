// Small functions call small functions, as templates and operators of C++ do: all are part of the loop.
#define CALLS(NEW, OLD)                                                                                                \
    static double NEW(double x) { return OLD(x) * 0.5; }
static double f0(double x) { return x + 1; }
CALLS(f1, f0)
CALLS(f2, f1)
CALLS(f3, f2)
CALLS(f4, f3)
CALLS(f5, f4)
CALLS(f6, f5)
CALLS(f7, f6)
CALLS(f8, f7)
CALLS(f9, f8)
CALLS(f10, f9)
CALLS(f11, f10)
void f(int n, double *a) {
    for (int i = 0; i < n; i++)
        a[i] = f11(a[i]);
}
