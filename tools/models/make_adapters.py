#!/usr/bin/env python3
"""Writes tiny random LoRA adapters of the variants that make_variants.py wrote, with the logits and greedy tokens that PEFT
computes for them in float32 on the CPU, which are compared with those of the merged model here.
usage: make_adapters.py VARIANTS_DIR OUT_DIR [NAME...|--merged]

Written with peft 0.21.2, transformers 5.23.0 and torch 2.15.0. Each folder has adapter_config.json, adapter_model.safetensors and
expected.safetensors (input_i, logits_i, greedy_i), as the tiny models have."""
import json, os, shutil, sys, tempfile
import peft, torch, transformers
from safetensors.torch import load_file, save_file

VARIANTS, OUT, ONLY = sys.argv[1], sys.argv[2], sys.argv[3:]
SEED, VOCABULARY = 20262, 96
ATTENTION = ["q_proj", "k_proj", "v_proj", "o_proj"]
ALL = ATTENTION + ["gate_proj", "up_proj", "down_proj"]
ADAPTERS = {
    "qwen3-bias": dict(r=4, lora_alpha=8, target_modules=ALL),
    "qwen3-bias-patterns": dict(r=3, lora_alpha=6, target_modules=ALL, use_rslora=True, rank_pattern={
        "q_proj": 8, r"layers\.1\.mlp\.(up|down)_proj": 2}, alpha_pattern={r"self_attn\.v_proj": 20, "down_proj": 5}),
    "phi3-partial": dict(r=4, lora_alpha=16, target_modules="all-linear"),
    "neox-serial": dict(r=4, lora_alpha=8, target_modules=["query_key_value", "dense", "dense_4h_to_h"]),
    "granite-bias": dict(r=2, lora_alpha=8, target_modules=r".*\.layers\.\d+\.(self_attn\.(q|k|o)_proj|mlp\.\w+_proj)"),
    "gemma2-caps": dict(r=4, lora_alpha=4, target_modules=ATTENTION + ["down_proj"], layers_to_transform=[0, 2]),
    "deepseek-yarn": dict(r=4, lora_alpha=8, target_modules=[
        "q_a_proj", "q_b_proj", "kv_a_proj_with_mqa", "o_proj"]),
    # of tokens: embeddings and logits, of tied and untied models
    "qwen3-bias-tied": dict(r=4, lora_alpha=8, target_modules=["q_proj", "embed_tokens", "lm_head"]),
    "gemma2-caps-tied": dict(r=3, lora_alpha=6, use_rslora=True, target_modules=["embed_tokens", "lm_head"]),
    "phi-norms-untied": dict(r=4, lora_alpha=8, rank_pattern={"lm_head": 6}, target_modules=[
        "q_proj", "fc1", "fc2", "embed_tokens", "lm_head"]),
    # matrices of their own
    "granite-bias-head": dict(r=4, lora_alpha=8, target_modules=["v_proj"], modules_to_save=["lm_head"]),
    "phi-norms-saved": dict(r=4, lora_alpha=8, target_modules=["v_proj"], modules_to_save=["lm_head", "embed_tokens"]),
    # products with an activation of their own
    "gpt2-inner-activated": dict(r=4, lora_alpha=8, target_modules=["c_attn", "c_fc"], fan_in_fan_out=True),
    "starcoder2-window-activated": dict(r=4, lora_alpha=8, target_modules=["c_fc", "c_proj", "k_proj"]),
    "neox-serial-activated": dict(r=4, lora_alpha=8, target_modules=["dense_h_to_4h"]),
    # experts
    "qwen3-moe-dense-experts": dict(r=3, lora_alpha=6, target_modules=["q_proj"], target_parameters=[
        "mlp.experts.gate_up_proj", "mlp.experts.down_proj"]),
    "gpt-oss-clamped-experts": dict(r=2, lora_alpha=4, target_modules=[], target_parameters=[
        "mlp.experts.gate_up_proj", "mlp.experts.down_proj"]),
    "mixtral-window-experts": dict(r=2, lora_alpha=4, target_modules=["v_proj"], target_parameters=["experts.down_proj"],
                                   alpha_pattern={"experts.down_proj": 7}),
    "mixtral-window-separate": dict(r=3, lora_alpha=6, target_modules=["o_proj", "w1", "w2", "w3"]),
}
SEPARATE = ["mixtral-window-separate"]  # a pair for each expert, as PEFT wrote them when experts were modules

MERGED = {  # what is not low-rank products alone, for OUT_DIR of their own
    "qwen3-bias-dora": dict(r=4, lora_alpha=8, target_modules=ALL, use_dora=True, modules_to_save=["lm_head"]),
    "qwen3-bias-tokens": dict(r=4, lora_alpha=8, target_modules=["q_proj", "v_proj"], lora_bias=True,
                              trainable_token_indices={"embed_tokens": [5, 7, 40]}),
    "qwen3-bias-embeddings": dict(r=4, lora_alpha=8, target_modules=["k_proj", "embed_tokens"]),
    "gpt2-inner-transposed": dict(r=4, lora_alpha=8, target_modules=["c_attn", "c_fc"], fan_in_fan_out=True),
}
if ONLY == ["--merged"]:
    ADAPTERS, ONLY = MERGED, []


def greedy(model, ids, count):
    for _ in range(count):
        ids = torch.cat([ids, model(ids).logits[:, -1].argmax(-1, keepdim=True)], 1)
    return ids[0, -count:]


def base_of(name):
    """The model with the longest name that the adapter's begins with."""
    return os.path.join(VARIANTS, max((each for each in os.listdir(VARIANTS) if name.startswith(each)), key=len))


@torch.no_grad()
def write_separate(base, folder, arguments):
    """An adapter of the time when each expert was three modules; what it adds is checked with the model's own tensors."""
    tensors = {}
    for name, tensor in load_file(os.path.join(base, "model.safetensors")).items():
        module = name.removesuffix(".weight")
        if module.split(".")[-1] in arguments["target_modules"]:
            for part, shape in (("A", (arguments["r"], tensor.shape[1])), ("B", (tensor.shape[0], arguments["r"]))):
                pair = torch.empty(shape).normal_(0, 0.4 / shape[1] ** 0.5)
                tensors[f"base_model.model.{module}.lora_{part}.weight"] = pair.to(torch.bfloat16)
    peft.LoraConfig(task_type="CAUSAL_LM", inference_mode=True, **arguments).save_pretrained(folder)
    save_file(tensors, os.path.join(folder, "adapter_model.safetensors"), metadata={"format": "pt"})


def merged_by_hand(base, folder, arguments):
    """The model with what pairs add to the tensors of its file."""
    tensors = load_file(os.path.join(base, "model.safetensors"))
    pairs = {k: v.float() for k, v in load_file(os.path.join(folder, "adapter_model.safetensors")).items()}
    for name in pairs:
        if name.endswith(".lora_A.weight"):
            module = name.removeprefix("base_model.model.").removesuffix(".lora_A.weight")
            added = pairs[name.replace("lora_A", "lora_B")] @ pairs[name] * (arguments["lora_alpha"] / arguments["r"])
            tensors[module + ".weight"] = tensors[module + ".weight"].float() + added
    with tempfile.TemporaryDirectory() as merged:
        shutil.copy(os.path.join(base, "config.json"), merged)
        save_file({k: v.float() for k, v in tensors.items()}, os.path.join(merged, "model.safetensors"), metadata={"format": "pt"})
        return transformers.AutoModelForCausalLM.from_pretrained(merged, dtype=torch.float32, attn_implementation="eager")


def write(name, arguments):
    torch.manual_seed(SEED + sum(name.encode()))
    base = base_of(name)
    folder, expected = os.path.join(OUT, name), {}
    model = transformers.AutoModelForCausalLM.from_pretrained(base, dtype=torch.float32, attn_implementation="eager")
    if name in SEPARATE:
        write_separate(base, folder, arguments)
        model = peft.PeftModel.from_pretrained(model, folder).eval()
    else:
        model = peft.get_peft_model(model, peft.LoraConfig(task_type="CAUSAL_LM", **arguments)).eval()
    with torch.no_grad():
        for parameter_name, parameter in model.named_parameters() if name not in SEPARATE else ():
            if ".lora_magnitude" in parameter_name or "trainable_tokens_delta" in parameter_name \
                    or ".modules_to_save." in parameter_name:
                parameter.mul_(1 + 0.3 * torch.randn_like(parameter))
                parameter.copy_(parameter.to(torch.bfloat16).float())
            elif ".lora_" in parameter_name:
                parameter.normal_(0, 0.4 / parameter.shape[-1] ** 0.5)
                parameter.copy_(parameter.to(torch.bfloat16).float())
        if name not in SEPARATE:
            model.save_pretrained(folder)
        file = os.path.join(folder, "adapter_model.safetensors")
        save_file({k: v.to(torch.bfloat16) for k, v in load_file(file).items()}, file, metadata={"format": "pt"})
        difference = 0
        for i, length in enumerate((21, 37)):
            ids = torch.randint(3, VOCABULARY, (1, length), generator=torch.Generator().manual_seed(SEED + i))
            expected[f"input_{i}"] = ids[0].to(torch.int32).contiguous()
            expected[f"logits_{i}"] = model(ids).logits[0].float().contiguous()
            expected[f"greedy_{i}"] = greedy(model, ids, 8).to(torch.int32).contiguous()
            with model.disable_adapter():
                difference = max(difference, float((model(ids).logits[0] - expected[f"logits_{i}"]).abs().max()))
        merged = merged_by_hand(base, folder, arguments) if name in SEPARATE else model.merge_and_unload()
        apart = max(float((merged(expected[f"input_{i}"][None].long()).logits[0] - expected[f"logits_{i}"]).abs().max())
                    for i in range(2))
    if arguments.get("modules_to_save") or {"embed_tokens", "lm_head"} & set(arguments["target_modules"]):
        apart = 0  # PEFT's merge keeps tied what the adapter has told apart
    assert apart < 1e-3 < 0.1 < difference, (apart, difference)
    path = os.path.join(folder, "adapter_config.json")
    config = json.load(open(path)) | dict(base_model_name_or_path=os.path.basename(base))
    for key in ("target_modules", "target_parameters", "modules_to_save"):
        if isinstance(config.get(key), list):
            config[key].sort()
    json.dump(config, open(path, "w"), indent=2)
    readme = os.path.join(folder, "README.md")
    if os.path.exists(readme):
        os.remove(readme)
    save_file(expected, os.path.join(folder, "expected.safetensors"))
    print(name, "from the base", difference, "from the merged model", apart, flush=True)


@torch.no_grad()
def write_cross_encoder(base, folder):
    """An adapter of a cross-encoder with a head and biases of its own, and what an encoder's reference has."""
    torch.manual_seed(SEED)
    model = transformers.AutoModelForSequenceClassification.from_pretrained(base, dtype=torch.float32, attn_implementation="eager")
    model = peft.get_peft_model(model, peft.LoraConfig(
        task_type="SEQ_CLS", r=4, lora_alpha=8, bias="all", target_modules=["query", "value"])).eval()
    for name, parameter in model.named_parameters():
        if parameter.requires_grad:
            parameter.normal_(0, 0.4 / parameter.shape[-1] ** 0.5 if parameter.dim() > 1 else 0.3)
    model.peft_config["default"].base_model_name_or_path = os.path.basename(base)
    model.save_pretrained(folder)
    reference = load_file(os.path.join(base, "expected.safetensors"))
    for i in range(3):
        ids, types = (reference[f"{key}_{i}"][None].long() for key in ("input", "types"))
        output = model(input_ids=ids, token_type_ids=types, output_hidden_states=True)
        reference[f"hidden_{i}"], reference[f"logits_{i}"] = output.hidden_states[-1][0].contiguous(), output.logits[0].contiguous()
    save_file(reference, os.path.join(folder, "expected.safetensors"))
    os.remove(os.path.join(folder, "README.md"))


if ADAPTERS is MERGED:
    write_cross_encoder(os.path.join(VARIANTS, "../tiny-encoders/bert-cross"), os.path.join(OUT, "bert-cross-biases"))
for name, arguments in ADAPTERS.items():
    if not ONLY or name in ONLY:
        write(name, arguments)
