// What a plain tuner does, as CLTune: for each configuration it builds the program, runs it, reads the result back and checks
// it. The kernel and the configurations are those of `harness`: gpulab's reduce `vectorised` with 1 to ROWS work-items.
//
// g++ -O2 -o sweep_loop sweep_loop.cpp -lOpenCL && ./sweep_loop ../../cl/reduce ROWS ELEMENTS SAMPLES
#include "opencl.hpp"
#include <fstream>
#include <sstream>

static void check(cl_int status, const char *what)
{
    demand(!status, std::string(what) + ": status " + std::to_string(status));
}

static std::string text_of(const std::string &path)
{
    std::ifstream file(path);
    demand(bool(file), "cannot read " + path);
    std::stringstream text;
    text << file.rdbuf();
    return text.str();
}

// Nanoseconds of one run by its event, which nobody looks at here.
static cl_ulong run(const Device &device, cl_kernel kernel, size_t items)
{
    cl_event event;
    const size_t group = 1;
    check(clEnqueueNDRangeKernel(device.queue, kernel, 1, nullptr, &items, &group, 0, nullptr, &event), "launch");
    check(clWaitForEvents(1, &event), "wait");
    cl_ulong start = 0, end = 0;
    clGetEventProfilingInfo(event, CL_PROFILING_COMMAND_START, sizeof start, &start, nullptr);
    clGetEventProfilingInfo(event, CL_PROFILING_COMMAND_END, sizeof end, &end, nullptr);
    clReleaseEvent(event);
    return end - start;
}

static cl_ulong configuration(const Device &device, const std::string &text, const std::string &options,
                              const Buffer &x, cl_uint n, size_t items, int samples, cl_int want)
{
    cl_int status;
    const char *source = text.c_str();
    cl_program program = clCreateProgramWithSource(device.context, 1, &source, nullptr, &status);
    check(status, "program");
    check(clBuildProgram(program, 1, &device.device, options.c_str(), nullptr, nullptr), "build");
    cl_kernel kernel = clCreateKernel(program, "reduce_vectorised", &status);
    check(status, "kernel");
    const Buffer partial = device.buffer(items * sizeof(cl_int));
    device.write(partial, std::vector<cl_int>(items, -1));
    check(clSetKernelArg(kernel, 0, sizeof(cl_mem), &x.memory), "argument 0");
    check(clSetKernelArg(kernel, 1, sizeof(cl_mem), &partial.memory), "argument 1");
    check(clSetKernelArg(kernel, 2, sizeof n, &n), "argument 2");
    cl_ulong best = ~cl_ulong(0);
    for (int sample = 0; sample < samples; sample++)
        best = std::min(best, run(device, kernel, items));
    cl_uint got = 0;
    for (cl_int value : device.read<cl_int>(partial, items))
        got += cl_uint(value);
    demand(cl_int(got) == want, std::to_string(items) + " work-items give another sum");
    clReleaseKernel(kernel);
    clReleaseProgram(program);
    return best;
}

int main(int count, char **words)
try {
    demand(count == 5, "sweep_loop FOLDER ROWS ELEMENTS SAMPLES");
    const std::string folder = words[1];
    const size_t rows = std::stoul(words[2]), n = std::stoul(words[3]);
    Device device;
    clReleaseCommandQueue(device.queue);
    cl_int status;
    device.queue = clCreateCommandQueue(device.context, device.device, CL_QUEUE_PROFILING_ENABLE, &status);
    check(status, "queue");
    std::vector<cl_int> data(n);
    cl_uint want = 0, state = 1;
    for (cl_int &value : data) {
        state = state * 1664525u + 1013904223u;
        want += cl_uint(value = cl_int(state >> 8));
    }
    const Buffer x = device.buffer(n * sizeof(cl_int));
    device.write(x, data);
    const std::string text = text_of(folder + "/vectorised.cl");
    const std::string options =
        "-cl-std=CL1.2 -I " + folder + " -D T=int -D INDEX=uint -D OP_SUM=1 -D IDENTITY=0 -D WG=1 -D ACC=1";
    cl_ulong best = ~cl_ulong(0);
    for (size_t items = 1; items <= rows; items++)
        best = std::min(best, configuration(device, text, options, x, cl_uint(n), items, std::stoi(words[4]), cl_int(want)));
    std::printf("%zu checked, best %.3f us\n", rows, 1e-3 * double(best));
} catch (const std::exception &error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
}
