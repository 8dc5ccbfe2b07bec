"""Prefix sums: reference.py INPUT OUTPUT TYPE, with raw little-endian elements."""

import itertools
import sys
from array import array

path, result, kind = sys.argv[1:]
numbers = array({"i32": "i", "i64": "q", "f32": "f", "f64": "d"}[kind])
with open(path, "rb") as file:
    numbers.frombytes(file.read())
with open(result, "wb") as file:
    array(numbers.typecode, itertools.accumulate(numbers)).tofile(file)
