// What the OpenCL peers have in common: the first device of the first platform, and buffers with the peers' data.
#pragma once
#define CL_TARGET_OPENCL_VERSION 120
#define CL_USE_DEPRECATED_OPENCL_1_2_APIS
#include "peer.hpp"
#include <CL/cl.h>
#include <cstdlib>
#include <utility>

// A buffer that is freed with its scope.
struct Buffer {
    cl_mem memory = nullptr;

    explicit Buffer(cl_mem made) : memory(made) {}
    Buffer(Buffer &&other) noexcept : memory(std::exchange(other.memory, nullptr)) {}
    Buffer(const Buffer &) = delete;
    ~Buffer()
    {
        if (memory)
            clReleaseMemObject(memory);
    }
};

struct Device {
    cl_platform_id platform = nullptr;
    cl_device_id device = nullptr;
    cl_context context = nullptr;
    cl_command_queue queue = nullptr;

    Device()
    {
        cl_int status = clGetPlatformIDs(1, &platform, nullptr);
        if (!status)
            status = clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 1, &device, nullptr);
        if (!status)
            context = clCreateContext(nullptr, 1, &device, nullptr, nullptr, &status);
        if (!status)
            queue = clCreateCommandQueue(context, device, 0, &status);
        if (status) {
            std::fprintf(stderr, "no OpenCL device: status %d\n", status);
            std::exit(1);
        }
    }

    std::string name() const
    {
        char text[256] = {};
        clGetPlatformInfo(platform, CL_PLATFORM_NAME, sizeof text - 1, text, nullptr);
        return text;
    }

    Buffer buffer(size_t bytes) const
    {
        cl_int status;
        Buffer made(clCreateBuffer(context, CL_MEM_READ_WRITE, bytes, nullptr, &status));
        demand(!status, "no buffer: status " + std::to_string(status));
        return made;
    }

    template <typename T> std::vector<Buffer> filled(size_t sets, size_t n, unsigned seed) const
    {
        const auto one = made<T>(1, n, seed);
        std::vector<Buffer> all;
        for (size_t set = 0; set < sets; set++) {
            all.push_back(buffer(n * sizeof(T)));
            write(all.back(), one[0]);
        }
        return all;
    }

    template <typename T> void write(const Buffer &to, const std::vector<T> &data) const
    {
        const size_t bytes = data.size() * sizeof(T);
        demand(!clEnqueueWriteBuffer(queue, to.memory, CL_TRUE, 0, bytes, data.data(), 0, nullptr, nullptr), "no write");
    }

    template <typename T> std::vector<T> read(const Buffer &from, size_t n) const
    {
        std::vector<T> data(n);
        demand(!clEnqueueReadBuffer(queue, from.memory, CL_TRUE, 0, n * sizeof(T), data.data(), 0, nullptr, nullptr),
               "no read");
        return data;
    }
};
