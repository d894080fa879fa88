// An indirect subscript: a may-write of the whole array.
void f(int n, int *a, int *index) {
    for (int i = 0; i < n; i++)
        a[index[i]] += 1;
}
