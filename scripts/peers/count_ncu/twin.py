"""The CUDA twin of a kernel: the text of the OpenCL C, as opencl.cuh lets a compiler for CUDA C++ read it.

Four things no macro can do, and are done to the text:
- `(T4)(a, b)` makes a vector in OpenCL C; in C++ it would be a cast of b, and is written T4(a, b).
- `__local` before an array is __shared__; before a pointer it says nothing that C++ needs.
- A `__local` argument of a kernel becomes a pointer into the group's dynamic memory.
- The size of a group that a kernel requires becomes its launch bounds.
Lines keep their numbers.
"""

import os
import re

HEADER = os.path.join(os.path.dirname(os.path.abspath(__file__)), "opencl.cuh")

VECTOR_CAST = re.compile(r"\(((?:int|uint|long|ulong|float|double)(?:2|4|8|16)|T[24]|T16|TV|LOWEST)\)\s*\(")
LOCAL_POINTER = re.compile(r"__local\b(?=(?:\s+\w+)+\s*\*)")
REQUIRED_SIZE = re.compile(r"__attribute__\s*\(\(reqd_work_group_size\((.*?)\)\)\)")
KERNEL = re.compile(r"__kernel\b[^;{]*?\b(\w+)\s*\(([^(){;]*)\)\s*\{")


def source(launch):
    """The text of a recorded launch's twin."""
    text = REQUIRED_SIZE.sub(r"REQUIRED_SIZE(\1)", launch["source"])
    text = VECTOR_CAST.sub(r"\1(", text)
    text = KERNEL.sub(with_local_arguments, text)
    text = LOCAL_POINTER.sub("", text)
    with open(HEADER) as file:
        header = file.read()
    return "\n".join([sizes(launch), header, definitions(launch), text.replace("__local ", "__shared__ ")])


def with_local_arguments(kernel):
    """A kernel's head, with its arguments in local memory declared in its body."""
    arguments = kernel[2].split(",")
    local = [argument for argument in arguments if "__local" in argument]
    if not local:
        return kernel[0]
    if len(local) > 1:
        raise ValueError(f"{kernel[1]} has {len(local)} arguments in local memory; twins have one at most")
    kept = ",".join(argument for argument in arguments if argument not in local)
    declared = re.sub(r"\s+", " ", local[0].replace("__local", "")).strip()
    pointer = declared[: declared.rindex("*") + 1]
    return kernel[0].replace(kernel[2], kept) + f" {declared} = ({pointer})local_memory;"


def sizes(launch):
    """The size of the group, if the kernel requires it."""
    required = launch["required"] if launch["required"][0] else []
    return "\n".join(f"#define LOCAL_SIZE_{axis} {size}" for axis, size in zip("XYZ", required))


def definitions(launch):
    """The definitions of the OpenCL build."""
    words = launch["options"].split()
    defined = [words[at + 1].partition("=") for at, word in enumerate(words) if word == "-D"]
    return "\n".join(f"#define {name} {value if equals else 1}" for name, equals, value in defined)
