package roselle.execution;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import roselle.api.CheckpointException;
import roselle.backend.memory.KvType;
import roselle.backend.step.StepLimits;
import roselle.checkpoint.Checkpoint;
import roselle.checkpoint.path.Checkpoints;
import roselle.cpu.CpuDevice;
import roselle.cpu.option.CpuOptions;
import roselle.cpu.option.Precision;
import roselle.model.LoadPlan;
import roselle.model.MemoryPlan;
import roselle.model.architecture.Architectures;
import roselle.tensor.DataType;

/** What a configuration says is honoured in its older spelling too, or refused by name; never ignored. */
class ConfigurationTest {
    private static final Path MODELS = Path.of("../roselle-engine/src/test/resources/tiny-models");
    private static final String LLAMA3 = "\"factor\": 8.0, \"high_freq_factor\": 4.0, \"low_freq_factor\": 1.0, "
            + "\"original_max_position_embeddings\": 64";

    @TempDir
    private Path folder;

    @Test
    void readsRotationInTheSpellingOfTransformers4() throws IOException {
        String config = Files.readString(MODELS.resolve("llama/config.json"))
                .replaceFirst(
                        "(?s)\"rope_parameters\": \\{.*?}",
                        "\"rope_theta\": 500000.0, \"rope_scaling\": {\"rope_type\": \"llama3\", " + LLAMA3 + "}");
        copy("llama", config);
        try (Checkpoint reference = Checkpoints.open(MODELS.resolve("llama/expected.safetensors"));
                var backend = new CpuDevice(CpuOptions.all().with(Precision.F32))) {
            assertThat(Verification.of(reference).run(folder, backend, 0))
                    .allSatisfy(
                            difference -> assertThat(difference.isWithin(5e-4)).isTrue());
        }
    }

    @ParameterizedTest
    @CsvSource({
        "llama,   model_type,              '\"mystery\"',          model_type is mystery",
        "llama,   hidden_act,              '\"mish\"',             hidden_act is mish",
        "llama,   num_attention_heads,     '0',                    num_attention_heads is 0",
        "llama,   num_hidden_layers,       '1000000000',           num_hidden_layers is 1000000000",
        "llama,   num_key_value_heads,     '3',                    4 attention heads cannot share 3 key heads",
        "llama,   pretraining_tp,          '1, \"clip_qkv\": 8.0', clip_qkv is not a field",
        "llama,   rope_type,               '\"mystery\"',          rope_type is mystery",
        "llama,   rope_type,               '\"llama3\", \"mystery\": 1', mystery is not a field",
        "llama,   attention_bias,          'true',                 q_proj.bias is missing",
        "llama,   num_hidden_layers,       '3',                    layers.2.input_layernorm.weight is missing",
        "llama,   intermediate_size,       '128',                  'has shape [112, 64], expected [128, 64]'",
        "granite, attention_multiplier,    '0.2, \"attention_scale\": 3', attention_scale is not a field",
        "mixtral, num_experts_per_tok,     '9',                    9 experts per token of 4",
        "gpt2,    add_cross_attention,     'true',                 add_cross_attention is true",
        "../similar-models/nemotron_h, mlp_hidden_act, '\"mish\"', mlp_hidden_act is mish",
        "../similar-models/kimi_linear, mla_use_nope, 'false',     mla_use_nope is false",
        "../similar-models/kimi_linear, moe_router_activation_func, '\"softmax\"', moe_router_activation_func is softmax",
        "../similar-models/nemotron_h, moe_latent_size, '15',      'has shape [16, 16], expected [16, 15]'",
        "../similar-models/deepseek_v2, topk_method, '\"noisy\"', topk_method is noisy",
        "../similar-models/deepseek_v2, n_shared_experts, '1, \"scoring_func\": \"noisy\"', scoring_func is noisy",
        "../similar-models/llama4_text, num_experts_per_tok, '2',  chosen one for a token",
        "../similar-models/mpt,    no_bias,         'false',       no_bias is false",
        "../similar-models/opt,    do_layer_norm_before, 'false',  do_layer_norm_before is false",
        "../similar-models/hunyuan_v1_moe, moe_topk, '[2, 3]',     'moe_topk is [2, 3]'",
        "../similar-models/exaone_moe, first_k_dense_replace, '1, \"clip_qkv\": 8.0', clip_qkv is not a field",
        "../similar-models/mamba2, hidden_act, '\"gelu\"',         hidden_act is gelu",
        "../similar-models/mamba2, num_heads,  '5',                num_heads is 5 heads of 16 numbers",
        "../similar-models/granite-spaces, mamba_n_groups, '3',    impossible heads: 8 value heads on 3 key heads",
        "../similar-models/bamba,  attn_rotary_emb, '8',           attn_rotary_emb is 8",
        "../similar-models/step3p5, sink,  'true',                sink is true",
        "../similar-models/step3p5, norm_expert_weight, 'false',  norm_expert_weight is false",
        "../similar-models/cohere2_moe, expert_selection_fn, '\"top\"', expert_selection_fn is top",
        "../similar-models/cohere2_moe, shared_expert_combination_strategy, '\"best\"', strategy is best",
        "../similar-models/minimax, linear_attn_alpha_factor, 2.0, linear_attn_alpha_factor is 2.0",
        "../similar-models/minimax, mlp_alpha_factor, -1.0, stream that is multiplied by 1.7 and -1.0",
        "../similar-models/minimax_text_01, postnorm, false, postnorm is false",
        "../similar-models/lfm3, conv_L_cache, '12', conv_L_cache is 12",
        "../similar-models/glm5_next, index_kpool, '3', index_kpool is 3",
        "../similar-models/glm5_next, qk_rope_head_dim, '4', qk_rope_head_dim is 4",
        "../similar-models/glm5_next, index_kpool_always_select_tail, 'false', index_kpool_always_select_tail is false",
        "../similar-models/lfm3, attention_bias, 'true', attention_bias is true",
        "../similar-models/bailing_hybrid, kda_safe_gate, 'false', kda_safe_gate is false",
        "../similar-models/bailing_hybrid, layer_group_size, '3', layer_group_size is 3",
        "../similar-models/bailing_hybrid, kda_lower_bound, '1.0', kda_lower_bound is 1.0",
        "../similar-models/mamba, hidden_act, '\"gelu\"', hidden_act is gelu",
        "../similar-models/mamba, intermediate_size, '48', intermediate_size is 48",
        "../similar-models/jamba, mamba_d_state, '12', 'has shape'",
        "../similar-models/jamba, attn_layer_period, '0', attn_layer_period is 0",
        "../similar-models/phimoe, num_experts_per_tok, 3, num_experts_per_tok is 3",
        "../similar-models/phimoe-long, long_mscale, 1.3, long_mscale is another than short_mscale",
        "../similar-models/hy_v4, indexer_types, 'null, \"mtp\": [', indexer_types is nothing",
        "../similar-models/hy_v4, attention_bias, 'true', attention_bias is true",
        "../similar-models/falcon_h1, mamba_norm_before_gate, 'true', mamba_norm_before_gate is true",
        "../similar-models/falcon_h1, mamba_d_ssm, '48',           mamba_d_ssm is 48",
        "../tiny-encoders/deberta-v3, relative_attention, 'true, \"conv_kernel_size\": 3', conv_kernel_size is 3",
        "../tiny-encoders/deberta-v3, relative_attention, 'false', relative_attention is false",
        "../tiny-encoders/deberta-v3, share_att_key, 'false', share_att_key is false",
        "../tiny-encoders/deberta-v3, norm_rel_ebd, '\"batch\"', norm_rel_ebd is batch",
        "../tiny-encoders/deberta-v3, position_buckets, '1200', position_buckets is 1200",
        "../tiny-encoders/nomic-bert-moe, num_shared_experts, '1', num_shared_experts is 1",
        "../tiny-encoders/nomic-bert-moe, rotary_scaling_factor, '2', rotary_scaling_factor is 2",
        "../tiny-encoders/nomic-bert-moe, expert_choice_router, 'true', expert_choice_router is true",
        "../tiny-encoders/nomic-bert-moe, mlp_fc2_bias, 'false', mlp_fc2_bias is false",
        "../tiny-encoders/nomic-bert-moe, moe_top_k, '6', moe_top_k is 6",
        "../tiny-encoders/nomic-bert-moe, activation_function, '\"mish\"', activation_function is mish",
        "../tiny-encoders/jina-v3-tasks, type_vocab_size, '2', type_vocab_size is 2",
        "../tiny-encoders/jina-v3-tasks, lora_rank, '0', lora_rank is 0",
        "../tiny-encoders/jina-v3-tasks, truncate_dim, '8', truncate_dim is not a field",
        "../similar-models/apertus, hidden_act, '\"gelu\"',        hidden_act is gelu"
    })
    void namesWhatItDoesNotSupport(String model, String field, String value, String message) throws IOException {
        String config = Files.readString(MODELS.resolve(model + "/config.json"));
        String changed = config.replaceFirst("\"" + field + "\": [^,\\n]+", "\"" + field + "\": " + value);
        assertThat(changed).isNotEqualTo(config);
        copy(model, changed);
        assertThatThrownBy(this::open)
                .isInstanceOf(CheckpointException.class)
                .hasMessageContaining(message)
                .hasMessageNotContaining("\n");
    }

    @Test
    void refusesATensorThatNothingAsksFor() throws IOException {
        String config = Files.readString(MODELS.resolve("llama-bias-headdim/config.json"))
                .replace("\"mlp_bias\": true", "\"mlp_bias\": false");
        copy("llama-bias-headdim", config);
        assertThatThrownBy(this::open)
                .isInstanceOf(CheckpointException.class)
                .hasMessageContaining(".bias is not part of this architecture");
    }

    @Test
    void plansMemoryBeforeAnythingIsLoaded() {
        try (Checkpoint checkpoint = Checkpoints.open(MODELS.resolve("gemma2"));
                var backend = new CpuDevice(1)) {
            var blueprint = Architectures.read(checkpoint);
            var limits = new StepLimits(8, 2, 4, 64, 16);
            MemoryPlan plan = MemoryPlan.of(
                    LoadPlan.of(checkpoint, blueprint, backend), blueprint.spec(), limits, KvType.BF16, DataType.F32);
            long stored = checkpoint.tensors().values().stream()
                    .mapToLong(tensor -> tensor.data().byteSize())
                    .sum();
            assertThat(plan.load().weightBytes()).isEqualTo(stored);
            assertThat(plan.groups()).extracting("name").containsExactly("window", "full");
            // one layer each: 2 heads, key and value of 32 numbers, 2 bytes
            assertThat(plan.kvBytesPerPage()).containsExactly(16 * 256L, 16 * 256L);
            assertThat(plan.kvBytes(List.of(3, 5))).isEqualTo(8 * 16 * 256L);
        }
    }

    private void open() {
        try (Checkpoint checkpoint = Checkpoints.open(folder);
                var backend = new CpuDevice(CpuOptions.all().with(Precision.F32))) {
            SingleSequence.open(checkpoint, Architectures.read(checkpoint), backend, 4, 16)
                    .close();
        }
    }

    private void copy(String model, String config) throws IOException {
        Files.copy(MODELS.resolve(model + "/model.safetensors"), folder.resolve("model.safetensors"));
        Files.writeString(folder.resolve("config.json"), config);
    }
}
