# Runs the lines of a family's file that say what is right: arrays go in and out as raw bytes.
import json
import re
import sys
import traceback

try:
    import numpy as np
except ImportError:
    sys.exit("Python has no numpy: install it, as with pip install numpy, or choose another check")

with open(sys.argv[1]) as file:
    question = json.load(file)


def is_vector(dtype):
    """Whether these are three numbers in the place of four, as a float3 is."""
    return dtype.names is not None and dtype.names[0] == "0"


names = {"np": np, **question["sizes"]}
for buffer in question["buffers"]:
    dtype = np.dtype(buffer["dtype"])
    if buffer["input"] is not None:
        array = np.fromfile(buffer["input"], dtype=dtype)
        if is_vector(dtype):
            array = np.stack([array[name] for name in dtype.names], axis=-1)
        if array.dtype.kind == "f":
            array = array.astype(np.float64)
        elif array.dtype.kind in "iu" and array.dtype.itemsize < 8:
            array = array.astype(np.int64)
        if buffer["lanes"] > 1:
            array = array.reshape(-1, buffer["lanes"])
        names[buffer["name"]] = array
    elif dtype.names is not None and not is_vector(dtype):
        names[buffer["name"]] = np.zeros(buffer["count"], dtype)

code = question["code"]
try:
    exec(compile(code, "check", "exec"), names)
except Exception as error:
    own = [frame.lineno for frame in traceback.extract_tb(error.__traceback__) if frame.filename == "check"]
    line = own[-1] if own else getattr(error, "lineno", None) or 1
    text = code.splitlines()[line - 1].strip()
    arrays = [buffer["name"] for buffer in question["buffers"] if buffer["name"] in names]
    shapes = ", ".join(f"{name} is {np.shape(names[name])}" for name in arrays if re.search(rf"\b{name}\b", text))
    why = " ".join(f"{type(error).__name__}: {error}".split())
    sys.exit(f"{why}, in its line {line}, `{text}`" + (f", where {shapes}" if shapes else ""))

for buffer in question["buffers"]:
    if buffer["output"] is None:
        continue
    name, dtype = buffer["name"], np.dtype(buffer["dtype"])
    if name not in names:
        sys.exit(f"the lines do not assign {name}")
    result, count, number = np.asarray(names[name]).ravel(), buffer["count"], dtype
    if is_vector(dtype):
        count, number = count * len(dtype.names), dtype[0]
    if result.size != count:
        sys.exit(f"{name} has {result.size} elements, and the output has {count}")
    if number.kind in "iu" and result.dtype.kind == "f":
        if not np.all(result == np.rint(result)):
            sys.exit(f"{name} has fractions, and the output's elements are whole numbers")
        result = result.astype(np.int64)
    result = result.astype(number)
    if is_vector(dtype):
        lanes, result = result.reshape(-1, len(dtype.names)), np.zeros(buffer["count"], dtype)
        for lane, name in enumerate(dtype.names):
            result[name] = lanes[:, lane]
    result.tofile(buffer["output"])
