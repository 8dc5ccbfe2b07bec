# Stands in for Kernel Tuner: writes what the script's first tune_kernel was given, or its last run_kernel, and runs nothing.
import ast
import importlib.abc
import importlib.machinery
import json
import os
import sys

import numpy as np


class Anything:
    """What the script takes from Kernel Tuner besides; it may be called, but does nothing."""

    def __init__(self, *args, **kwargs):
        pass

    def __getattr__(self, name):
        return Anything()

    def __call__(self, *args, **kwargs):
        return Anything()


class Parts(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Finds all modules of Kernel Tuner, whatever they are called."""

    def find_spec(self, name, path=None, target=None):
        return importlib.machinery.ModuleSpec(name, self, is_package=True) if name.startswith("kernel_tuner.") else None

    def exec_module(self, module):
        module.__getattr__ = lambda name: Anything


SIGNS = (ast.Eq, ast.NotEq, ast.LtE, ast.GtE, ast.Lt, ast.Gt)
# What a number in a line of `where` may have of Python.
NUMBERS = (ast.BinOp, ast.Add, ast.Sub, ast.Mult, ast.Mod, ast.FloorDiv, ast.Div, ast.USub, ast.Name, ast.Load, ast.Constant)

sys.meta_path.insert(0, Parts())


__path__ = []


def __getattr__(name):
    if name.startswith("__"):
        raise AttributeError(name)
    return Anything


def toml(pairs):
    return "{ " + ", ".join(f"{name} = {json.dumps(value)}" for name, value in pairs) + " }"


def formula(count, sizes):
    """A number in terms of the problem's sides."""
    sides = [side for side in sizes if isinstance(side, int)]
    whole = {side: name for side, name in zip(sides[:2], "nm")} if sides[:1] != sides[1:2] else {sides[0]: "n"}
    whole.setdefault(sides[0] * sides[-1], "*".join(whole.get(side, "?") for side in sides[:2]))
    return whole.get(count, str(count))


def argument(value, sizes, is_output):
    if not hasattr(value, "dtype"):
        return {}
    data = np.asarray(value).ravel()
    if np.ndim(value) == 0:
        number = data[0].item()
        return {"value": formula(number, sizes) if isinstance(number, int) else repr(number)}
    found = {"length": formula(data.size, sizes), "output": is_output}
    if data.size and data.dtype.kind in "iu" and data.min() >= 0:
        steps = np.diff(data)
        starts = data.size > 2 and data[0] == 0 and steps.min() >= 0
        found["data"] = f"offsets {max(steps.max(), 1)}" if starts else f"below {max(data.max() + 1, 2)}"
    return found


def claims(limit):
    """The lines of `where` that say the same as a restriction; a question mark of what they cannot say."""
    try:
        whole = ast.parse(limit.strip(), mode="eval").body
    except (AttributeError, SyntaxError):
        return ["?"]
    parts = whole.values if isinstance(whole, ast.BoolOp) and isinstance(whole.op, ast.And) else [whole]

    def is_said(node):
        if isinstance(node, ast.Compare):
            return len(node.ops) == 1 and isinstance(node.ops[0], SIGNS) and all(is_number(side) for side in (node.left, *node.comparators))
        is_not = isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not)
        values = node.values if isinstance(node, ast.BoolOp) else [node.operand] if is_not else []
        return bool(values) and all(map(is_said, values))

    def is_number(node):
        known = all(isinstance(part, NUMBERS) for part in ast.walk(node))
        return known and all(isinstance(part.value, int) for part in ast.walk(node) if isinstance(part, ast.Constant))

    return [ast.get_source_segment(limit.strip(), part).replace("//", "/") if is_said(part) else "?" for part in parts]


def head(sizes, settings, options, scalars):
    """The lines of a family's file that hold for the whole launch."""
    axes = list(options.get("block_size_names") or ["block_size_x", "block_size_y", "block_size_z"])
    sides = dict(zip(axes, ["WG_X", "WG_Y"]))
    square = len(sizes) == 2 and sizes[0] == sizes[1]
    lines = [f'form   = "{"square" if square else "matrix" if len(sizes) == 2 else "vector"}"']
    lines += [f"{name}      = {side}" for name, side in zip("n" if square else "nm", sizes) if isinstance(side, int)]
    if not all(side in scalars for side in sizes):
        lines.append('sizes  = "only"  # leave this line out if the kernel works at all sizes')
    tune, define = [], []
    for name, values in settings.items():
        values = list(values)
        if not all(isinstance(value, (int, np.integer)) and value >= 0 for value in values):
            define.append((name, "?"))
            continue
        values = [int(value) for value in values]
        if name in sides:
            define.append((name, sides[name]))
        if len(values) == 1 and name not in sides:
            define.append((name, values[0]))
        else:
            tune.append((sides.get(name, name), values))
    define += [(name, "?" if callable(value) else str(value)) for name, value in (options.get("defines") or {}).items()]
    lines += [f"{key} = {toml(pairs)}" for key, pairs in (("tune  ", tune), ("define", define)) if pairs]
    limits = options.get("restrictions") or []
    limits = limits if isinstance(limits, (list, tuple)) else [limits]
    texts = [part for limit in limits for part in claims(limit)]
    kept = [" ".join(part.split()) for part in texts if part != "?"]
    lines += [f"where  = {json.dumps(kept)}"] if kept else []
    if len(kept) < len(texts):
        lines.append("# Not all restrictions are comparisons: say the others by where.")
    groups = []
    for axis, side in enumerate(options["extent"]):
        size = formula(side, sizes) if isinstance(side, int) else side
        by = options.get("grid_div_" + "xyz"[axis])
        by = axes[axis : axis + 1] if by is None else "?" if callable(by) else by
        groups.append(f"ceil({size}, {' * '.join(map(str, by))})" if len(by) else size)
    return "\n".join([*lines, f"groups = {json.dumps(', '.join(groups))}", ""])


def record(name, source, problem, arguments, settings, options):
    if callable(source):
        source = source({key: values[0] for key, values in settings.items()})
    source = os.fspath(source[0] if isinstance(source, (list, tuple)) else source)
    is_file = "\n" not in source and os.path.isfile(source)
    if is_file:
        with open(source, errors="replace") as file:
            text = file.read()
    extent = list(problem) if isinstance(problem, (list, tuple, np.ndarray)) else [problem]
    options["extent"] = extent = [side if isinstance(side, str) else "?" if callable(side) else int(side) for side in extent]
    scalars = [int(value) for value in arguments if np.ndim(value) == 0 and getattr(value, "dtype", np.dtype("f")).kind in "iu"]
    longest = max((np.size(value) for value in arguments if np.ndim(value)), default=1)
    sizes = extent if len(extent) < 3 and all(isinstance(side, int) for side in extent) else [longest]
    answer = options.get("answer")
    outputs = [None] * len(arguments) if answer is None else [part is not None for part in answer]
    found = {
        "kernel": name,
        "file": source if is_file else None,
        "text": text if is_file else source,
        "language": options.get("lang"),
        "head": head(sizes, settings, options, scalars),
        "arguments": [argument(value, sizes, is_output) for value, is_output in zip(arguments, outputs)],
    }
    with open(os.environ["GPULAB_FOUND"], "w") as file:
        json.dump(found, file)


def run_kernel(kernel_name, kernel_source, problem_size, arguments, params, *divisors, **options):
    options.update(zip(("grid_div_x", "grid_div_y", "grid_div_z"), divisors))
    record(kernel_name, kernel_source, problem_size, arguments, {name: [value] for name, value in params.items()}, options)
    return list(arguments)


def tune_kernel(kernel_name, kernel_source, problem_size, arguments, tune_params, *more, **options):
    options.update(zip(("grid_div_x", "grid_div_y", "grid_div_z", "restrictions", "answer"), more))
    record(kernel_name, kernel_source, problem_size, arguments, tune_params, options)
    # What the script does with results must not happen: it may write them over real ones.
    os._exit(0)
