"""The CUDA twin of a kernel: the text of the OpenCL C, as opencl.cuh lets a compiler for CUDA C++ read it.

Five things no macro can do, and are done to the text:
- `(T4)(a, b)` makes a vector in OpenCL C; in C++ it would be a cast of b, and is written T4(a, b).
- `__local` before an array is __shared__; before a pointer it says nothing that C++ needs.
- A `__local` argument of a kernel becomes a pointer into the group's dynamic memory.
- Loops that must not be unrolled say so.
- The size of a group that a kernel requires becomes its launch bounds.
Lines keep their numbers.
"""

import os
import re

HEADER = os.path.join(os.path.dirname(os.path.abspath(__file__)), "opencl.cuh")

VECTOR_CAST = re.compile(r"\(((?:int|uint|long|ulong|float|double)(?:2|4|8|16)|T[24]|T16|TV|LOWEST)\)\s*\(")
LOCAL_POINTER = re.compile(r"__local\b(?=(?:\s+\w+)+\s*\*)")
LOOP = re.compile(r"\bfor \(")
REQUIRED_SIZE = re.compile(r"__attribute__\s*\(\(reqd_work_group_size\((.*?)\)\)\)")
KERNEL = re.compile(r"__kernel\b[^;{]*?\b(\w+)\s*\(([^(){;]*)\)\s*\{")


def source(launch, rolled=False):
    """The text of a recorded launch's twin, its loops unrolled or not."""
    text = REQUIRED_SIZE.sub(r"REQUIRED_SIZE(\1)", launch["source"])
    if rolled:
        text = LOOP.sub('_Pragma("unroll 1") for (', text)
    text = VECTOR_CAST.sub(r"\1(", text)
    text = KERNEL.sub(lambda kernel: with_local_arguments(kernel, places_of_local(launch)), text)
    text = LOCAL_POINTER.sub("", text)
    with open(HEADER) as file:
        header = file.read()
    return "\n".join([sizes(launch), header, definitions(launch), text.replace("__local ", "__shared__ ")])


def places_of_local(launch):
    """Where each local argument begins in the group's dynamic memory."""
    sizes_of = [one["bytes"] for one in launch["arguments"] if one["is"] == "local"]
    return [sum(sizes_of[:index]) for index in range(len(sizes_of))]


def with_local_arguments(kernel, places):
    """A kernel's head, with its arguments in local memory declared in its body."""
    arguments = kernel[2].split(",")
    local = [argument for argument in arguments if "__local" in argument]
    if not local:
        return kernel[0]
    kept = ",".join(argument for argument in arguments if argument not in local)
    return kernel[0].replace(kernel[2], kept) + "".join(declared(argument, at) for argument, at in zip(local, places))


def declared(argument, at):
    """A local argument, as a pointer to its place in the group's dynamic memory."""
    text = re.sub(r"\s+", " ", argument.replace("__local", "")).strip()
    return f" {text} = ({text[: text.rindex('*') + 1]})(local_memory + {at});"


def sizes(launch):
    """The size of the group, if the kernel requires it."""
    required = launch["required"] if launch["required"][0] else []
    return "\n".join(f"#define LOCAL_SIZE_{axis} {size}" for axis, size in zip("XYZ", required))


def definitions(launch):
    """The definitions of the OpenCL build."""
    words = launch["options"].split()
    defined = [words[at + 1].partition("=") for at, word in enumerate(words) if word == "-D"]
    return "\n".join(f"#define {name} {value if equals else 1}" for name, equals, value in defined)
