// A loop without an exit.
void f(volatile int *p) {
    for (;;)
        *p = 1;
}
