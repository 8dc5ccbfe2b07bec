# Runs the lines of a family's file that say what is right, as often as a line on standard input names a question: arrays go in
# and out as raw bytes. It ends with whoever asks.
import os
import sys

# Nothing in the reader's folder stands in for a module.
sys.path = [place for place in sys.path if place]

import json
import queue
import re
import signal
import threading
import traceback

# The lines may read and print what they like.
asked, answers = os.fdopen(os.dup(0)), os.fdopen(os.dup(1), "w")
for stream in (0, 1):
    os.dup2(os.open(os.devnull, os.O_RDWR), stream)
signal.signal(signal.SIGINT, signal.SIG_DFL)
questions = queue.Queue()


def listen():
    for line in asked:
        questions.put(line.rstrip("\n"))
    os._exit(0)


threading.Thread(target=listen, daemon=True).start()

try:
    import numpy as np
except ImportError:
    np = None


class Refused(Exception):
    """Why there is no answer."""


def is_vector(dtype):
    """Whether these are three numbers in the place of four, as a float3 is."""
    return dtype.names is not None and dtype.names[0] == "0"


def answer(question):
    if np is None:
        raise Refused("Python has no numpy: install it, as with pip install numpy, or choose another check")
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
    except BaseException as error:
        own = [frame.lineno for frame in traceback.extract_tb(error.__traceback__) if frame.filename == "check"]
        line = own[-1] if own else getattr(error, "lineno", None) or 1
        text = code.splitlines()[line - 1].strip()
        arrays = [buffer["name"] for buffer in question["buffers"] if buffer["name"] in names]
        shapes = ", ".join(f"{name} is {np.shape(names[name])}" for name in arrays if re.search(rf"\b{name}\b", text))
        why = " ".join(f"{type(error).__name__}: {error}".split())
        raise Refused(f"{why}, in its line {line}, `{text}`" + (f", where {shapes}" if shapes else ""))

    for buffer in question["buffers"]:
        if buffer["output"] is None:
            continue
        name, dtype = buffer["name"], np.dtype(buffer["dtype"])
        if name not in names:
            raise Refused(f"the lines do not assign {name}")
        result, count, number = np.asarray(names[name]).ravel(), buffer["count"], dtype
        if is_vector(dtype):
            count, number = count * len(dtype.names), dtype[0]
        if result.size != count:
            raise Refused(f"{name} has {result.size} elements, and the output has {count}")
        if buffer["share"]:
            # A device rounds, too.
            result = np.clip(np.rint(result), 0, np.iinfo(number).max)
        if number.kind in "iu" and result.dtype.kind == "f":
            if not np.all(result == np.rint(result)):
                raise Refused(f"{name} has fractions, and the output's elements are whole numbers")
            result = result.astype(np.int64)
        held = result.astype(number)
        is_lost = held.astype(result.dtype) != result
        if number.kind == "f" and result.dtype.kind in "iu" and is_lost.any():
            at = np.argmax(is_lost)
            raise Refused(
                f"{name}'s element {at} is {result[at]}, which {number} cannot hold and would round to {held[at]:.0f}: "
                f"make {name} an integer or a wider float, or let check round, as in {name}.astype(np.float64)"
            )
        result = held
        if is_vector(dtype):
            lanes, result = result.reshape(-1, len(dtype.names)), np.zeros(buffer["count"], dtype)
            for lane, name in enumerate(dtype.names):
                result[name] = lanes[:, lane]
        result.tofile(buffer["output"])


while True:
    path, said = questions.get(), None
    try:
        with open(path) as file:
            question = json.load(file)
        answer(question)
    except Refused as error:
        said = str(error)
    except BaseException as error:
        said = " ".join(f"{type(error).__name__}: {error}".split())
    answers.write(json.dumps(said) + "\n")
    answers.flush()
