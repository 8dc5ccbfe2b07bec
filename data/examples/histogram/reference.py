"""Counts of the numbers 0 to 255: reference.py INPUT OUTPUT, with raw little-endian 32-bit integers."""

import collections
import sys
from array import array

path, result = sys.argv[1:]
numbers = array("i")
with open(path, "rb") as file:
    numbers.frombytes(file.read())
counts = collections.Counter(numbers)
with open(result, "wb") as file:
    array("i", [counts[number] for number in range(256)]).tofile(file)
