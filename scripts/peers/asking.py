"""Those who take part: gpulab, and its peers as programs that answer cases (peer.hpp has the words)."""

import csv
import os
import queue
import re
import signal
import subprocess
import threading
import time
from pathlib import Path
from typing import IO, Iterator, NamedTuple

FOLDER = Path(__file__).resolve().parent
ROOT = FOLDER.parent.parent


class Work(NamedTuple):
    """A problem: the family, the element type, and shapes, columns by rows."""

    family: str
    dtype: str
    shapes: list[tuple[int, int]]


class Answer(NamedTuple):
    """What one contender measured of one shape in one round; times in seconds."""

    peer: str
    version: str
    shape: tuple[int, int]
    clock: str
    why_not: str = ""
    sets: str = ""
    runs: int = 0
    median: float = 0.0
    best: float = 0.0
    batch: float | None = None
    bytes: int = 0


class Missing(Exception):
    """A contender that cannot take part, and how to get it."""


class Build:
    """A compilation that runs beside others."""

    def __init__(self, command: list[str], hint: str):
        self.hint = hint
        try:
            self.process = subprocess.Popen(
                command, cwd=FOLDER, text=True,
                stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
            )  # fmt: skip
        except OSError as error:
            raise Missing(f"{error.strerror}: {command[0]}; {hint}") from error

    def finish(self, timeout: float) -> None:
        """Waits; raises Missing with the compiler's first error."""
        try:
            said, _ = self.process.communicate(timeout=timeout)
        except subprocess.TimeoutExpired:
            self.process.kill()
            raise Missing(f"its compilation took over {timeout:.0f} s") from None
        if self.process.returncode:
            errors = [line for line in said.splitlines() if "error" in line.lower()] or said.splitlines() or [""]
            raise Missing(f"does not compile ({errors[0].strip()[:160]}); {self.hint}")


class Peer:
    """A program that answers cases. It starts when it is first asked, and stays until it is closed."""

    def __init__(self, label: str, command: list[str], clock: str, hint: str, works: set[str], **environment: str):
        self.label, self.command, self.clock, self.hint, self.works = label, command, clock, hint, works
        self.environment = environment
        self.process: subprocess.Popen[str] | None = None
        self.lines: queue.Queue[str] = queue.Queue()
        self.name, self.version, self.why_gone = label, "", ""

    def start(self, log: IO[str]) -> None:
        """Starts the program, if it does not run; raises Missing if it does not say its name."""
        if self.process or self.why_gone:
            return
        environment = os.environ | self.environment
        try:
            self.process = subprocess.Popen(
                self.command, cwd=FOLDER, env=environment, text=True,
                stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
            )
        except OSError as error:
            self.why_gone = f"{error.strerror}: {self.command[0]}; {self.hint}"
            raise Missing(self.why_gone) from error
        said: list[str] = []
        threading.Thread(target=self.listen, args=[self.process.stdout], daemon=True).start()
        complaints = threading.Thread(target=self.keep, args=[self.process.stderr, said, log], daemon=True)
        complaints.start()
        try:
            self.name, _, self.version = self.line(60).partition(" ")
        except Missing:
            complaints.join(1)
            last = said[-1][:160] if said else self.why_gone
            self.why_gone = f"does not start ({last}); {self.hint}"
            raise Missing(self.why_gone) from None

    def listen(self, output: IO[str]) -> None:
        for line in output:
            self.lines.put(line.strip())
        self.lines.put("")

    @staticmethod
    def keep(output: IO[str], said: list[str], log: IO[str]) -> None:
        for line in output:
            said.append(line.strip())
            log.write(line)

    def line(self, timeout: float) -> str:
        """The next line of its output; without one the program is ended."""
        try:
            text = self.lines.get(timeout=timeout)
            self.why_gone = "" if text else f"it ended (exit {self.process.wait(5) if self.process else '?'})"
        except (queue.Empty, subprocess.TimeoutExpired):
            text, self.why_gone = "", f"no answer within {timeout:.0f} s"
        if not text:
            self.close()
            raise Missing(self.why_gone)
        return text

    def ask(self, work: Work, sample_s: float, timeout: float, log: IO[str]) -> Iterator[Answer]:
        """Its answers to a problem's shapes, one after the other."""
        for shape in work.shapes:
            fields = (self.name, self.version, shape, self.clock)
            if self.why_gone:
                yield Answer(*fields, why_not=self.why_gone)
                continue
            try:
                self.start(log)
                fields = (self.name, self.version, shape, self.clock)
                assert self.process and self.process.stdin
                self.process.stdin.write(f"{work.family} {work.dtype} {shape[0]} {shape[1]} {sample_s}\n")
                self.process.stdin.flush()
                yield self.understood(self.line(timeout), fields)
            except (Missing, OSError, ValueError) as error:
                self.why_gone = self.why_gone or str(error)
                self.close()
                yield Answer(*fields, why_not=self.why_gone)

    @staticmethod
    def understood(line: str, fields: tuple[str, str, tuple[int, int], str]) -> Answer:
        verdict, _, rest = line.partition(" ")
        if verdict != "ok":
            return Answer(*fields, why_not=rest)
        sets, runs, median, best, batch = rest.split()
        return Answer(
            *fields, sets=sets, runs=int(runs), median=float(median), best=float(best),
            batch=None if batch == "-" else float(batch),
        )

    def can(self, work: Work) -> bool:
        """Whether it does such problems."""
        return work.family in self.works

    def close(self) -> None:
        """Ends the program."""
        if self.process:
            self.process.kill()
            self.process.wait()
            self.process = None


class Gpulab:
    """gpulab's rungs on an OpenCL device, over rotated buffers."""

    def __init__(self, program: str, clock: str, rungs: dict[str, tuple[str, str]], *words: str, **environment: str):
        """`rungs` has the rungs and work-groups of each family; `words` choose the device."""
        self.program, self.clock, self.rungs, self.words = program, clock, rungs, words
        self.environment = environment
        self.label = "gpulab"
        self.rows: list[dict[str, str]] = []

    def ask(self, work: Work, sample_s: float, timeout: float, log: IO[str]) -> Iterator[Answer]:
        """Rows of sweeps: one for all vectors or squares, and one for each rectangle."""
        vectors = [shape for shape in work.shapes if work.family in ("reduce", "dot")]
        squares = [shape for shape in work.shapes if shape not in vectors and shape[0] == shape[1]]
        others = [[shape] for shape in work.shapes if shape not in vectors + squares]
        until = time.monotonic() + timeout
        for shapes in [vectors or squares, *others]:
            if shapes:
                yield from self.sweep(work, shapes, sample_s, until - time.monotonic(), log)

    def sweep(self, work: Work, shapes: list[tuple[int, int]], sample_s: float, timeout: float, log: IO[str]):
        rungs, groups = self.rungs[work.family]
        size = ["-n", ",".join(str(n) for n, _ in shapes)]
        if work.family == "reduce" and "wide" in rungs:
            size += ["--set", "finish=device"]  # so that it leaves one result, as its peers do
        if work.family == "transpose" and shapes[0][0] != shapes[0][1]:
            size += ["--m", str(shapes[0][1])]
        command = [
            self.program, "-q", *self.words, "sweep", work.family, *size, "--variant", rungs, "--wg", groups,
            "--dtype", work.dtype, "--cache", "cold", "--clock", self.clock, "--no-tuned",
            "--sample-time", str(sample_s), "--min-time", str(min(sample_s, 0.05)), "-o", "-",
        ]  # fmt: skip
        output, why = run_to_end(command, os.environ | self.environment, timeout, log)
        answered = set()
        for row in csv.DictReader(output.splitlines()):
            if None in row.values() or None in row:
                continue  # a torn last line
            self.rows.append(row)
            answered.add((int(row["n"]), int(row["m"])))
            yield gpulab_answer(row)
        for shape in shapes:
            if shape not in answered:
                yield Answer(self.label, "", shape, self.clock, why_not=why or "no row")

    def can(self, work: Work) -> bool:
        """Whether it does such problems."""
        return work.family in self.rungs

    def close(self) -> None:
        """Nothing of it stays."""


def gpulab_answer(row: dict[str, str]) -> Answer:
    """A row of gpulab's as an answer."""
    peer = f"gpulab {row['variant']}"
    fields = (peer, row["gpulab"], (int(row["n"]), int(row["m"])), row["clock"])
    if row["status"] != "ok":
        return Answer(*fields, why_not=f"{row['status']}: {row['reason']}")

    def number(name: str) -> float | None:
        return float(row[name]) if row[name] else None

    return Answer(
        *fields, sets="", runs=int(row["runs"]), median=float(row["t_median_s"]), best=float(row["t_min_s"]),
        batch=number("t_batch_s"), bytes=int(row["bytes"]),
    )  # fmt: skip


def run_to_end(command: list[str], environment: dict[str, str], timeout: float, log: IO[str]) -> tuple[str, str]:
    """A command's standard output, and what was wrong with it; at its deadline it is ended with its children."""
    if timeout <= 0:
        return "", "the time was up"
    try:
        process = subprocess.Popen(
            command, env=environment, text=True, start_new_session=True, stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        )  # fmt: skip
    except OSError as error:
        return "", f"{error.strerror}: {command[0]}"
    try:
        output, errors = process.communicate(timeout=timeout)
        why = "" if process.returncode == 0 else f"exit {process.returncode}"
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        output, errors = process.communicate()
        why = f"the time was up after {timeout:.0f} s"
    log.write(f"$ {' '.join(command)}\n{errors}")
    if why and errors.strip():
        why += f" ({re.sub(r' +', ' ', errors.strip().splitlines()[-1])[:160]})"
    return output, why
