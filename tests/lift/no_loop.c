// Nothing to optimise.
int f(int x, int y) { return x > y ? x * 2 : y - 1; }
