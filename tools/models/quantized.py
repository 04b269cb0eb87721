"""Stores matrices as published checkpoints of GPTQ, AWQ and compressed-tensors do, and says what numbers that makes of them.

The numbers follow from each format's formula; words of compressed-tensors are packed by its package (0.20.0)."""
import torch
from compressed_tensors.compressors import pack_to_int32

GROUP = 16
AWQ_ORDER = [0, 2, 4, 6, 1, 3, 5, 7]


def words(numbers, bits):
    """Numbers of each row in 32-bit words, from the lowest bit on, across words where they do not fit."""
    rows, count = numbers.shape
    assert count * bits % 32 == 0, (count, bits)
    stream = (numbers.long()[:, :, None] >> torch.arange(bits)) & 1
    stream = stream.reshape(rows, -1, 32) << torch.arange(32)
    return stream.sum(-1).to(torch.int32)


def grouped(weight, bits, group, order=None):
    """Codes from 0, zeros and float16 scales of groups of columns; those of a group need not be neighbours."""
    rows, columns = weight.shape
    of = torch.arange(columns) // group if order is None else order
    groups = int(of.max()) + 1
    codes = torch.empty(rows, columns, dtype=torch.long)
    scales, zeros = torch.empty(rows, groups), torch.empty(rows, groups, dtype=torch.long)
    for g in range(groups):
        part = weight[:, of == g]
        low, high = part.amin(1).clamp(max=0), part.amax(1).clamp(min=0)
        scale = ((high - low) / (2**bits - 1)).clamp(min=1e-4).half().float()
        zero = (-low / scale).round().clamp(1, 2**bits - 1).long()
        codes[:, of == g] = ((part / scale[:, None]).round().long() + zero[:, None]).clamp(0, 2**bits - 1)
        scales[:, g], zeros[:, g] = scale, zero
    return codes, zeros, scales, (codes - zeros[:, of]).float() * scales[:, of]


def symmetric(weight, bits, group):
    """Signed codes and scales of groups of columns."""
    rows, columns = weight.shape
    largest = weight.reshape(rows, -1, group).abs().amax(2)
    scales = (largest / (2 ** (bits - 1) - 1)).clamp(min=1e-4).to(torch.bfloat16).float()
    codes = (weight / scales.repeat_interleave(group, 1)).round().clamp(-(2 ** (bits - 1)), 2 ** (bits - 1) - 1)
    return codes.to(torch.int8), scales, codes * scales.repeat_interleave(group, 1)


def gptq(base, weight, bits, ordered, version):
    order = torch.arange(weight.shape[1]) // GROUP
    if ordered:
        order = order[torch.randperm(len(order))]
    codes, zeros, scales, numbers = grouped(weight, bits, GROUP, order)
    stored = {base + ".qweight": words(codes, bits).T.contiguous(), base + ".scales": scales.T.half().contiguous(),
              base + ".qzeros": words((zeros - (2 - version)).T, bits), base + ".g_idx": order.to(torch.int32)}
    return stored, numbers


def awq(base, weight):
    codes, zeros, scales, numbers = grouped(weight, 4, GROUP)
    interleaved = lambda n: words(n.T.reshape(n.shape[1], -1, 8)[:, :, AWQ_ORDER].reshape(n.shape[1], -1), 4)
    return {base + ".qweight": interleaved(codes), base + ".qzeros": interleaved(zeros),
            base + ".scales": scales.T.half().contiguous()}, numbers


def packed(base, weight, bits, is_symmetric):
    shape = {base + ".weight_shape": torch.tensor(weight.shape)}
    if is_symmetric:
        codes, scales, numbers = symmetric(weight, bits, GROUP)
        return shape | {base + ".weight_packed": pack_to_int32(codes, bits),
                        base + ".weight_scale": scales.to(torch.bfloat16)}, numbers
    codes, zeros, scales, numbers = grouped(weight, bits, GROUP)
    signed = lambda n: (n - 2 ** (bits - 1)).to(torch.int8)
    return shape | {base + ".weight_packed": pack_to_int32(signed(codes), bits), base + ".weight_scale": scales.half(),
                    base + ".weight_zero_point": pack_to_int32(signed(zeros), bits, packed_dim=0).contiguous()}, numbers


def whole(base, weight):
    codes, scales, numbers = symmetric(weight, 8, weight.shape[1])
    return {base + ".weight": codes, base + ".weight_scale": scales.to(torch.bfloat16)}, numbers


def float8(base, weight, by_row):
    largest = weight.abs().amax(1, keepdim=True) if by_row else weight.abs().amax().reshape(1)
    scale = (largest / 448).to(torch.bfloat16).float()
    codes = (weight / scale).clamp(-448, 448).to(torch.float8_e4m3fn)
    stored = {base + ".weight": codes, base + ".weight_scale": scale.to(torch.bfloat16)}
    if not by_row:
        stored[base + ".input_scale"] = torch.tensor([0.5])
    return stored, codes.float() * scale


def compressed(form, ignore=("lm_head",), **weights):
    arguments = dict(num_bits=8, type="int", symmetric=True, strategy="channel", group_size=None, dynamic=False,
                     actorder=None, block_structure=None, observer="minmax", observer_kwargs={}) | weights
    group = dict(targets=["Linear"], weights=arguments, input_activations=None, output_activations=None)
    return dict(quant_method="compressed-tensors", format=form, config_groups=dict(group_0=group), ignore=list(ignore),
                kv_cache_scheme=None, quantization_status="compressed", global_compression_ratio=None, version="0.20.0")


def of_groups(bits, form):
    return dict(quant_method="gptq", bits=bits, group_size=GROUP, desc_act=form == "gptq", sym=False, checkpoint_format=form)


FORMS = {  # by the end of a model's name: its configuration, and what stores one matrix
    "gptq": (of_groups(4, "gptq"), lambda base, weight: gptq(base, weight, 4, True, 1)),
    "gptq2": (of_groups(2, "gptq_v2"), lambda base, weight: gptq(base, weight, 2, False, 2)),
    "awq": (dict(quant_method="awq", bits=4, group_size=GROUP, zero_point=True, version="gemm"), awq),
    "packed4": (compressed("pack-quantized", num_bits=4, strategy="group", group_size=GROUP, symmetric=False), lambda base, weight: packed(base, weight, 4, False)),
    "packed8": (compressed("pack-quantized", ["re:.*lm_head", "re:.*down_proj$"], strategy="group", group_size=GROUP),
                lambda base, weight: ({base + ".weight": weight.to(torch.bfloat16)}, weight.to(torch.bfloat16).float())
                if "down_proj" in base else packed(base, weight, 8, True)),
    "int8": (compressed("int-quantized"), whole),
    "float8": (compressed("float-quantized", type="float"), lambda base, weight: float8(base, weight, True)),
    "float8tensor": (compressed("float-quantized", type="float", strategy="tensor"),
                     lambda base, weight: float8(base, weight, False)),
}
