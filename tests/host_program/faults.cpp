// A host program with the mistake that its argument names. Tests run it under `gpulab count`.
#define CL_TARGET_OPENCL_VERSION 120
#define CL_USE_DEPRECATED_OPENCL_1_2_APIS
#include <CL/cl.h>
#include <cstdio>
#include <string>

static const char *const text = "__kernel void shift(__global int *x, __local int *s) {\n"
                                "  int l = get_local_id(0);\n"
                                "  s[l] = x[get_global_id(0)];\n"
                                "#ifdef ORDERED\n"
                                "  barrier(CLK_LOCAL_MEM_FENCE);\n"
                                "#endif\n"
                                "  x[get_global_id(0)] = s[(l + 1) % get_local_size(0)];\n"
                                "}\n";

int main(int, char **words)
{
    const std::string fault = words[1];
    cl_platform_id platform;
    cl_device_id device;
    if (clGetPlatformIDs(1, &platform, nullptr) || clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 1, &device, nullptr))
        return 3;
    const cl_context context = clCreateContext(nullptr, 1, &device, nullptr, nullptr, nullptr);
    const auto properties = fault == "unprofiled" ? 0 : CL_QUEUE_PROFILING_ENABLE;
    const cl_command_queue queue = clCreateCommandQueue(context, device, properties, nullptr);
    const cl_program program = clCreateProgramWithSource(context, 1, const_cast<const char **>(&text), nullptr, nullptr);
    if (clBuildProgram(program, 1, &device, fault == "race" ? "" : "-DORDERED", nullptr, nullptr))
        return 4;
    int numbers[64] = {};
    const cl_kernel kernel = clCreateKernel(program, "shift", nullptr);
    const cl_mem buffer =
        clCreateBuffer(context, CL_MEM_READ_WRITE | CL_MEM_COPY_HOST_PTR, sizeof numbers, numbers, nullptr);
    const size_t all = 64, group = 16, odd = 24;
    clSetKernelArg(kernel, 0, sizeof buffer, &buffer);
    clSetKernelArg(kernel, 1, fault == "bytes" ? group : group * sizeof(int), nullptr);
    cl_event event;
    cl_ulong begin = 0;
    clEnqueueNDRangeKernel(queue, kernel, 1, nullptr, &all, &group, 0, nullptr, &event);
    if (fault == "refused")
        clEnqueueNDRangeKernel(queue, kernel, 1, nullptr, &all, &odd, 0, nullptr, nullptr);
    clWaitForEvents(1, &event);
    clGetEventProfilingInfo(event, CL_PROFILING_COMMAND_START, sizeof begin, &begin, nullptr);
    return 0;
}
