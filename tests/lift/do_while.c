// A do-while loop: runs at least once, no guard.
void f(int n, int *a) {
    int i = 0;
    do {
        a[i] += 3;
        i++;
    } while (i < n);
}
