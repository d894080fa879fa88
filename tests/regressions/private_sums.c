// A filter over a picture with a pitch: each pixel has a sum of its own.
void filter(int w, int h, int pitch, const unsigned char *src, short *dst) {
    for (int x = 1; x < w - 1; x++)
        for (int y = 1; y < h - 1; y++) {
            int sum = 0;
            for (int a = -1; a <= 1; a++)
                for (int b = -1; b <= 1; b++)
                    sum += src[(y + a) * pitch + x + b] * (a * 3 + b);
            if (sum < 0)
                sum = -sum;
            dst[y * pitch + x] = (short)(sum >> 2);
        }
}
