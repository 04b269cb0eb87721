"""Stores matrices as published checkpoints of GPTQ, AWQ, compressed-tensors, bitsandbytes and ModelOpt do, and says what
numbers that makes of them.

The numbers follow from each format's formula; words of compressed-tensors are packed by its package (0.20.0), those of
bitsandbytes made and unpacked by its functions for CPUs."""
import torch
from compressed_tensors.compressors import pack_to_int32
from compressed_tensors.compressors.nvfp4.helpers import pack_fp4_to_uint8, unpack_fp4_from_uint8

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


def whole_with_zeros(base, weight):
    """Bytes of which each row has a zero of its own."""
    codes, zeros, scales, numbers = grouped(weight, 8, weight.shape[1])
    signed = lambda n: (n - 128).to(torch.int8)
    return {base + ".weight": signed(codes), base + ".weight_scale": scales.half(),
            base + ".weight_zero_point": signed(zeros)}, numbers


def static8(base, weight):
    """FP8 with a scale for the tensor, as transformers has it without blocks."""
    scale = weight.abs().amax() / 448
    codes = (weight / scale).clamp(-448, 448).to(torch.float8_e4m3fn)
    return {base + ".weight": codes, base + ".weight_scale_inv": scale, base + ".activation_scale": torch.tensor(0.5)
            }, codes.float() * scale


def powers(weight, most):
    """A power of two for each 32 of a row, and its code."""
    largest = weight.reshape(weight.shape[0], -1, 32).abs().amax(2).clamp(min=1e-6)
    exponents = torch.ceil(torch.log2(largest / most))
    return 2**exponents.repeat_interleave(32, 1), (exponents + 127).to(torch.uint8)


def to_e2m1(numbers):
    """The nearest of the numbers that four bits have."""
    sizes = torch.tensor([0, 0.5, 1, 1.5, 2, 3, 4, 6])
    nearest = (numbers.abs()[..., None] - sizes).abs().argmin(-1)
    return sizes[nearest] * numbers.sign()


def pairs(numbers):
    packed = pack_fp4_to_uint8(numbers.to(torch.bfloat16))
    unpacked = unpack_fp4_from_uint8(packed, *numbers.shape)
    assert torch.equal(unpacked.float(), numbers), "the package unpacks other numbers"
    return packed


def nvfp4(base, weight, is_compressed):
    """Of compressed-tensors, whose overall scale divides, or of ModelOpt, whose one multiplies."""
    overall = (weight.abs().amax() / (6 * 448)).float()
    largest = weight.reshape(weight.shape[0], -1, 16).abs().amax(2)
    scales = (largest / 6 / overall).clamp(min=2**-9, max=448).to(torch.float8_e4m3fn)
    whole = scales.float() / (1 / overall) if is_compressed else scales.float() * overall
    whole = whole.repeat_interleave(16, 1)
    codes = to_e2m1(weight / whole)
    stored = {base + ".weight_scale": scales}
    if is_compressed:
        stored |= {base + ".weight_packed": pairs(codes), base + ".weight_global_scale": (1 / overall).reshape(1),
                   base + ".input_global_scale": torch.tensor([7.0])}
    else:
        stored |= {base + ".weight": pairs(codes), base + ".weight_scale_2": overall, base + ".input_scale": overall * 3}
    return stored, codes * whole


def mxfp4(base, weight):
    scales, exponents = powers(weight, 6)
    codes = to_e2m1(weight / scales)
    return {base + ".weight_packed": pairs(codes), base + ".weight_scale": exponents}, codes * scales


def mxfp8(base, weight):
    scales, exponents = powers(weight, 448)
    codes = (weight / scales).to(torch.float8_e4m3fn)
    return {base + ".weight": codes, base + ".weight_scale": exponents}, codes.float() * scales


def modelopt(base, weight):
    """NVFP4 and the three kinds of FP8, by the module's name."""
    if "mlp.gate" in base:
        return mxfp8(base, weight)
    if "mlp.up" in base or "v_proj" in base:
        return nvfp4(base, weight, False)
    scale = (weight.abs().amax(1) if "q_proj" in base else weight.abs().amax()) / 448
    each = scale[:, None] if scale.dim() else scale
    codes = (weight / each).clamp(-448, 448).to(torch.float8_e4m3fn)
    stored = {base + ".weight": codes, base + ".weight_scale": scale, base + ".input_scale": torch.tensor(0.5)}
    if "k_proj" in base:
        stored[base + ".k_scale"] = torch.tensor(0.25)
    return stored, codes.float() * each


def four_bits(base, weight, table, is_double):
    from bitsandbytes.functional import dequantize_4bit, quantize_4bit
    codes, state = quantize_4bit(weight, blocksize=64, compress_statistics=is_double, quant_type=table)
    stored = {f"{base}.weight.{name}": tensor for name, tensor in state.as_dict(packed=True).items()}
    state.shape = (1, weight.numel())  # blocks go on through rows; its kernel for CPUs (0.50.2) begins them anew in each
    return stored | {base + ".weight": codes}, dequantize_4bit(codes, state).float().reshape(weight.shape)


def eight_bits(base, weight):
    from bitsandbytes.functional import int8_vectorwise_dequant, int8_vectorwise_quant
    codes, scales, _ = int8_vectorwise_quant(weight.half())
    return {base + ".weight": codes, base + ".SCB": scales, base + ".weight_format": torch.tensor(0, dtype=torch.uint8)
            }, int8_vectorwise_dequant(codes, scales).float()


def compressed(form, ignore=("lm_head",), **weights):
    arguments = dict(num_bits=8, type="int", symmetric=True, strategy="channel", group_size=None, dynamic=False,
                     actorder=None, block_structure=None, observer="minmax", observer_kwargs={}) | weights
    group = dict(targets=["Linear"], weights=arguments, input_activations=None, output_activations=None)
    return dict(quant_method="compressed-tensors", format=form, config_groups=dict(group_0=group), ignore=list(ignore),
                kv_cache_scheme=None, quantization_status="compressed", global_compression_ratio=None, version="0.20.0")


def bits_and_bytes(bits, table="fp4", is_double=False):
    """As transformers writes it."""
    return dict(_load_in_4bit=bits == 4, _load_in_8bit=bits == 8, bnb_4bit_compute_dtype="bfloat16",
                bnb_4bit_quant_storage="uint8", bnb_4bit_quant_type=table, bnb_4bit_use_double_quant=is_double,
                llm_int8_enable_fp32_cpu_offload=False, llm_int8_has_fp16_weight=False, llm_int8_skip_modules=["lm_head"],
                llm_int8_threshold=6.0, load_in_4bit=bits == 4, load_in_8bit=bits == 8, quant_method="bitsandbytes")


MIXED = dict(quant_method="modelopt", quant_algo="MIXED_PRECISION", ignore=["lm_head"],
             producer=dict(name="modelopt", version="0.39.0"), kv_cache_scheme=dict(dynamic=False, num_bits=8, type="float"),
             quantized_layers={"model.layers.0.self_attn.o_proj": dict(quant_algo="FP8"),
                               "model.layers.0.self_attn.v_proj": dict(quant_algo="NVFP4", group_size=16)})


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
    "gptq8": (of_groups(8, "gptq"), lambda base, weight: gptq(base, weight, 8, True, 1)),
    "int8zeros": (compressed("int-quantized", symmetric=False), whole_with_zeros),
    "float8static": (dict(quant_method="fp8", activation_scheme="static", weight_block_size=None, dequantize=False,
                          modules_to_not_convert=["lm_head"]), static8),
    "nvfp4": (compressed("nvfp4-pack-quantized", num_bits=4, type="float", strategy="tensor_group", group_size=16,
                         scale_dtype="torch.float8_e4m3fn", zp_dtype="torch.float8_e4m3fn"),
              lambda base, weight: nvfp4(base, weight, True)),
    "micro4": (compressed("mxfp4-pack-quantized", num_bits=4, type="float", strategy="group", group_size=32,
                          scale_dtype="torch.uint8", zp_dtype="torch.uint8"), mxfp4),
    "micro8": (compressed("mxfp8-quantized", num_bits=8, type="float", strategy="group", group_size=32,
                          scale_dtype="torch.uint8", zp_dtype="torch.uint8"), mxfp8),
    "modelopt": (MIXED, modelopt),
    "nf4": (bits_and_bytes(4, "nf4"), lambda base, weight: four_bits(base, weight, "nf4", False)),
    "nf4double": (bits_and_bytes(4, "nf4", True), lambda base, weight: four_bits(base, weight, "nf4", True)),
    "fp4double": (bits_and_bytes(4, "fp4", True), lambda base, weight: four_bits(base, weight, "fp4", True)),
    "bytes": (bits_and_bytes(8), eight_bits),
}
SIZES = {form: dict(intermediate_size=64) for form in ("micro4", "micro8")}  # whole groups of 32
