"""The little of the CUDA driver API that the lab needs, on the context that PyTorch made."""

import ctypes

import torch

cuda = ctypes.CDLL("libcuda.so.1") if torch.cuda.is_available() else None  # none: emulator.py


class Attribute(ctypes.Structure):
    _fields_ = [("id", ctypes.c_int), ("padding", ctypes.c_int), ("value", ctypes.c_uint * 16)]


class Config(ctypes.Structure):
    _fields_ = [
        ("grid", ctypes.c_uint * 3),
        ("block", ctypes.c_uint * 3),
        ("shared_bytes", ctypes.c_uint),
        ("stream", ctypes.c_void_p),
        ("attributes", ctypes.POINTER(Attribute)),
        ("attribute_count", ctypes.c_uint),
    ]


CLUSTER = 4
PROGRAMMATIC = 6


def check(result, what):
    if result != 0:
        name = ctypes.c_char_p()
        cuda.cuGetErrorName(result, ctypes.byref(name))
        raise RuntimeError(f"{what} failed: {name.value.decode() if name.value else result}")


class Kernel:
    def __init__(self, function, name):
        self.function = function
        self.name = name
        self.shared = 0

    def __call__(self, grid, block, arguments, shared=0, cluster=None, programmatic=False):
        """Launches on PyTorch's current stream; arguments are tensors, None (a null pointer), ints (c_int), floats or ctypes."""
        if shared > self.shared:
            check(cuda.cuFuncSetAttribute(self.function, 8, shared), f"{self.name}: {shared} bytes of shared memory")
            self.shared = shared
        values = [convert(argument) for argument in arguments]
        pointers = (ctypes.c_void_p * len(values))(*[ctypes.cast(ctypes.pointer(v), ctypes.c_void_p) for v in values])
        attributes = (Attribute * 2)()
        count = 0
        if cluster:
            attributes[count].id = CLUSTER
            attributes[count].value[0:3] = cluster
            count += 1
        if programmatic:
            attributes[count].id = PROGRAMMATIC
            attributes[count].value[0] = 1
            count += 1
        config = Config()
        config.grid[:] = grid
        config.block[:] = block
        config.shared_bytes = shared
        config.stream = torch.cuda.current_stream().cuda_stream
        config.attributes = attributes
        config.attribute_count = count
        check(cuda.cuLaunchKernelEx(ctypes.byref(config), self.function, pointers, None), f"launch of {self.name} {grid}")


def convert(argument):
    if argument is None:
        return ctypes.c_void_p(0)
    if isinstance(argument, torch.Tensor):
        return ctypes.c_void_p(argument.data_ptr())
    if isinstance(argument, int):
        return ctypes.c_int(argument)
    if isinstance(argument, float):
        return ctypes.c_float(argument)
    return argument


def tensor_map(matrix, box_rows, box_columns=64):
    """How the copy engine sees boxes of a matrix of 16-bit numbers: a CUtensorMap, swizzled by a box's row of 64 or 128 bytes, zeros past
    its ends."""
    memory = ctypes.create_string_buffer(192)
    address = -(-ctypes.addressof(memory) // 64) * 64
    sizes = (ctypes.c_ulonglong * 2)(matrix.shape[1], matrix.shape[0])
    strides = (ctypes.c_ulonglong * 1)(matrix.stride(0) * 2)
    box = (ctypes.c_uint * 2)(box_columns, box_rows)
    steps = (ctypes.c_uint * 2)(1, 1)
    uint16, swizzle, promote_256 = 1, {32: 2, 64: 3}[box_columns], 3
    check(cuda.cuTensorMapEncodeTiled(ctypes.c_void_p(address), uint16, 2, ctypes.c_void_p(matrix.data_ptr()), sizes, strides, box, steps,
                                      0, swizzle, promote_256, 0), "tensor map")
    return (ctypes.c_ulonglong * 16).from_buffer_copy(ctypes.string_at(address, 128))


class Module:
    def __init__(self, path):
        torch.cuda.current_stream()
        torch.zeros(1, device="cuda")
        self.module = ctypes.c_void_p()
        data = open(path, "rb").read()
        check(cuda.cuModuleLoadData(ctypes.byref(self.module), data), f"loading {path}")

    def kernel(self, name):
        function = ctypes.c_void_p()
        check(cuda.cuModuleGetFunction(ctypes.byref(function), self.module, name.encode()), f"kernel {name}")
        return Kernel(function, name)


def long(value):
    return ctypes.c_longlong(value)


def time_graph(runs, repeats=5):
    """Median seconds of one of `runs` (callables), captured together in a CUDA graph so that launch costs stay out."""
    for run in runs[:2]:
        run()
    torch.cuda.synchronize()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        for run in runs:
            run()
    graph.replay()
    torch.cuda.synchronize()
    times = []
    for _ in range(repeats):
        start = torch.cuda.Event(enable_timing=True)
        end = torch.cuda.Event(enable_timing=True)
        start.record()
        graph.replay()
        end.record()
        torch.cuda.synchronize()
        times.append(start.elapsed_time(end) / 1e3 / len(runs))
    return sorted(times)[len(times) // 2]
