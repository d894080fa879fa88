// A block from one box to another, as HPGMG copies them: where it begins is no multiple of anything.
void copy_block(int ni, int nj, int nk, int ri, int rj, int rk, int rjs, int rks, int wi, int wj, int wk, int wjs, int wks,
                const double *restrict read, double *restrict write) {
    read += ri + rj * rjs + rk * rks;
    write += wi + wj * wjs + wk * wks;
    for (int k = 0; k < nk; k++)
        for (int j = 0; j < nj; j++)
            for (int i = 0; i < ni; i++)
                write[i + j * wjs + k * wks] = read[i + j * rjs + k * rks];
}
