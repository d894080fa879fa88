// A loop whose body does nothing; it is removed when optimised.
void f(int n) {
    for (int i = 0; i < n; i++)
        ;
}
