// The pointer may lead into either table, which are apart from each other.
static int table[64][64], copy[64][64];
int *somewhere(int row) { return row & 1 ? table[row] : copy[row]; }
void f(int *cells) {
    for (int j = 0; j < 64; j++)
        for (int i = 0; i < 64; i++)
            copy[i][j] = table[i][j] + cells[i];
}
