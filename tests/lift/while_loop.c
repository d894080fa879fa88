// A while loop: the test is at the top, the counter lives outside.
int f(int n, int *a) {
    int i = 0;
    while (i < n) {
        a[i] = i;
        i++;
    }
    return i;
}
