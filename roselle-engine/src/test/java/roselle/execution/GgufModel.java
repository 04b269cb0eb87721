package roselle.execution;

import static java.util.Map.entry;

import java.lang.foreign.MemorySegment;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import roselle.checkpoint.Checkpoint;
import roselle.checkpoint.Metadata;
import roselle.checkpoint.gguf.GgufWriter;
import roselle.tensor.DataType;
import roselle.tensor.Dequantizer;
import roselle.tensor.Shape;
import roselle.tensor.Tensor;

/**
 * A Hugging Face checkpoint as llama.cpp's converter lays it out in a GGUF of float32: its keys and names, queries and keys
 * permuted for pairs of neighbours, norms with their 1, experts stacked, matrices turned and split.
 */
final class GgufModel {
    private static final Map<String, String> FAMILIES = Map.of(
            "mistral",
            "llama",
            "mixtral",
            "llama",
            "gemma3_text",
            "gemma3",
            "phi",
            "phi2",
            "cohere",
            "command-r",
            "gpt_neox",
            "gptneox",
            "qwen2_moe",
            "qwen2moe",
            "qwen3_moe",
            "qwen3moe",
            "gpt_oss",
            "gpt-oss",
            "deepseek_v3",
            "deepseek2");
    private static final List<String> PERMUTED = List.of("llama", "mistral", "mixtral", "granite");
    private static final Map<String, String> TOP = Map.ofEntries(
            entry("model.embed_tokens", "token_embd"),
            entry("transformer.wte", "token_embd"),
            entry("transformer.wpe", "position_embd"),
            entry("gpt_neox.embed_in", "token_embd"),
            entry("model.norm", "output_norm"),
            entry("model.final_layernorm", "output_norm"),
            entry("transformer.ln_f", "output_norm"),
            entry("gpt_neox.final_layer_norm", "output_norm"),
            entry("lm_head", "output"),
            entry("embed_out", "output"));
    private static final Map<String, String> LAYER = Map.ofEntries(
            entry("input_layernorm", "attn_norm"),
            entry("ln_1", "attn_norm"),
            entry("ln_2", "ffn_norm"),
            entry("post_attention_layernorm", "ffn_norm"),
            entry("pre_feedforward_layernorm", "ffn_norm"),
            entry("post_feedforward_layernorm", "post_ffw_norm"),
            entry("post_self_attn_layernorm", "post_attention_norm"),
            entry("post_mlp_layernorm", "post_ffw_norm"),
            entry("self_attn.q_proj", "attn_q"),
            entry("self_attn.k_proj", "attn_k"),
            entry("self_attn.v_proj", "attn_v"),
            entry("self_attn.o_proj", "attn_output"),
            entry("self_attn.dense", "attn_output"),
            entry("self_attn.qkv_proj", "attn_qkv"),
            entry("self_attn.q_norm", "attn_q_norm"),
            entry("self_attn.k_norm", "attn_k_norm"),
            entry("self_attn.sinks", "attn_sinks"),
            entry("self_attn.q_a_proj", "attn_q_a"),
            entry("self_attn.q_a_layernorm", "attn_q_a_norm"),
            entry("self_attn.q_b_proj", "attn_q_b"),
            entry("self_attn.kv_a_proj_with_mqa", "attn_kv_a_mqa"),
            entry("self_attn.kv_a_layernorm", "attn_kv_a_norm"),
            entry("attn.c_attn", "attn_qkv"),
            entry("attn.c_proj", "attn_output"),
            entry("attention.query_key_value", "attn_qkv"),
            entry("attention.dense", "attn_output"),
            entry("mlp.gate_proj", "ffn_gate"),
            entry("mlp.up_proj", "ffn_up"),
            entry("mlp.down_proj", "ffn_down"),
            entry("mlp.gate_up_proj", "ffn_up"),
            entry("mlp.fc1", "ffn_up"),
            entry("mlp.fc2", "ffn_down"),
            entry("mlp.c_fc", "ffn_up"),
            entry("mlp.c_proj", "ffn_down"),
            entry("mlp.dense_h_to_4h", "ffn_up"),
            entry("mlp.dense_4h_to_h", "ffn_down"),
            entry("mlp.gate", "ffn_gate_inp"),
            entry("mlp.router", "ffn_gate_inp"),
            entry("block_sparse_moe.gate", "ffn_gate_inp"),
            entry("mlp.shared_expert.gate_proj", "ffn_gate_shexp"),
            entry("mlp.shared_expert.up_proj", "ffn_up_shexp"),
            entry("mlp.shared_expert.down_proj", "ffn_down_shexp"),
            entry("mlp.shared_experts.gate_proj", "ffn_gate_shexp"),
            entry("mlp.shared_experts.up_proj", "ffn_up_shexp"),
            entry("mlp.shared_experts.down_proj", "ffn_down_shexp"),
            entry("mlp.shared_expert_gate", "ffn_gate_inp_shexp"));
    private static final Map<String, String> EXPERT =
            Map.of("gate_proj", "gate", "up_proj", "up", "down_proj", "down", "w1", "gate", "w3", "up", "w2", "down");

    private final Checkpoint checkpoint;
    private final Metadata config;
    private final String model;
    private final GgufWriter writer = new GgufWriter();
    private final Map<String, TreeMap<Integer, Tensor>> stacks = new TreeMap<>();
    private final int heads;
    private final int keyHeads;
    private final int headSize;

    private GgufModel(Checkpoint checkpoint) {
        this.checkpoint = checkpoint;
        config = checkpoint.config();
        model = config.string("model_type");
        heads = config.integer("num_attention_heads", config.integer("n_head", 0));
        keyHeads = config.integer("num_key_value_heads", heads);
        headSize = config.integer("head_dim", config.integer("hidden_size", config.integer("n_embd", 0)) / heads);
    }

    /** What GGUF calls a family. */
    static String family(String modelType) {
        return FAMILIES.getOrDefault(modelType, modelType);
    }

    static byte[] of(Checkpoint checkpoint) {
        var gguf = new GgufModel(checkpoint);
        gguf.keys();
        checkpoint.tensors().values().forEach(gguf::tensor);
        gguf.stacks.forEach(gguf::stack);
        return gguf.writer.toBytes();
    }

    /** An adapter of a checkpoint, as PEFT writes it, as llama.cpp's converter lays it out: what is permuted is the second matrix. */
    static byte[] adapter(Checkpoint checkpoint, Checkpoint adapter) {
        var gguf = new GgufModel(checkpoint);
        gguf.writer.put("general.architecture", FAMILIES.getOrDefault(gguf.model, gguf.model));
        gguf.writer.put("general.type", "adapter");
        gguf.writer.put("adapter.type", "lora");
        gguf.writer.put("adapter.lora.alpha", (float) adapter.config().number("lora_alpha"));
        adapter.tensors().values().forEach(gguf::pair);
        return gguf.writer.toBytes();
    }

    private void pair(Tensor tensor) {
        String name = tensor.name().substring("base_model.model.".length());
        boolean isExpand = name.endsWith(".lora_B.weight");
        String base = name.substring(0, name.length() - ".lora_A.weight".length());
        int from = layersEnd(base);
        int dot = base.indexOf('.', from);
        String part = base.substring(dot + 1);
        String target = "blk." + base.substring(from, dot) + "." + layerName(part) + ".weight.lora_";
        if (isExpand) {
            put(target + "b", part, tensor);
        } else {
            writer.tensor(floats(target + "a", tensor.shape(), Dequantizer.all(tensor)));
        }
    }

    private void keys() {
        String family = family(model);
        String prefix = family + ".";
        writer.put("general.architecture", family);
        int width = config.integer("hidden_size", config.integer("n_embd", 0));
        writer.put(prefix + "embedding_length", width);
        copy("n_layer", 0, prefix + "block_count");
        copy("num_hidden_layers", 0, prefix + "block_count");
        copy("n_positions", 0, prefix + "context_length");
        copy("max_position_embeddings", 0, prefix + "context_length");
        writer.put(prefix + "attention.head_count", heads);
        if (!model.equals("gpt2")) {
            writer.put(prefix + "attention.head_count_kv", model.equals("deepseek_v3") ? 1 : keyHeads);
        }
        writer.put(prefix + "feed_forward_length", config.integer("intermediate_size", 4 * width));
        if (config.has("head_dim") && !model.equals("deepseek_v3")) {
            writer.put(prefix + "attention.key_length", headSize);
            writer.put(prefix + "attention.value_length", headSize);
        }
        copyNumber("rms_norm_eps", prefix + "attention.layer_norm_rms_epsilon");
        copyNumber("layer_norm_eps", prefix + "attention.layer_norm_epsilon");
        copyNumber("layer_norm_epsilon", prefix + "attention.layer_norm_epsilon");
        copyNumber("norm_epsilon", prefix + "attention.layer_norm_epsilon");
        if (config.flag("use_sliding_window", true)) {
            copy("sliding_window", 0, prefix + "attention.sliding_window");
        }
        copyNumber("attn_logit_softcapping", prefix + "attn_logit_softcapping");
        copyNumber("final_logit_softcapping", prefix + "final_logit_softcapping");
        copyNumber("attention_multiplier", prefix + "attention.scale");
        copyNumber("embedding_multiplier", prefix + "embedding_scale");
        copyNumber("residual_multiplier", prefix + "residual_scale");
        copyNumber("logits_scaling", prefix + "logit_scale");
        copyNumber("logit_scale", prefix + "logit_scale");
        if (config.has("use_parallel_residual")) {
            writer.put(prefix + "use_parallel_residual", config.flag("use_parallel_residual", false));
        }
        rope(prefix);
        experts(prefix);
    }

    private void rope(String prefix) {
        Metadata rope = config.object("rope_parameters").orElse(null);
        if (rope == null) {
            return;
        }
        if (rope.has("full_attention")) { // the base of layers with a window is the reader's own
            rope = rope.object("full_attention").orElseThrow();
        }
        writer.put(prefix + "rope.freq_base", (float) rope.number("rope_theta"));
        double share = config.number("partial_rotary_factor", rope.number("partial_rotary_factor", 1));
        int turned = config.integer("qk_rope_head_dim", (int) (headSize * config.number("rotary_pct", share)));
        writer.put(prefix + "rope.dimension_count", turned);
        switch (rope.string("rope_type", "default")) {
            case "llama3" -> writer.tensor(floats("rope_freqs.weight", Shape.of(turned / 2), divisors(rope, turned)));
            case "yarn" -> {
                writer.put(prefix + "rope.scaling.type", "yarn");
                writer.put(prefix + "rope.scaling.factor", (float) rope.number("factor"));
                writer.put(
                        prefix + "rope.scaling.original_context_length",
                        rope.integer("original_max_position_embeddings"));
            }
            default -> {} // nothing to scale
        }
    }

    /** What llama.cpp divides each pair's frequency by where a checkpoint has Llama 3's scaling. */
    private static float[] divisors(Metadata rope, int dimensions) {
        double factor = rope.number("factor");
        double low = rope.number("low_freq_factor");
        double high = rope.number("high_freq_factor");
        double trained = rope.number("original_max_position_embeddings");
        var divisors = new float[dimensions / 2];
        for (int pair = 0; pair < divisors.length; pair++) {
            double wave = 2 * Math.PI * Math.pow(rope.number("rope_theta"), 2.0 * pair / dimensions);
            double smooth = (trained / wave - low) / (high - low);
            double mixed = 1 / ((1 - smooth) / factor + smooth);
            divisors[pair] = (float) (wave < trained / high ? 1 : wave > trained / low ? factor : mixed);
        }
        return divisors;
    }

    private void experts(String prefix) {
        copy("num_experts", 0, prefix + "expert_count");
        copy("num_local_experts", 0, prefix + "expert_count");
        copy("num_experts_per_tok", 0, prefix + "expert_used_count");
        copy("moe_intermediate_size", 0, prefix + "expert_feed_forward_length");
        copy("shared_expert_intermediate_size", 0, prefix + "expert_shared_feed_forward_length");
        if (model.equals("gpt_oss")) {
            copy("intermediate_size", 0, prefix + "expert_feed_forward_length");
        }
        if (model.equals("deepseek_v3")) {
            copy("n_routed_experts", 0, prefix + "expert_count");
            copy("n_shared_experts", 0, prefix + "expert_shared_count");
            copy("n_group", 0, prefix + "expert_group_count");
            copy("topk_group", 0, prefix + "expert_group_used_count");
            copy("first_k_dense_replace", 0, prefix + "leading_dense_block_count");
            copyNumber("routed_scaling_factor", prefix + "expert_weights_scale");
            writer.put(prefix + "expert_weights_norm", config.flag("norm_topk_prob", true));
            writer.put(prefix + "expert_gating_func", 2);
            copy("q_lora_rank", 0, prefix + "attention.q_lora_rank");
            int rank = copy("kv_lora_rank", 0, prefix + "attention.kv_lora_rank");
            int turned = config.integer("qk_rope_head_dim");
            writer.put(prefix + "attention.key_length", rank + turned);
            writer.put(prefix + "attention.value_length", rank);
            writer.put(prefix + "attention.key_length_mla", config.integer("qk_nope_head_dim") + turned);
            copy("v_head_dim", 0, prefix + "attention.value_length_mla");
        }
    }

    private int copy(String field, int fallback, String key) {
        if (!config.has(field)) {
            return fallback;
        }
        writer.put(key, config.integer(field));
        return config.integer(field);
    }

    private void copyNumber(String field, String key) {
        if (config.has(field)) {
            writer.put(key, (float) config.number(field));
        }
    }

    private void tensor(Tensor tensor) {
        String name = tensor.name();
        String end = name.endsWith(".bias") ? ".bias" : ".weight";
        String base = name.endsWith(end) ? name.substring(0, name.length() - end.length()) : name;
        int from = layersEnd(base);
        if (from < 0) {
            put(TOP.get(base) + end, base, tensor);
            return;
        }
        int dot = base.indexOf('.', from);
        String block = "blk." + base.substring(from, dot) + ".";
        String part = base.substring(dot + 1);
        if (part.contains("experts.") && !part.contains("shared_experts")) {
            expert(block, part, tensor);
        } else if (part.equals("mlp.gate.e_score_correction_bias")) {
            writer.tensor(floats(block + "exp_probs_b.bias", tensor.shape(), Dequantizer.all(tensor)));
        } else if (part.equals("self_attn.kv_b_proj")) {
            expansion(block, tensor);
        } else {
            put(block + layerName(part) + end, part, tensor);
        }
    }

    private static int layersEnd(String name) {
        for (String prefix : List.of("model.layers.", "transformer.h.", "gpt_neox.layers.")) {
            if (name.startsWith(prefix)) {
                return prefix.length();
            }
        }
        return -1;
    }

    private String layerName(String part) {
        boolean afterAttention =
                List.of("gemma2", "gemma3_text", "olmo2", "gpt_oss").contains(model);
        if (part.equals("post_attention_layernorm") && afterAttention) {
            return "post_attention_norm";
        }
        String name = LAYER.get(part);
        if (name == null) {
            throw new IllegalArgumentException("no GGUF name for " + part);
        }
        return name;
    }

    private void put(String name, String part, Tensor tensor) {
        float[] numbers = Dequantizer.all(tensor);
        Shape shape = tensor.shape();
        boolean isNorm = part.contains("norm");
        if (model.startsWith("gemma") && isNorm) {
            numbers = added(numbers, 1);
        }
        numbers = scaled(part, numbers);
        boolean query = part.equals("self_attn.q_proj");
        if (PERMUTED.contains(model) && (query || part.equals("self_attn.k_proj"))) {
            numbers = permuted(numbers, query ? heads : keyHeads);
        }
        if (part.equals("attention.query_key_value")) {
            numbers = separated(numbers);
        }
        boolean turned = model.equals("gpt2") && shape.rank() == 2 && part.contains(".c_");
        if (turned) {
            writer.tensor(floats(name, Shape.of(shape.columns(), shape.rows()), transposed(numbers, shape)));
        } else {
            writer.tensor(floats(name, shape, numbers));
        }
    }

    private static float[] added(float[] numbers, float more) {
        var sums = numbers.clone();
        for (int i = 0; i < sums.length; i++) {
            sums[i] += more;
        }
        return sums;
    }

    /** Gemma's score scale goes into what makes the queries: GGUF has no key for it. */
    private float[] scaled(String part, float[] numbers) {
        if (!part.equals(model.equals("gemma2") ? "self_attn.q_proj" : "self_attn.q_norm")
                || !config.has("query_pre_attn_scalar")) {
            return numbers;
        }
        double factor = Math.sqrt(headSize / config.number("query_pre_attn_scalar"));
        var products = numbers.clone();
        for (int i = 0; i < products.length; i++) {
            products[i] = (float) (products[i] * factor);
        }
        return products;
    }

    /** Per head {@code [2, size / 2, columns]} as {@code [size / 2, 2, columns]}. */
    private float[] permuted(float[] numbers, int count) {
        int columns = numbers.length / (count * headSize);
        var rows = new float[numbers.length];
        for (int row = 0; row < count * headSize; row++) {
            int within = row % headSize;
            int source = row - within + within % 2 * (headSize / 2) + within / 2;
            System.arraycopy(numbers, source * columns, rows, row * columns, columns);
        }
        return rows;
    }

    /** {@code [heads, 3, size, columns]} as {@code [3, heads, size, columns]}. */
    private float[] separated(float[] numbers) {
        int part = numbers.length / (3 * heads);
        var rows = new float[numbers.length];
        for (int i = 0; i < 3 * heads; i++) {
            System.arraycopy(numbers, (i % heads * 3 + i / heads) * part, rows, i * part, part);
        }
        return rows;
    }

    private static float[] transposed(float[] numbers, Shape shape) {
        int rows = Math.toIntExact(shape.rows());
        int columns = Math.toIntExact(shape.columns());
        var turned = new float[rows * columns];
        for (int i = 0; i < turned.length; i++) {
            turned[i % columns * rows + i / columns] = numbers[i];
        }
        return turned;
    }

    /** Experts one by one are gathered; gpt-oss's stacks are turned, and their gates and ups told apart. */
    private void expert(String block, String part, Tensor tensor) {
        String rest = part.substring(part.indexOf("experts.") + "experts.".length());
        int dot = rest.indexOf('.');
        if (dot >= 0) {
            String name = block + "ffn_" + EXPERT.get(rest.substring(dot + 1)) + "_exps.weight";
            stacks.computeIfAbsent(name, _ -> new TreeMap<>()).put(Integer.parseInt(rest.substring(0, dot)), tensor);
            return;
        }
        if (rest.endsWith("_blocks") || rest.endsWith("_scales")) {
            microscaled(block, rest, tensor);
            return;
        }
        boolean bias = rest.endsWith("_bias");
        String end = "_exps" + (bias ? ".bias" : ".weight");
        int experts = config.integer("num_local_experts");
        int outputs = Math.toIntExact(tensor.shape().columns());
        int inputs = Math.toIntExact(tensor.shape().elements() / experts / outputs);
        if (rest.startsWith("down_proj")) {
            stacked(block + "ffn_down" + end, tensor, new int[] {experts, inputs, outputs}, 0, 1);
        } else {
            stacked(block + "ffn_gate" + end, tensor, new int[] {experts, inputs, outputs}, 0, 2);
            stacked(block + "ffn_up" + end, tensor, new int[] {experts, inputs, outputs}, 1, 2);
        }
    }

    /** The blocks of MXFP4; their scales are taken when their blocks come. */
    private void microscaled(String block, String part, Tensor blocks) {
        if (part.endsWith("_scales")) {
            return;
        }
        Tensor scales = checkpoint.tensor(blocks.name().replace("_blocks", "_scales"));
        if (part.startsWith("down_proj")) {
            writer.tensor(MicroscaledRows.of(block + "ffn_down_exps.weight", blocks, scales, 0, 1));
        } else {
            writer.tensor(MicroscaledRows.of(block + "ffn_gate_exps.weight", blocks, scales, 0, 2));
            writer.tensor(MicroscaledRows.of(block + "ffn_up_exps.weight", blocks, scales, 1, 2));
        }
    }

    /** Every {@code step}th output, from {@code first}, of a stack {@code [experts, inputs, outputs]}. */
    private void stacked(String name, Tensor tensor, int[] extents, int first, int step) {
        boolean bias = name.endsWith(".bias"); // [experts, outputs]
        int experts = extents[0];
        int inputs = bias ? 1 : extents[1];
        int outputs = bias ? Math.toIntExact(tensor.shape().elements() / experts) : extents[2];
        float[] numbers = Dequantizer.all(tensor);
        var chosen = new float[numbers.length / step];
        int at = 0;
        for (int expert = 0; expert < experts; expert++) {
            for (int output = first; output < outputs; output += step) {
                for (int input = 0; input < inputs; input++) {
                    chosen[at++] = numbers[(expert * inputs + input) * outputs + output];
                }
            }
        }
        Shape shape = bias ? Shape.of(experts, outputs / step) : Shape.of(experts, outputs / step, inputs);
        writer.tensor(floats(name, shape, chosen));
    }

    private void stack(String name, Map<Integer, Tensor> experts) {
        Shape one = experts.values().iterator().next().shape();
        var all = new float[Math.toIntExact(experts.size() * one.elements())];
        experts.forEach((expert, tensor) -> System.arraycopy(
                Dequantizer.all(tensor),
                0,
                all,
                Math.toIntExact(expert * one.elements()),
                Math.toIntExact(one.elements())));
        writer.tensor(floats(name, Shape.of(experts.size(), one.rows(), one.columns()), all));
    }

    /** DeepSeek's expansion {@code [heads, plain + value, rank]}: keys turned per head, values as they are. */
    private void expansion(String block, Tensor tensor) {
        float[] numbers = Dequantizer.all(tensor);
        int plain = config.integer("qk_nope_head_dim");
        int value = config.integer("v_head_dim");
        int rank = config.integer("kv_lora_rank");
        var keys = new float[heads * rank * plain];
        var values = new float[heads * value * rank];
        for (int head = 0; head < heads; head++) {
            int start = head * (plain + value) * rank;
            float[] key = Arrays.copyOfRange(numbers, start, start + plain * rank);
            System.arraycopy(transposed(key, Shape.of(plain, rank)), 0, keys, head * rank * plain, rank * plain);
            System.arraycopy(numbers, start + plain * rank, values, head * value * rank, value * rank);
        }
        writer.tensor(floats(block + "attn_k_b.weight", Shape.of(heads, rank, plain), keys));
        writer.tensor(floats(block + "attn_v_b.weight", Shape.of(heads, value, rank), values));
    }

    private static Tensor floats(String name, Shape shape, float[] numbers) {
        return new Tensor(name, DataType.F32, shape, MemorySegment.ofArray(numbers));
    }
}
