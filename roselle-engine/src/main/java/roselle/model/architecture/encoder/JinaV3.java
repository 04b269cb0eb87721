package roselle.model.architecture.encoder;

import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import roselle.backend.operation.Activation;
import roselle.model.config.Architecture;
import roselle.model.config.ModelConfig;
import roselle.model.config.Names;
import roselle.model.config.Sizes;
import roselle.model.config.SpecBuilder;
import roselle.model.spec.TaskSpec;
import roselle.model.weights.Blueprint;
import roselle.model.weights.Part;
import roselle.model.weights.WeightNames;

/** Jina's third embedder: XLM-R with rotary positions (Sturua et al., 2024); what it has for single tasks are adapters in its own checkpoint. */
public final class JinaV3 implements Architecture {
    private static final String SHRINK = ".parametrizations.weight.0.lora_A";
    private static final int MAX_TASKS = 64;
    private static final int MAX_RANK = 256;

    @Override
    public Set<String> modelTypes() {
        return Set.of("jina_embeddings_v3");
    }

    @Override
    public Set<String> ggufNames() {
        return Set.of();
    }

    @Override
    public Blueprint read(ModelConfig config) {
        var builder = SpecBuilder.ofEncoder(config, Sizes.of(config));
        builder.layerNorm(config, "layer_norm_eps", true);
        builder.types = config.size("type_vocab_size", "", 1 << 10, 1);
        builder.rope(config, 20_000, false);
        builder.plain(config, "hidden_act", Activation.GELU, true);
        builder.tasks = tasks(config, builder.types);
        config.pass(OF_CODE);
        return new Blueprint(builder.spec(), names(config));
    }

    /** Fields of the code that the first release came with. */
    private static final String[] OF_CODE = {
        "emb_pooler",
        "load_trained_adapters",
        "lora_dropout_p",
        "lora_main_params_trainable",
        "name_or_path",
        "output_past",
        "task_instructions",
        "use_flash_attn",
        "use_reg_tokens"
    };

    /** Adapters of tasks, which the first release has, and not what transformers makes of it. */
    private static @Nullable TaskSpec tasks(ModelConfig config, int types) {
        if (!config.has("lora_adaptations", "")) {
            return null;
        }
        List<String> names = config.strings("lora_adaptations");
        if (names.isEmpty() || names.size() > MAX_TASKS || Set.copyOf(names).size() != names.size()) {
            throw config.unsupported("lora_adaptations", names.toString(), "up to " + MAX_TASKS + " different names");
        }
        if (types != 1) {
            throw config.unsupported("type_vocab_size", Integer.toString(types), "1 beside lora_adaptations");
        }
        int rank = config.size("lora_rank", "", MAX_RANK);
        return new TaskSpec(names, rank, (float) (config.number("lora_alpha", "", 1) / rank));
    }

    private static WeightNames names(ModelConfig config) {
        String prefix = config.hasTensor("roberta.embeddings.word_embeddings.weight") ? "roberta." : "";
        String layer = prefix + "encoder.layers.{layer}.";
        return Names.huggingFace()
                .with(Map.ofEntries(
                        Map.entry(Part.EMBEDDING, prefix + "embeddings.word_embeddings"),
                        Map.entry(Part.TYPES, prefix + "embeddings.token_type_embeddings"),
                        Map.entry(Part.TASKS_OF_TOKENS, prefix + "embeddings.word_embeddings" + SHRINK),
                        Map.entry(Part.TASKS_OF_TYPES, prefix + "embeddings.token_type_embeddings" + SHRINK),
                        Map.entry(Part.EMBEDDING_NORM, prefix + "emb_ln"),
                        Map.entry(Part.QUERY_KEY_VALUE, layer + "mixer.Wqkv"),
                        Map.entry(Part.ATTENTION_OUTPUT, layer + "mixer.out_proj"),
                        Map.entry(Part.POST_ATTENTION_NORM, layer + "norm1"),
                        Map.entry(Part.UP, layer + "mlp.fc1"),
                        Map.entry(Part.DOWN, layer + "mlp.fc2"),
                        Map.entry(Part.POST_FEED_FORWARD_NORM, layer + "norm2")));
    }
}
