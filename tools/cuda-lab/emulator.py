"""Runs kernels on the CPU (emulator.h) behind driver.py's interface, with CPU tensors, for checks without a GPU. Needs g++."""

import ctypes
import pathlib
import re
import subprocess
import tempfile

from compile import instance
from driver import convert

HERE = pathlib.Path(__file__).resolve().parent
SOURCES = HERE.parents[1] / "roselle-cuda" / "src" / "main" / "cuda"
REPLACED = {"numbers.cuh", "ampere.cuh"}


def text_of(source):
    """The text of a path, of the file of a name among the project's sources, or of an instance of linear_mma.cuh."""
    if isinstance(source, str):
        return instance(pathlib.Path(source).stem) or next(SOURCES.rglob(source)).read_text()
    return source.read_text()


def plain(text, seen):
    """The source with its includes, without what the emulator replaces."""
    text = re.sub(r'asm\("ex2.*', "y = exp2f(x);", text)
    text = re.sub(r"extern __shared__ (?:__align__\(\d+\) )?([\w ]+?) (\w+)\[\];", r"\1* \2 = (\1*)emulatedShared;", text)

    def include(match):
        included = SOURCES / match.group(1)
        if included.name in REPLACED or included in seen:
            return ""
        seen.add(included)
        return plain(included.read_text(), seen)

    return re.sub(r'#include "(.*)"', include, text).replace("#pragma once", "").replace("#pragma unroll", "//")


class Kernel:
    def __init__(self, function, name):
        self.function, self.name = function, name

    def __call__(self, grid, block, arguments, shared=0, cluster=None, programmatic=False):
        values = [convert(argument) for argument in arguments]
        pointers = (ctypes.c_void_p * len(values))(*[ctypes.cast(ctypes.pointer(v), ctypes.c_void_p) for v in values])
        self.function((ctypes.c_uint * 3)(*grid), (ctypes.c_uint * 3)(*block), pointers)


class Module:
    def __init__(self, source, architecture=800):
        folder = pathlib.Path(tempfile.mkdtemp())
        text = '#include "emulator.h"\n' + plain(text_of(source), set())
        flags = ["g++", "-std=c++20", "-O1", "-w", "-ffp-contract=off", "-fno-gnu-unique", "-fPIC", f"-I{HERE}", f"-D__CUDA_ARCH__={architecture}"]
        (folder / "one.cpp").write_text(text)
        subprocess.run(flags + ["-c", folder / "one.cpp", "-o", folder / "one.o"], check=True)
        symbols = subprocess.run(["nm", "--defined-only", folder / "one.o"], capture_output=True, text=True, check=True).stdout
        names = [line.split()[2] for line in symbols.splitlines() if line.split()[1] == "T" and not line.split()[2].startswith("_Z")]
        text += "".join(f'extern "C" void run_{n}(const unsigned* g, const unsigned* b, void** a) {{ emulate({n}, g, b, a); }}\n' for n in names)
        (folder / "two.cpp").write_text(text)
        subprocess.run(flags + ["-c", "-fsanitize=thread", folder / "two.cpp", "-o", folder / "two.o"], check=True)
        subprocess.run(flags + ["-shared", folder / "two.o", HERE / "races.cpp", "-o", folder / "two.so"], check=True)
        self.library = ctypes.CDLL(str(folder / "two.so"))

    def kernel(self, name):
        return Kernel(self.library[f"run_{name}"], name)

    def races(self):
        """How often two threads have met at one place with no barrier between them (races.cpp); the first times were printed."""
        return self.library.emulatedRaces()
