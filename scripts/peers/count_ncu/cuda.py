"""The little of CUDA that twins need, by way of its C libraries: NVRTC, which compiles and needs no GPU, and the driver."""

import ctypes
import glob
import os
import sys
from ctypes import byref, c_char_p, c_int, c_size_t, c_uint, c_uint64, c_void_p

# Multiplications fuse with additions, as NVRTC has it by default and as they do in the simulator: results repeat its bits.
OPTIONS = ["--std=c++17", "--device-as-default-execution-space", "--generate-line-info"]


class CudaError(Exception):
    """What a library says."""


def libraries(stem):
    """Names and paths of a library, in the order of trying."""
    yield from (f"{stem}.so{version}" for version in (".13", ".12", ".1", ""))
    folders = [os.path.join(path, "nvidia", "*", "lib") for path in sys.path]
    folders += [os.path.join(os.environ.get("CUDA_PATH", "/usr/local/cuda"), "lib64"), "/usr/local/cuda*/lib64"]
    for folder in folders:
        yield from sorted(glob.glob(os.path.join(folder, f"{stem}.so.*[0-9]")), reverse=True)


def load(stem, hint):
    """Loads a library."""
    for name in libraries(stem):
        try:
            return ctypes.CDLL(name)
        except OSError:
            continue
    raise CudaError(f"there is no {stem}: {hint}")


class Compiler:
    """NVRTC."""

    def __init__(self):
        self.library = load("libnvrtc", "install CUDA, or pip install nvidia-cuda-nvrtc")
        self.library.nvrtcGetErrorString.restype = c_char_p
        major, minor = c_int(), c_int()
        self.library.nvrtcVersion(byref(major), byref(minor))
        self.version = f"NVRTC {major.value}.{minor.value}"

    def compile(self, text, name, architecture):
        """The binary of a text for an architecture, as in sm_90."""
        program = c_void_p()
        self.check(self.library.nvrtcCreateProgram(byref(program), text.encode(), name.encode(), 0, None, None))
        try:
            words = [word.encode() for word in (*OPTIONS, f"--gpu-architecture={architecture}")]
            status = self.library.nvrtcCompileProgram(program, len(words), (c_char_p * len(words))(*words))
            if status:
                log = self.get(program, "ProgramLog").rstrip(b"\0").decode(errors="replace")
                raise CudaError(f"{name} does not compile:\n{log}")
            return self.get(program, "CUBIN")
        finally:
            self.library.nvrtcDestroyProgram(byref(program))

    def get(self, program, what):
        """What NVRTC tells in two steps: a size, and bytes."""
        size = c_size_t()
        self.check(getattr(self.library, f"nvrtcGet{what}Size")(program, byref(size)))
        data = ctypes.create_string_buffer(size.value)
        self.check(getattr(self.library, f"nvrtcGet{what}")(program, data))
        return data.raw

    def check(self, status):
        if status:
            raise CudaError(f"NVRTC: {self.library.nvrtcGetErrorString(status).decode()}")


class Gpu:
    """The first GPU, by way of the driver."""

    def __init__(self):
        self.library = load("libcuda", "NVIDIA's driver is missing")
        device, context = c_int(), c_void_p()
        self.call("cuInit", 0)
        self.call("cuDeviceGet", byref(device), 0)
        major, minor, name = c_int(), c_int(), ctypes.create_string_buffer(256)
        self.call("cuDeviceGetAttribute", byref(major), 75, device)
        self.call("cuDeviceGetAttribute", byref(minor), 76, device)
        self.call("cuDeviceGetName", name, 256, device)
        self.architecture, self.name = f"sm_{major.value}{minor.value}", name.value.decode()
        self.call("cuDevicePrimaryCtxRetain", byref(context), device)
        self.call("cuCtxSetCurrent", context)

    def call(self, function, *arguments):
        status = getattr(self.library, function)(*arguments)
        if status:
            text = c_char_p()
            self.library.cuGetErrorString(status, byref(text))
            raise CudaError(f"{function}: {(text.value or b'unknown error').decode()} ({status})")

    def launch(self, binary, launch, buffers):
        """Runs a recorded launch; buffers are by address, each its bytes, and are changed."""
        module, function = c_void_p(), c_void_p()
        self.call("cuModuleLoadData", byref(module), binary)
        places = {}
        try:
            self.call("cuModuleGetFunction", byref(function), module, launch["kernel"].encode())
            for address, data in buffers.items():
                places[address] = c_uint64()
                self.call("cuMemAlloc_v2", byref(places[address]), c_size_t(max(len(data), 1)))
                self.call("cuMemcpyHtoD_v2", places[address], bytes(data), c_size_t(len(data)))
            arguments = [argument(one, places) for one in launch["arguments"] if one["is"] != "local"]
            pointers = (c_void_p * len(arguments))(*[ctypes.cast(byref(one), c_void_p) for one in arguments])
            shared = sum(one["bytes"] for one in launch["arguments"] if one["is"] == "local")
            groups = [whole // one for whole, one in zip(launch["global"], launch["local"])]
            sizes = [c_uint(size) for size in (*groups, *launch["local"], shared)]
            self.call("cuLaunchKernel", function, *sizes, c_void_p(), pointers, c_void_p())
            self.call("cuCtxSynchronize")
            for address, data in buffers.items():
                got = ctypes.create_string_buffer(len(data))
                self.call("cuMemcpyDtoH_v2", got, places[address], c_size_t(len(data)))
                data[:] = got.raw
        finally:
            # After a fault nothing can be freed, and the fault is what to tell.
            for place in places.values():
                self.library.cuMemFree_v2(place)
            self.library.cuModuleUnload(module)


def argument(recorded, places):
    """An argument's value: a buffer's place, or the bytes recorded."""
    if recorded["is"] == "buffer":
        return c_uint64(places[recorded["address"]].value + recorded["offset"])
    return ctypes.create_string_buffer(recorded["before"], len(recorded["before"]))
