// Step 2, and a subscript that is twice the counter.
void f(int n, int *a, int *b) {
    for (int i = 0; i < n; i += 2)
        a[i] = b[2 * i];
}
