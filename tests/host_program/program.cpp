// A host program: builds the kernels of a file, turns a matrix of n x n once and doubles it three times. Tests run it under
// `gpulab count` and `gpulab time`. The fourth argument is its exit code. With OPENS it opens OpenCL's loader by itself.
#define CL_TARGET_OPENCL_VERSION 120
#define CL_USE_DEPRECATED_OPENCL_1_2_APIS
#include <CL/cl.h>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <dlfcn.h>

#ifdef OPENS
static void *const library = dlopen("libOpenCL.so.1", RTLD_NOW | RTLD_LOCAL);
#define CL(name) (reinterpret_cast<decltype(&name)>(dlsym(library, #name)))
#else
#define CL(name) name
#endif

int main(int count, char **words)
{
    static char text[4096];
    FILE *const file = fopen(words[1], "r");
    text[fread(text, 1, sizeof text - 1, file)] = 0;
    const char *source = text;
    const int n = atoi(words[2]);
    if (n < 0)
        for (;;) {}
    cl_platform_id platform;
    cl_device_id device;
    if (CL(clGetPlatformIDs)(1, &platform, nullptr) != CL_SUCCESS)
        return 3;
    if (CL(clGetDeviceIDs)(platform, CL_DEVICE_TYPE_ALL, 1, &device, nullptr) != CL_SUCCESS)
        return 4;
    const cl_context context = CL(clCreateContext)(nullptr, 1, &device, nullptr, nullptr, nullptr);
    const cl_command_queue queue = CL(clCreateCommandQueue)(context, device, 0, nullptr);
    const cl_program program = CL(clCreateProgramWithSource)(context, 1, &source, nullptr, nullptr);
    if (CL(clBuildProgram)(program, 1, &device, "", nullptr, nullptr) != CL_SUCCESS)
        return 5;
    if (n == 0)
        return 0;
    const size_t square[2] = {size_t(n), size_t(n)}, tile[2] = {16, 16}, all = size_t(n) * n, line = 64;
    float *const data = new float[all];
    for (size_t i = 0; i < all; i++)
        data[i] = float(i % 1000);
    const cl_mem from = CL(clCreateBuffer)(context, CL_MEM_COPY_HOST_PTR, all * sizeof(float), data, nullptr);
    const cl_mem to = CL(clCreateBuffer)(context, CL_MEM_READ_WRITE, all * sizeof(float), nullptr, nullptr);
    const cl_kernel turn = CL(clCreateKernel)(program, "turn", nullptr);
    const cl_kernel twice = CL(clCreateKernel)(program, "twice", nullptr);
    CL(clSetKernelArg)(turn, 0, sizeof from, &from);
    CL(clSetKernelArg)(turn, 1, sizeof to, &to);
    CL(clSetKernelArg)(twice, 0, sizeof to, &to);
    CL(clEnqueueNDRangeKernel)(queue, turn, 2, nullptr, square, tile, 0, nullptr, nullptr);
    const int times = count > 3 ? atoi(words[3]) : 3;
    for (int i = 0; i < times; i++)
        CL(clEnqueueNDRangeKernel)(queue, twice, 1, nullptr, &all, &line, 0, nullptr, nullptr);
    CL(clFinish)(queue);
    puts("the program says so\x1b[2J");
    return count > 4 ? atoi(words[4]) : 0;
}
