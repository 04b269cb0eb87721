"""Compiles CUDA C++ with NVRTC on any machine and prints each kernel's registers, spills and shared memory.

    compile.py [--arch sm_90a] [--out DIR] FILE ...

FILE is a .cu file, or one of the instances that the engine makes of linear_mma.cuh: linear_q4_0, grouped_q4_0; "instances" is all
of them. coded_i4_128_hopper is one of linear_coded.cuh, "coded" all of those; attention_fp8, attention_int8 and attention_int4 are those of
kv_kernels.cuh.

Needs the Python wheels nvidia-cuda-nvrtc==13.0.* and, for the resource report, nvidia-cuda-cuobjdump==13.0.*.
"""

import argparse
import ctypes
import pathlib
import re
import subprocess
import sys
import sysconfig
import time

SOURCES = pathlib.Path(__file__).resolve().parents[2] / "roselle-cuda" / "src" / "main" / "cuda"


def formats():
    """The formats that formats.cuh decodes: names of kernels, and their structs."""
    structs = re.findall(r"^struct (Format(\w+))", (SOURCES / "format" / "formats.cuh").read_text(), re.M)
    return {name.lower(): struct for struct, name in structs}


def codes():
    """The formats that codes.cuh decodes, likewise."""
    structs = re.findall(r"^struct (Codes([A-Z]\d\w+)) : ", (SOURCES / "format" / "codes.cuh").read_text(), re.M)
    return {name.lower(): struct for struct, name in structs}


def instance(name):
    """The text of an instance of linear_mma.cuh, linear_coded.cuh or kv_kernels.cuh, as the engine makes it; None for other names."""
    coded = re.fullmatch(r"coded_(\w+)_hopper", name)
    if coded and coded.group(1) in codes():
        return f'#include "gemm/linear_coded.cuh"\n\nCODED_BOTH_TYPES({codes()[coded.group(1)]}, {coded.group(1)})\n'
    cached = re.fullmatch(r"attention_(fp8|int8|int4)", name)
    if cached:
        return f'#include "attention/kv_kernels.cuh"\n\nCODED_KERNELS({cached.group(1).capitalize()}Codes, {cached.group(1)})\n'
    match = re.fullmatch(r"(linear|grouped)_(\w+)", name)
    if not match or match.group(2) not in formats():
        return None
    macro = "BOTH_TYPES" if match.group(1) == "linear" else "GROUPED_BOTH_TYPES"
    return f'#include "gemm/linear_mma.cuh"\n\n{macro}({formats()[match.group(2)]}, {match.group(2)})\n'


def text_of(source):
    """The text of a .cu file or of an instance."""
    return source.read_bytes() if source.exists() else (instance(source.stem) or source.read_text()).encode()


def cuda_folder():
    return pathlib.Path(sysconfig.get_paths()["purelib"]) / "nvidia" / "cu13"


def load_nvrtc():
    """The wheel's compiler, else that of a toolkit."""
    for folder in [cuda_folder() / "lib", *sorted(pathlib.Path("/usr/local").glob("cuda*/lib64"))]:
        if (folder / "libnvrtc.so.13").exists():
            for builtins in folder.glob("libnvrtc-builtins.so.13.?"):
                ctypes.CDLL(str(builtins), mode=ctypes.RTLD_GLOBAL)
            return ctypes.CDLL(str(folder / "libnvrtc.so.13"))
    sys.exit("libnvrtc.so.13 is neither among Python's packages nor in /usr/local/cuda*/lib64: pip install 'nvidia-cuda-nvrtc==13.0.*'")


def check(nvrtc, result, what):
    if result != 0:
        nvrtc.nvrtcGetErrorString.restype = ctypes.c_char_p
        raise RuntimeError(f"{what}: {nvrtc.nvrtcGetErrorString(result).decode()}")


def compile_cubin(nvrtc, source, arch, options=()):
    """Returns (cubin, log) of a .cu file; its includes are looked up beside it and among the project's sources."""
    program = ctypes.c_void_p()
    text = text_of(source)
    check(nvrtc, nvrtc.nvrtcCreateProgram(ctypes.byref(program), text, source.name.encode(), 0, None, None), "create")
    flags = [f"--gpu-architecture={arch}", "--std=c++17", f"-I{source.parent}", f"-I{SOURCES}", "-default-device", "--ptxas-options=--warn-on-spills"]
    flags += list(options)
    array = (ctypes.c_char_p * len(flags))(*[flag.encode() for flag in flags])
    result = nvrtc.nvrtcCompileProgram(program, len(flags), array)
    size = ctypes.c_size_t()
    nvrtc.nvrtcGetProgramLogSize(program, ctypes.byref(size))
    log = ctypes.create_string_buffer(size.value)
    nvrtc.nvrtcGetProgramLog(program, log)
    if result != 0:
        raise RuntimeError(f"{source.name} for {arch}:\n{log.value.decode()}")
    nvrtc.nvrtcGetCUBINSize(program, ctypes.byref(size))
    cubin = ctypes.create_string_buffer(size.value)
    nvrtc.nvrtcGetCUBIN(program, cubin)
    nvrtc.nvrtcDestroyProgram(ctypes.byref(program))
    return cubin.raw, log.value.decode()


def resources(cubin_path):
    tool = cuda_folder() / "bin" / "cuobjdump"
    if not tool.exists():
        return
    text = subprocess.run([tool, "--dump-resource-usage", cubin_path], capture_output=True, text=True).stdout
    for name, usage in re.findall(r"Function (\S+):\s+(.*)", text):
        numbers = dict(re.findall(r"(\w+):(\d+)", usage))
        print(f"  {name:32s} registers {numbers['REG']:>3s} stack {numbers['STACK']:>4s} local {numbers['LOCAL']}")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--arch", default="sm_90a")
    parser.add_argument("--out", type=pathlib.Path, default=pathlib.Path("."))
    parser.add_argument("files", nargs="+", type=pathlib.Path)
    arguments = parser.parse_args()
    nvrtc = load_nvrtc()
    arguments.out.mkdir(parents=True, exist_ok=True)
    instances = [pathlib.Path(f"{kind}_{name}.cu") for name in formats() for kind in ("linear", "grouped")]
    coded = [pathlib.Path(f"coded_{name}_hopper.cu") for name in codes()]
    named = {"instances": instances, "coded": coded}
    for source in [each for file in arguments.files for each in named.get(file.name, [file])]:
        start = time.time()
        cubin, log = compile_cubin(nvrtc, source, arguments.arch)
        path = arguments.out / f"{source.stem}.{arguments.arch}.cubin"
        path.write_bytes(cubin)
        print(f"{source.name} for {arguments.arch}: {time.time() - start:.1f} s, {len(cubin)} bytes")
        if log.strip("\0 \n"):
            print(log)
        resources(path)


if __name__ == "__main__":
    sys.exit(main())
