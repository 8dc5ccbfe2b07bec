# Runs the lines of a family's file that say what is right: arrays go in and out as raw bytes.
import json
import sys

try:
    import numpy as np
except ImportError:
    sys.exit("Python has no numpy: install it, as with pip install numpy, or choose another check")

with open(sys.argv[1]) as file:
    question = json.load(file)

names = {"np": np, **question["sizes"]}
for buffer in question["buffers"]:
    dtype = np.dtype(buffer["dtype"])
    if buffer["input"] is not None:
        array = np.fromfile(buffer["input"], dtype=dtype)
        if dtype.kind == "f":
            array = array.astype(np.float64)
        elif dtype.kind in "iu" and dtype.itemsize < 8:
            array = array.astype(np.int64)
        if buffer["lanes"] > 1:
            array = array.reshape(-1, buffer["lanes"])
        names[buffer["name"]] = array
    elif dtype.names is not None:
        names[buffer["name"]] = np.zeros(buffer["count"], dtype)

exec(question["code"], names)

for buffer in question["buffers"]:
    if buffer["output"] is None:
        continue
    name, dtype = buffer["name"], np.dtype(buffer["dtype"])
    if name not in names:
        sys.exit(f"the lines do not assign {name}")
    result = np.asarray(names[name]).ravel()
    if result.size != buffer["count"]:
        sys.exit(f"{name} has {result.size} elements, and the output has {buffer['count']}")
    if dtype.kind in "iu" and result.dtype.kind == "f":
        if not np.all(result == np.rint(result)):
            sys.exit(f"{name} has fractions, and the output's elements are whole numbers")
        result = result.astype(np.int64)
    result.astype(dtype).tofile(buffer["output"])
