// A switch on data inside the body, with fall-through.
void f(int n, int *a, int *b) {
    for (int i = 0; i < n; i++) {
        switch (b[i] & 3) {
        case 0:
            a[i] = 1;
            break;
        case 1:
            a[i] += 2; /* fall through */
        case 2:
            b[i] = 7;
            break;
        default:
            a[i] = -a[i];
        }
    }
}
