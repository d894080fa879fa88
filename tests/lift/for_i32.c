// A for loop over i32 indices; the sign extension of i is part of the address.
void f(int n, int *a, int *b) {
    for (int i = 0; i < n; i++)
        a[i] = b[i] + 1;
}
