// emit interchange(@)
/* Names that headers have, or begin so, and that of the variant itself. */
void INTERIOR(int M_inv, double (*restrict INT_MAX_)[8], const double (*restrict INTERIOR_0_variant)[8], int thread_count) {
    for (int i = 0; i < 8; i++)
        for (int j = 0; j < 8; j++)
            INT_MAX_[i][j] += INTERIOR_0_variant[j][i] * (M_inv + thread_count);
}
