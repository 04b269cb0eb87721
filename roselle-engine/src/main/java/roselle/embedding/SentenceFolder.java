package roselle.embedding;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import org.jspecify.annotations.Nullable;
import roselle.api.CheckpointException;
import roselle.checkpoint.Checkpoint;
import roselle.checkpoint.Metadata;
import roselle.checkpoint.huggingface.FolderJson;
import roselle.checkpoint.path.Checkpoints;
import roselle.model.architecture.Architectures;

/**
 * What sentence-transformers writes beside a model: its modules, its prompts, its longest text.
 *
 * @param prompts texts that go before those to be embedded, by name
 * @param defaultPrompt the name of the one that is used unasked; empty for none
 * @param maxTokens of a text, where less than the model's positions
 * @param sparse what gives sparse vectors; null for nothing
 * @param pairs how a decoder that ranks is told a query and a document; null for models that take two texts
 */
record SentenceFolder(
        EncoderOutput output,
        Map<String, String> prompts,
        String defaultPrompt,
        OptionalInt maxTokens,
        @Nullable EncoderOutput sparse,
        @Nullable PairTemplate pairs) {
    private static final List<String> MODES = List.of(
            "pooling_mode_cls_token",
            "pooling_mode_mean_tokens",
            "pooling_mode_max_tokens",
            "pooling_mode_mean_sqrt_len_tokens",
            "pooling_mode_weightedmean_tokens",
            "pooling_mode_lasttoken");
    private static final List<Pooling> POOLINGS =
            List.of(Pooling.CLS, Pooling.MEAN, Pooling.MAX, Pooling.MEAN_BY_ROOT, Pooling.WEIGHTED_MEAN, Pooling.LAST);

    /** Reads them; a folder without modules has the mean of its tokens, as sentence-transformers has it. A GGUF says it all itself. */
    static SentenceFolder of(Checkpoint checkpoint) {
        if (checkpoint.format() == Checkpoint.Format.GGUF) {
            PairTemplate pairs = PairTemplate.of(checkpoint).orElse(null);
            return new SentenceFolder(GgufHeads.output(checkpoint), Map.of(), "", OptionalInt.empty(), null, pairs);
        }
        Path source = checkpoint.source();
        Path folder = Files.isDirectory(source) ? source : source.resolveSibling("");
        EncoderOutput output = output(checkpoint, folder);
        Metadata settings =
                FolderJson.object(folder.resolve("sentence_bert_config.json")).orElse(null);
        OptionalInt maxTokens = settings != null && settings.has("max_seq_length")
                ? OptionalInt.of(settings.integer("max_seq_length"))
                : OptionalInt.empty();
        if (settings != null && settings.flag("do_lower_case", false)) {
            throw new CheckpointException(settings.origin()
                    + ": do_lower_case is true; supported is false, where the tokenizer alone changes letters");
        }
        var prompts = new LinkedHashMap<String, String>();
        String defaultPrompt = "";
        Optional<Metadata> config = FolderJson.object(folder.resolve("config_sentence_transformers.json"));
        if (config.isPresent()) {
            config.get()
                    .object("prompts")
                    .ifPresent(named -> named.keys().forEach(name -> prompts.put(name, named.string(name, ""))));
            defaultPrompt = config.get().string("default_prompt_name", "");
        }
        if (!defaultPrompt.isEmpty() && !prompts.containsKey(defaultPrompt)) {
            throw new CheckpointException(folder + ": default_prompt_name is " + defaultPrompt
                    + ", which is none of the prompts " + prompts.keySet());
        }
        boolean ranks = output.labels().size() == 1 && output.takesLast(); // as decoders do
        PairTemplate pairs = ranks ? PairTemplate.of(checkpoint).orElse(null) : null;
        EncoderOutput sparse = output.isOfVocabulary()
                ? output
                : SparsePairs.ofTokens(
                        folder, Architectures.readAny(checkpoint).spec().width());
        return new SentenceFolder(output, Map.copyOf(prompts), defaultPrompt, maxTokens, sparse, pairs);
    }

    private static EncoderOutput output(Checkpoint checkpoint, Path folder) {
        if (Classifiers.of(checkpoint).isPresent()) {
            return Classifiers.output(checkpoint);
        }
        boolean hasModules = Files.exists(folder.resolve("modules.json"));
        return !hasModules && PairTemplate.isQwen3Reranker(checkpoint)
                ? LogitScores.ofYesAndNo(checkpoint)
                : modules(checkpoint, folder);
    }

    private static EncoderOutput modules(Checkpoint checkpoint, Path folder) {
        Pooling pooling = Pooling.MEAN;
        var steps = new ArrayList<OutputStep>();
        for (Metadata module : FolderJson.objects(folder.resolve("modules.json"))) {
            String type = module.string("type");
            Path path = inside(folder, module);
            switch (type.substring(type.lastIndexOf('.') + 1)) {
                case "Transformer", "MLMTransformer" -> {}
                case "SpladePooling" -> {
                    return SparsePairs.ofMaskedTokens(config(path.resolve("config.json")));
                }
                case "Pooling" -> pooling = pooling(path.resolve("config.json"));
                case "Dense" -> steps.add(dense(path));
                case "LogitScore" -> {
                    return LogitScores.of(checkpoint, config(path.resolve("config.json")));
                }
                case "Normalize" -> steps.add(new OutputStep.UnitLength());
                default ->
                    throw new CheckpointException(module.origin() + ": type is " + type
                            + "; supported are Transformer, MLMTransformer, Pooling, SpladePooling, Dense, Normalize and"
                            + " LogitScore");
            }
        }
        return new EncoderOutput(pooling, steps, List.of());
    }

    /** A module's folder, which a file must not lead out of the model's. */
    private static Path inside(Path folder, Metadata module) {
        String name = module.string("path", "");
        Path path = folder.resolve(name).normalize();
        if (!path.startsWith(folder.normalize())) {
            throw new CheckpointException(module.origin() + ": path is " + name + ", which is not within the folder");
        }
        return path;
    }

    private static Metadata config(Path file) {
        return FolderJson.object(file).orElseThrow(() -> new CheckpointException(file + " is missing"));
    }

    private static Pooling pooling(Path file) {
        Metadata config = config(file);
        if (!config.flag("include_prompt", true)) {
            throw new CheckpointException(config.origin() + ": include_prompt is false; supported is true");
        }
        if (config.has("pooling_mode")) {
            String mode = config.string("pooling_mode");
            for (Pooling pooling : POOLINGS) {
                if (pooling.label().equals(mode)) {
                    return pooling;
                }
            }
            throw new CheckpointException(config.origin() + ": pooling_mode is " + mode
                    + "; supported are cls, mean, max, " + "mean_sqrt_len_tokens, weightedmean and lasttoken");
        }
        var chosen = new ArrayList<Pooling>();
        for (int i = 0; i < MODES.size(); i++) {
            if (config.flag(MODES.get(i), false)) {
                chosen.add(POOLINGS.get(i));
            }
        }
        if (chosen.size() != 1) {
            throw new CheckpointException(
                    config.origin() + " has " + chosen.size() + " modes of pooling; supported is one");
        }
        return chosen.getFirst();
    }

    private static OutputStep dense(Path folder) {
        Metadata config = config(folder.resolve("config.json"));
        int inputs = config.integer("in_features");
        int outputs = config.integer("out_features");
        String activation = config.string("activation_function", "torch.nn.modules.activation.Tanh");
        String name = activation.substring(activation.lastIndexOf('.') + 1);
        try (Checkpoint weights = Checkpoints.open(folder)) {
            boolean hasBias = config.flag("bias", true);
            return Classifiers.dense(
                    weights, "linear", outputs, inputs, hasBias, Classifiers.activation(config.origin(), name));
        }
    }
}
