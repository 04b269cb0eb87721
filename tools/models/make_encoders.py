#!/usr/bin/env python3
"""Writes tiny randomly initialised encoders as folders of sentence-transformers have them, with what Hugging Face transformers
computes for them in float32 on the CPU. usage: make_encoders.py OUT_DIR [NAME...]

Written with transformers 5.23.0 (of DeBERTa and Nomic's experts 5.24.0), tokenizers 0.23.3 and torch 2.15.0. OUT_DIR/NAME has config.json, model.safetensors (bf16),
tokenizer.json, texts.json (texts or pairs with the ids that Hugging Face's tokenizer gives them), the files of sentence-transformers,
and expected.safetensors: input_i, types_i where the model has types, hidden_i (after the last layer), and embedding_i (pooled, with
dense layers, normalised) or logits_i (of a classifier). Of SPLADE hidden_i are the logits of
masked tokens, embedding_i is the vector of the vocabulary; of BGE-M3 there is sparse_i, a weight of each token."""
import copy, json, os, sys
import torch, transformers
from safetensors.torch import load_file, save_file
from tokenizers import AddedToken, Regex, Tokenizer, decoders, models, normalizers, pre_tokenizers, processors, trainers

OUT, ONLY = sys.argv[1], sys.argv[2:]
SEED = 20302
TEXTS = [
    "Hi.",
    "The quick brown fox doesn't jump over 12 lazy dogs; Ünïcödé and 漢字 are unaffordable!",
    "In a small town by the sea, people tell the story of a ship that came home without a crew. " * 7,
]
PAIRS = [
    ("what is a panda?", "The giant panda is a bear that lives in China."),
    ("what is a panda?", "hi"),
    ("tell the story", TEXTS[2]),
]
SIZES = dict(hidden_size=32, num_hidden_layers=2, num_attention_heads=2, intermediate_size=48)


def word_piece():
    tokenizer = Tokenizer(models.WordPiece(unk_token="[UNK]"))
    tokenizer.normalizer = normalizers.BertNormalizer(lowercase=True)
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    special = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
    tokenizer.train_from_iterator(TEXTS + [t for pair in PAIRS for t in pair],
                                  trainers.WordPieceTrainer(vocab_size=180, special_tokens=special, show_progress=False))
    tokenizer.decoder = decoders.WordPiece()
    ids = [(t, tokenizer.token_to_id(t)) for t in ("[CLS]", "[SEP]")]
    tokenizer.post_processor = processors.TemplateProcessing(
        single="[CLS]:0 $A:0 [SEP]:0", pair="[CLS]:0 $A:0 [SEP]:0 $B:1 [SEP]:1", special_tokens=ids)
    # as released tokenizers say: who encodes must not obey
    tokenizer.enable_truncation(max_length=16)
    tokenizer.enable_padding(length=16)
    return tokenizer


def bert(**more):
    return transformers.BertConfig, dict(SIZES, max_position_embeddings=192, **more), word_piece, True


def byte_pairs():
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    special = [AddedToken(t, special=True, lstrip=t == "<mask>") for t in ("<s>", "<pad>", "</s>", "<unk>", "<mask>")]
    tokenizer.train_from_iterator(TEXTS + [t for pair in PAIRS for t in pair], trainers.BpeTrainer(
        vocab_size=330, special_tokens=special, show_progress=False, initial_alphabet=pre_tokenizers.ByteLevel.alphabet()))
    tokenizer.post_processor = processors.RobertaProcessing(("</s>", 2), ("<s>", 0), trim_offsets=True, add_prefix_space=False)
    return tokenizer


def unigram():
    tokenizer = Tokenizer(models.Unigram())
    tokenizer.normalizer = normalizers.Sequence([normalizers.NFKC(), normalizers.Replace(" {2,}", " ")])
    tokenizer.pre_tokenizer = pre_tokenizers.Metaspace(replacement="\u2581", prepend_scheme="always")
    tokenizer.decoder = decoders.Metaspace(replacement="\u2581", prepend_scheme="always")
    special = ["<s>", "<pad>", "</s>", "<unk>"]
    tokenizer.train_from_iterator(TEXTS + [t for pair in PAIRS for t in pair], trainers.UnigramTrainer(
        vocab_size=160, special_tokens=special, unk_token="<unk>", show_progress=False))
    tokenizer.post_processor = processors.TemplateProcessing(
        single="<s> $A </s>", pair="<s> $A </s> </s> $B </s>", special_tokens=[("<s>", 0), ("</s>", 2)])
    return tokenizer


def roberta(kind, tokenizer, **more):
    return kind, dict(SIZES, max_position_embeddings=514, type_vocab_size=1, pad_token_id=1, bos_token_id=0,
                      eos_token_id=2, **more), tokenizer, True


def distilbert(**more):
    return transformers.DistilBertConfig, dict(dim=32, n_layers=2, n_heads=2, hidden_dim=48, max_position_embeddings=192,
                                               **more), word_piece, False


def modern(**more):
    sizes = dict(SIZES, num_hidden_layers=4, max_position_embeddings=192, local_attention=16, global_attn_every_n_layers=3)
    ids = dict(pad_token_id=0, bos_token_id=2, cls_token_id=2, eos_token_id=3, sep_token_id=3)
    return transformers.ModernBertConfig, dict(sizes, **ids, **more), word_piece, False


def mpnet(**more):
    ids = dict(pad_token_id=1, bos_token_id=0, eos_token_id=2)
    return transformers.MPNetConfig, dict(SIZES, max_position_embeddings=514, **ids, **more), byte_pairs, False


def euro(**more):
    ids = dict(pad_token_id=0, bos_token_id=2, eos_token_id=3, mask_token_id=4)
    return transformers.EuroBertConfig, dict(SIZES, num_key_value_heads=1, max_position_embeddings=192, **ids, **more), word_piece, False


def pieces_of_deberta():
    """As DebertaV2Tokenizer cuts text."""
    tokenizer = Tokenizer(models.Unigram())
    tokenizer.normalizer = normalizers.Sequence([normalizers.Replace(Regex(r"\s{2,}|[\n\r\t]"), " "), normalizers.NFC(),
                                                 normalizers.Strip(left=False, right=True)])
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence([pre_tokenizers.Metaspace(replacement="\u2581", prepend_scheme="always")])
    tokenizer.decoder = decoders.Metaspace(replacement="\u2581", prepend_scheme="always")
    tokenizer.train_from_iterator(TEXTS + [t for pair in PAIRS for t in pair], trainers.UnigramTrainer(
        vocab_size=160, special_tokens=["[PAD]", "[CLS]", "[SEP]", "[UNK]", "[MASK]"], unk_token="[UNK]", show_progress=False))
    tokenizer.post_processor = processors.TemplateProcessing(
        single="[CLS]:0 $A:0 [SEP]:0", pair="[CLS]:0 $A:0 [SEP]:0 $B:1 [SEP]:1", special_tokens=[("[CLS]", 1), ("[SEP]", 2)])
    return tokenizer


def deberta(**more):
    """Distances as the third version has them: few kinds, so that far ones share some."""
    kinds = dict(max_relative_positions=-1, position_buckets=16, norm_rel_ebd="layer_norm", position_biased_input=False)
    arguments = dict(SIZES, max_position_embeddings=512, relative_attention=True, share_att_key=True, type_vocab_size=0,
                     pos_att_type=["p2c", "c2p"], pad_token_id=0) | kinds | more
    return transformers.DebertaV2Config, arguments, pieces_of_deberta, arguments["type_vocab_size"] > 0


class NomicMoe(transformers.NomicBertModel):
    """transformers' NomicBERT with what nomic-embed-text-v2-moe has instead: biases, plain feed-forwards, and in every other layer
    experts, of which a softmax of all logits weighs the two best. It is written as it was released, names and config.json too."""

    class Experts(torch.nn.Module):
        def __init__(self, width, inner, count):
            super().__init__()
            self.count, self.router = count, torch.nn.Linear(width, count, bias=False)
            self.w1 = torch.nn.Parameter(torch.empty(count, inner, width))
            self.w2 = torch.nn.Parameter(torch.empty(count, inner, width))
            self.bias = torch.nn.Parameter(torch.empty(width))

        def forward(self, x):
            weights = self.router(x).softmax(-1)
            chosen = weights.topk(2, -1)
            weights = torch.zeros_like(weights).scatter(-1, chosen.indices, chosen.values)
            each = torch.einsum("enf,efw->enw", torch.nn.functional.gelu(torch.einsum("nw,efw->enf", x[0], self.w1)), self.w2)
            return (torch.einsum("ne,enw->nw", weights[0], each) + self.bias)[None]

    def __init__(self, config):
        super().__init__(config)
        width, inner = config.hidden_size, config.intermediate_size
        for i, layer in enumerate(self.layers):
            for name in ("q_proj", "k_proj", "v_proj", "o_proj"):
                setattr(layer.self_attn, name, torch.nn.Linear(width, width))
            layer.mlp = self.Experts(width, inner, 5) if i % 2 else torch.nn.Sequential(
                torch.nn.Linear(width, inner), torch.nn.GELU(), torch.nn.Linear(inner, width))

    def released(self, name):
        for old, new in (("embeddings.LayerNorm", "emb_ln"), ("post_attention_layernorm", "norm1"), ("post_mlp_layernorm", "norm2"),
                         ("self_attn.o_proj", "attn.out_proj"), ("mlp.0", "mlp.fc1"), ("mlp.2", "mlp.fc2"),
                         ("mlp.router", "mlp.router.layer"), ("mlp.w", "mlp.experts.mlp.w"), ("mlp.bias", "mlp.experts.bias")):
            name = name.replace(old, new)
        return name.replace("layers.", "encoder.layers.") if name.startswith("layers.") else name

    def load_pretrained(self, folder):
        tensors = load_file(os.path.join(folder, "model.safetensors"))
        for name, parameter in self.named_parameters():
            part = name.split(".")[-2]
            if part in ("q_proj", "k_proj", "v_proj"):
                both = tensors[self.released(name).replace(f"self_attn.{part}", "attn.Wqkv")].chunk(3)
                parameter.copy_(both["qkv".index(part[0])])
            else:
                parameter.copy_(tensors[self.released(name)].view(parameter.shape))

    def save_pretrained(self, folder):
        tensors = {}
        for name, value in self.state_dict().items():
            if "inv_freq" not in name and "position_ids" not in name:
                tensors[self.released(name)] = value.flatten(0, 1) if value.dim() == 3 else value
        for i in range(len(self.layers)):
            for kind in ("weight", "bias"):
                parts = [tensors.pop(f"encoder.layers.{i}.self_attn.{part}_proj.{kind}") for part in "qkv"]
                tensors[f"encoder.layers.{i}.attn.Wqkv.{kind}"] = torch.cat(parts)
        save_file({name: value.contiguous() for name, value in tensors.items()}, os.path.join(folder, "model.safetensors"))
        config = self.config
        write_json(folder, "config.json", dict(
            model_type="nomic_bert", architectures=["NomicBertModel"], activation_function="gelu", causal=False, prenorm=False,
            expert_choice_router=False, ffn_div=1, layer_norm_epsilon=config.layer_norm_eps, max_trained_positions=2048,
            mlp_fc1_bias=True, mlp_fc2_bias=True, qkv_proj_bias=True, moe_every_n_layers=2, moe_impl="megablocks",
            moe_normalize_expert_weights=False, moe_top_k=2, num_experts=5, num_shared_experts=0, n_embd=config.hidden_size,
            n_head=config.num_attention_heads, n_inner=config.intermediate_size, n_layer=config.num_hidden_layers,
            n_positions=config.max_position_embeddings, pad_token_id=1, pad_vocab_size_multiple=64, parallel_block=False,
            rotary_emb_base=config.rope_parameters["rope_theta"], rotary_emb_fraction=1.0, rotary_emb_interleaved=False,
            rotary_emb_scale_base=None, rotary_scaling_factor=None, scale_attn_weights=True, type_vocab_size=config.type_vocab_size,
            use_flash_attn=True, use_rms_norm=None, vocab_size=config.vocab_size))


def rotary(kind, **more):
    return kind, dict(SIZES, max_position_embeddings=514, pad_token_id=1, bos_token_id=0, eos_token_id=2, **more), unigram, True


class JinaTasks(transformers.JinaEmbeddingsV3Model):
    """Jina's third embedder as it was first released: under XLM-R's name, with adapters of five tasks within its checkpoint. What it
    computes for a task is what transformers' model computes with the adapters' products added to its weights."""
    NAMES = ["retrieval.query", "retrieval.passage", "separation", "classification", "text-matching"]
    RANK, ALPHA = 4, 2

    def matrices(self):
        generator = torch.Generator().manual_seed(SEED)
        for name, parameter in self.named_parameters():
            if parameter.dim() == 2 and "pooler" not in name:
                rows, columns = parameter.shape
                a, b = (self.RANK, columns), (rows, self.RANK)
                if "embeddings" in name:
                    a, b = (rows, self.RANK), (self.RANK, columns)
                draw = lambda shape: (0.3 * torch.randn(len(self.NAMES), *shape, generator=generator)).to(torch.bfloat16).float()
                shared = draw(a) if "k_proj" not in name and "v_proj" not in name else shared  # as one product they shrink once
                yield name, parameter, shared, draw(b)

    def add(self, task, sign=1):
        for name, parameter, a, b in self.matrices():
            left, right = (a, b) if "embeddings" in name else (b, a)
            parameter.add_(sign * self.ALPHA / self.RANK * left[task] @ right[task])

    def save_pretrained(self, folder):
        super().save_pretrained(folder)
        pairs = {name: pair for name, _, *pair in self.matrices()}
        released = {}
        for name, value in self.state_dict().items():
            new = name
            for old, other in (("embeddings.LayerNorm", "emb_ln"), ("post_attention_layernorm", "norm1"), ("post_mlp_layernorm", "norm2"),
                               ("self_attn.o_proj", "mixer.out_proj"), ("self_attn.q_proj", "mixer.Wqkv"), ("layers.", "encoder.layers.")):
                new = new.replace(old, other)
            if "k_proj" in name or "v_proj" in name or "inv_freq" in name or "position_ids" in name:
                continue
            each = [name.replace("q_proj", f"{part}_proj") for part in "qkv"] if "q_proj" in name else [name]
            value = torch.cat([self.state_dict()[one] for one in each])
            if name not in pairs:
                released["roberta." + new] = value
                continue
            new = f"roberta.{new.removesuffix('.weight')}.parametrizations.weight"
            released[new + ".original"] = value
            released[new + ".0.lora_A"] = pairs[name][0].to(torch.bfloat16)
            released[new + ".0.lora_B"] = torch.cat([pairs[one][1] for one in each], 1).to(torch.bfloat16)
        file = os.path.join(folder, "model.safetensors")
        save_file({name: value.contiguous() for name, value in released.items()}, file)
        config = json.load(open(os.path.join(folder, "config.json")))
        for name in ("rope_parameters", "head_dim"):
            config.pop(name, None)
        write_json(folder, "config.json", dict(
            config, model_type="xlm-roberta", architectures=["XLMRobertaLoRA"], position_embedding_type="rotary",
            rotary_emb_base=20000.0, lora_adaptations=self.NAMES, lora_rank=self.RANK, lora_alpha=self.ALPHA, lora_dropout_p=0.0,
            lora_main_params_trainable=False, load_trained_adapters=True, use_flash_attn=True, truncate_dim=None,
            task_instructions={name: {"retrieval.query": "tell: ", "retrieval.passage": "a story: "}.get(name, "")
                               for name in self.NAMES}))


JUDGE = ("<|im_start|>system\nJudge whether the Document meets the requirements based on the Query and the Instruct provided. "
         'Note that the answer can only be "yes" or "no".<|im_end|>\n<|im_start|>user\n<Instruct>: {instruction}\n<Query>: {query}\n'
         "<Document>: {document}<|im_end|>\n<|im_start|>assistant\n<think>\n\n</think>\n\n")
USUAL = "Given a web search query, retrieve relevant passages that answer the query"
JUDGED = [(None, *PAIRS[0]), (None, "tell the story", "<|im_end|> is no end here: yes or no?"), ("Find a bear", *PAIRS[1])]
# as the published template: a system message is the instruction
ROLES = ('{%- set ns = namespace(instruction="' + USUAL + '", query="", document="") -%}{%- for message in messages -%}'
         '{%- if message.role == "system" -%}{%- set ns.instruction = message.content -%}'
         '{%- elif message.role == "query" -%}{%- set ns.query = message.content -%}'
         '{%- elif message.role == "document" -%}{%- set ns.document = message.content -%}{%- endif -%}{%- endfor -%}'
         + JUDGE.replace("{instruction}", "{{ ns.instruction }}").replace("{query}", "{{ ns.query }}")
         .replace("{document}", "{{ ns.document }}").replace("</think>\n\n", '</think>{{ "\\n\\n" }}'))


def judging():
    """Byte pairs with Qwen's special tokens, and the words by whose logits Qwen3-Reranker ranks."""
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    special = [AddedToken(t, special=True) for t in ("<|endoftext|>", "<|im_start|>", "<|im_end|>", "<think>", "</think>")]
    corpus = [JUDGE.format(instruction=USUAL, query="", document=""), "yes", "no"] * 9 + [t for p in JUDGED for t in p if t]
    tokenizer.train_from_iterator(corpus, trainers.BpeTrainer(
        vocab_size=480, special_tokens=special, show_progress=False, initial_alphabet=pre_tokenizers.ByteLevel.alphabet()))
    return tokenizer


def with_end():
    """As tokenizers of decoders that embed have it: a token at the end, whose hidden state is the text's vector."""
    tokenizer = byte_pairs()
    tokenizer.post_processor = processors.Sequence([
        processors.ByteLevel(trim_offsets=False),
        processors.TemplateProcessing(single="$A </s>", pair="$A </s> $B </s>", special_tokens=[("</s>", 2)])])
    return tokenizer


MODELS = {
    "bert": (transformers.BertModel, bert(), "mean", True, 0),
    "bert-cls-dense": (transformers.BertModel, bert(hidden_act="gelu_new"), "cls", True, 24),
    "bert-max": (transformers.BertModel, bert(), "max", False, 0),
    "bert-cross": (transformers.BertForSequenceClassification, bert(num_labels=1), None, False, 0),
    "bert-labels": (transformers.BertForSequenceClassification,
                    bert(id2label={0: "no", 1: "perhaps", 2: "yes"}, label2id={"no": 0, "perhaps": 1, "yes": 2}), None, False, 0),
    "roberta": (transformers.RobertaModel, roberta(transformers.RobertaConfig, byte_pairs), "mean", True, 0),
    "roberta-cross": (transformers.RobertaForSequenceClassification,
                      roberta(transformers.RobertaConfig, byte_pairs, num_labels=1), None, False, 0),
    "xlm-roberta": (transformers.XLMRobertaModel, roberta(transformers.XLMRobertaConfig, unigram), "cls", True, 0),
    "xlm-roberta-cross": (transformers.XLMRobertaForSequenceClassification,
                          roberta(transformers.XLMRobertaConfig, unigram, num_labels=1), None, False, 0),
    "nomic-bert": (transformers.NomicBertModel, (transformers.NomicBertConfig, dict(
        SIZES, max_position_embeddings=192), word_piece, True), "mean", False, 0),
    "nomic-bert-moe": (NomicMoe, (transformers.NomicBertConfig, dict(
        SIZES, max_position_embeddings=514, pad_token_id=1, bos_token_id=0, eos_token_id=2, layer_norm_eps=1e-5, type_vocab_size=1,
        rope_parameters=dict(rope_type="default", rope_theta=10000.0)), unigram, True), "mean", True, 0),
    "qwen3-embedding": (transformers.Qwen3Model, (transformers.Qwen3Config, dict(
        SIZES, num_key_value_heads=1, head_dim=16, max_position_embeddings=192, tie_word_embeddings=True), with_end, False),
                        "lasttoken", True, 0),
    "electra": (transformers.ElectraModel, (transformers.ElectraConfig, dict(
        SIZES, embedding_size=32, max_position_embeddings=192), word_piece, True), "cls", True, 0),
    "electra-cross": (transformers.ElectraForSequenceClassification, (transformers.ElectraConfig, dict(
        SIZES, embedding_size=32, max_position_embeddings=192, num_labels=1), word_piece, True), None, False, 0),
    "bert-tokens": (transformers.BertForTokenClassification,
                    bert(id2label={0: "O", 1: "PER", 2: "LOC"}, label2id={"O": 0, "PER": 1, "LOC": 2}), None, False, 0),
    "qwen3-score": (transformers.Qwen3ForSequenceClassification, (transformers.Qwen3Config, dict(
        SIZES, num_key_value_heads=1, head_dim=16, max_position_embeddings=192, num_labels=1, pad_token_id=1), with_end, False),
                    None, False, 0),
    "qwen3-reranker": (transformers.Qwen3ForCausalLM, (transformers.Qwen3Config, dict(
        SIZES, num_key_value_heads=1, head_dim=16, max_position_embeddings=192, tie_word_embeddings=True), judging, False),
                       "yes-no", False, 0),
    "qwen3-reranker-labels": (transformers.Qwen3ForSequenceClassification, (transformers.Qwen3Config, dict(
        SIZES, num_key_value_heads=1, head_dim=16, max_position_embeddings=192, num_labels=1, pad_token_id=0), judging, False),
                              "label", False, 0),
    "mpnet": (transformers.MPNetModel, mpnet(), "mean", True, 0),
    "mpnet-cross": (transformers.MPNetForSequenceClassification, mpnet(num_labels=1), None, False, 0),
    "modernbert": (transformers.ModernBertModel, modern(), "mean", True, 0),
    "modernbert-cross": (transformers.ModernBertForSequenceClassification,
                         modern(num_labels=1, classifier_pooling="mean"), None, False, 0),
    "eurobert": (transformers.EuroBertModel, euro(), "mean", True, 0),
    "eurobert-labels": (transformers.EuroBertForSequenceClassification, euro(num_labels=3), None, False, 0),
    "jina-v3": (transformers.JinaEmbeddingsV3Model, rotary(transformers.JinaEmbeddingsV3Config), "mean", True, 0),
    "jina-v3-cross": (transformers.JinaEmbeddingsV3ForSequenceClassification,
                      rotary(transformers.JinaEmbeddingsV3Config, num_labels=1), None, False, 0),
    "jina-v3-tasks": (JinaTasks, rotary(transformers.JinaEmbeddingsV3Config), "mean", True, 0),
    "gte": (transformers.GteModel, rotary(transformers.GteConfig), "cls", True, 0),
    "gte-cross": (transformers.GteForSequenceClassification, rotary(transformers.GteConfig, num_labels=1), None, False, 0),
    "embedding-gemma": (transformers.Gemma3TextModel, (transformers.Gemma3TextConfig, dict(
        SIZES, num_key_value_heads=1, head_dim=16, max_position_embeddings=192, sliding_window=16, pad_token_id=1,
        bos_token_id=0, eos_token_id=2, layer_types=["sliding_attention", "full_attention"],
        use_bidirectional_attention=True), with_end, False), "mean", True, 24),
    "splade": (transformers.BertForMaskedLM, bert(), "splade", False, 0),
    "splade-distilbert": (transformers.DistilBertForMaskedLM, distilbert(), "splade", False, 0),
    "splade-roberta": (transformers.RobertaForMaskedLM, roberta(transformers.RobertaConfig, byte_pairs), "splade", False, 0),
    "bge-m3": (transformers.XLMRobertaModel, roberta(transformers.XLMRobertaConfig, unigram), "cls", True, 0),
    "deberta-v3": (transformers.DebertaV2Model, deberta(), "mean", True, 0),
    "deberta-v3-cross": (transformers.DebertaV2ForSequenceClassification, deberta(num_labels=1), None, False, 0),
    "deberta-v3-tokens": (transformers.DebertaV2ForTokenClassification, deberta(
        num_labels=3, position_biased_input=True, type_vocab_size=2, position_buckets=-1, max_relative_positions=48,
        norm_rel_ebd="none"), None, False, 0),
    "distilbert": (transformers.DistilBertModel, distilbert(), "mean", False, 0),
    "distilbert-labels": (transformers.DistilBertForSequenceClassification, distilbert(num_labels=2), None, False, 0),
}


def initialise(module):
    for name, parameter in module.named_parameters():
        if parameter.dim() >= 2:
            parameter.normal_(0, 0.5 if "embeddings" in name else 0.9 / parameter.shape[-1] ** 0.5)
        elif "norm" in name.lower():
            parameter.add_(torch.randn_like(parameter) * 0.1)
        else:
            parameter.normal_(0, 0.3)
        parameter.copy_(parameter.to(torch.bfloat16).float())


def pool(hidden, how):
    if how == "mean":
        return hidden.sum(0) / max(len(hidden), 1e-9)
    return {"cls": lambda: hidden[0], "max": lambda: hidden.max(0).values, "lasttoken": lambda: hidden[-1]}[how]()


def write_json(folder, name, value):
    os.makedirs(os.path.dirname(os.path.join(folder, name)), exist_ok=True)
    with open(os.path.join(folder, name), "w") as file:
        json.dump(value, file, indent=1, ensure_ascii=False)


def write_modules(folder, width, how, normalises, dense):
    if how == "splade":
        kinds = [("", "MLMTransformer"), ("1_SpladePooling", "SpladePooling")]
        write_json(folder, "modules.json", [dict(idx=i, name=str(i), path=path, type=f"sentence_transformers.sparse_encoder.models.{kind}")
                                            for i, (path, kind) in enumerate(kinds)])
        write_json(folder, "1_SpladePooling/config.json", dict(pooling_strategy="max", activation_function="relu",
                                                               word_embedding_dimension=None))
        return None
    kinds = ["Transformer", "Pooling"] + (["Dense"] if dense else []) + (["Normalize"] if normalises else [])
    paths = ["" if kind == "Transformer" else f"{i}_{kind}" for i, kind in enumerate(kinds)]
    write_json(folder, "modules.json", [dict(idx=i, name=str(i), path=path, type=f"sentence_transformers.models.{kind}")
                                        for i, (kind, path) in enumerate(zip(kinds, paths))])
    write_json(folder, "sentence_bert_config.json", dict(max_seq_length=190, do_lower_case=False))
    write_json(folder, "config_sentence_transformers.json",
               dict(prompts=dict(query="tell: ", document=""), default_prompt_name=None))
    flags = dict(cls="cls_token", mean="mean_tokens", max="max_tokens", lasttoken="lasttoken")
    write_json(folder, "1_Pooling/config.json", dict(word_embedding_dimension=width, **{
        f"pooling_mode_{flag}": how == kind for kind, flag in flags.items()}, include_prompt=True))
    if not dense:
        return None
    layer = torch.nn.Linear(width, dense)
    initialise(layer)
    write_json(folder, "2_Dense/config.json", dict(in_features=width, out_features=dense, bias=True,
                                                   activation_function="torch.nn.modules.activation.Tanh"))
    save_file({f"linear.{k}": v.contiguous() for k, v in layer.state_dict().items()},
              os.path.join(folder, "2_Dense/model.safetensors"))
    return layer


def write_sparse(folder, width):
    """BGE-M3's layer that weighs tokens, as safetensors."""
    layer = torch.nn.Linear(width, 1)
    initialise(layer)
    layer.bias.fill_(0.25)
    save_file(dict(layer.state_dict()), os.path.join(folder, "sparse_linear.safetensors"))
    return layer


def pieces(how, tokenizer, i):
    """The ids and types of an example, and how its texts are told."""
    if how in ("yes-no", "label"):
        instruction, query, document = JUDGED[i]
        before, middle, behind = JUDGE.partition("<Instruct>")[0], JUDGE[JUDGE.index("<Instruct>"):JUDGE.rindex("<|im_end|>\n<|im_start|>a")], \
            JUDGE[JUDGE.rindex("<|im_end|>\n<|im_start|>a"):]
        encode = lambda text: tokenizer.encode(text).ids
        tokenizer.encode_special_tokens = True  # the texts are strangers'
        ids = encode(middle.format(instruction=instruction or USUAL, query=query, document=document))
        tokenizer.encode_special_tokens = False
        ids = encode(before) + ids + encode(behind)
        told = dict(texts=[query, document], ids=ids, types=[0] * len(ids))
        return dict(told, instruction=instruction) if instruction else told
    texts = [TEXTS[i]] if how else list(PAIRS[i])
    encoding = tokenizer.encode(*texts)
    return dict(texts=texts, ids=encoding.ids, types=encoding.type_ids)


def write_judge(folder, tokenizer):
    """As sentence-transformers publishes it: the tokens whose logits count, and a template with their own roles."""
    kinds = [("", "base.modules.transformer.Transformer"), ("1_LogitScore", "cross_encoder.modules.logit_score.LogitScore")]
    write_json(folder, "modules.json", [dict(idx=i, name=str(i), path=path, type=f"sentence_transformers.{kind}")
                                        for i, (path, kind) in enumerate(kinds)])
    write_json(folder, "1_LogitScore/config.json", dict(true_token_id=tokenizer.token_to_id("yes"),
                                                        false_token_id=tokenizer.token_to_id("no")))
    with open(os.path.join(folder, "chat_template.jinja"), "w") as file:
        file.write(ROLES)


@torch.no_grad()
def write(name, kind, config, how, normalises, dense):
    torch.manual_seed(SEED)
    config_class, arguments, make_tokenizer, has_types = config
    tokenizer = make_tokenizer()
    arguments = dict(arguments, vocab_size=tokenizer.get_vocab_size())
    model = kind(config_class(**arguments, attn_implementation="eager")).eval().float()
    initialise(model)
    folder = os.path.join(OUT, name)
    os.makedirs(folder, exist_ok=True)
    copy.deepcopy(model).to(torch.bfloat16).save_pretrained(folder)  # the model's own frequencies of positions stay float32
    tokenizer.save(os.path.join(folder, "tokenizer.json"))
    tokenizer.no_truncation()
    tokenizer.no_padding()
    judges, scores = how in ("yes-no", "label"), how in (None, "label")
    layer = write_modules(folder, model.config.hidden_size, how, normalises, dense) if how and not judges else None
    if how == "yes-no":
        write_judge(folder, tokenizer)
    sparse = write_sparse(folder, model.config.hidden_size) if name == "bge-m3" else None
    expected, texts = {}, []
    for i in range(len(TEXTS)):
        texts.append(pieces(how, tokenizer, i))
        ids, types = texts[-1]["ids"], texts[-1]["types"]
        expected[f"input_{i}"] = torch.tensor(ids, dtype=torch.int32)
        batch = dict(input_ids=torch.tensor([ids]), attention_mask=torch.ones(1, len(ids), dtype=torch.long))
        if has_types:
            expected[f"types_{i}"] = torch.tensor(types, dtype=torch.int32)
            batch["token_type_ids"] = torch.tensor([types])
        task = 2 * i - 1 if hasattr(model, "NAMES") else -1  # none, the second, the fourth
        if task >= 0:
            model.add(task)
            expected[f"task_{i}"] = torch.tensor([task], dtype=torch.int32)
        output = model(**batch, output_hidden_states=True)
        if task >= 0:
            model.add(task, -1)
        hidden = output.logits[0] if how == "splade" else output.hidden_states[-1][0] if judges or scores else output.last_hidden_state[0]
        expected[f"hidden_{i}"] = hidden.contiguous()
        if how == "splade":
            expected[f"embedding_{i}"] = torch.log1p(torch.relu(hidden)).max(0).values.contiguous()
            continue
        if sparse is not None:
            expected[f"sparse_{i}"] = torch.relu(sparse(hidden))[:, 0].contiguous()
        if how == "yes-no":
            last = output.logits[0, -1]
            expected[f"logits_{i}"] = (last[tokenizer.token_to_id("yes")] - last[tokenizer.token_to_id("no")]).reshape(1)
            continue
        if scores:
            expected[f"logits_{i}"] = output.logits[0].contiguous()
            continue
        vector = pool(hidden, how)
        if layer is not None:
            vector = torch.tanh(layer(vector))
        if normalises:
            vector = torch.nn.functional.normalize(vector, dim=0)
        expected[f"embedding_{i}"] = vector.contiguous()
    save_file(expected, os.path.join(folder, "expected.safetensors"))
    write_json(folder, "texts.json", texts)
    print(name, [len(t["ids"]) for t in texts])


for model_name, parts in MODELS.items():
    if not ONLY or model_name in ONLY:
        write(model_name, *parts)
