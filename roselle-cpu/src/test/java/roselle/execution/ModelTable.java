package roselle.execution;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import roselle.backend.operation.Router;
import roselle.checkpoint.Checkpoint;
import roselle.checkpoint.path.Checkpoints;
import roselle.model.architecture.Architectures;
import roselle.model.config.ModelConfig;
import roselle.model.spec.AttentionSpec;
import roselle.model.spec.AttentionTraits;
import roselle.model.spec.DecoderSpec;
import roselle.model.spec.FeedForwardSpec;
import roselle.model.spec.LayerSpec;

/** The families that are read, as the small models of the tests show them: a row for each {@code model_type}. */
final class ModelTable {
    private static final Path RESOURCES = Path.of("../roselle-engine/src/test/resources");
    private static final List<String> CONVERTED = List.of("state-gguf", "similar-gguf", "encoder-gguf");
    private static final int LONGEST = 1_000;

    private final TreeMap<String, Row> rows = new TreeMap<>();

    /** What is known of a family; of several models of one, all that any of them shows. */
    private record Row(Set<String> parts, Set<String> gguf, Set<Integer> lengths, Set<String> devices) {
        Row() {
            this(new LinkedHashSet<>(), new TreeSet<>(), new TreeSet<>(), new LinkedHashSet<>());
        }

        /** Names of GGUF; one that a converter wrote stands for those that this program writes, too. */
        private String convertedFirst() {
            return gguf.stream()
                    .filter(name -> name.endsWith("*") || !gguf.contains(name + "*"))
                    .collect(Collectors.joining(", "));
        }

        String cells() {
            String tokens = lengths.stream().map(String::valueOf).collect(Collectors.joining(", "));
            return " | " + String.join(", ", parts) + " | " + convertedFirst() + " | " + tokens + " | "
                    + String.join(", ", devices) + " |";
        }
    }

    static String lines() throws IOException {
        var table = new ModelTable();
        for (String folder : List.of("tiny-models", "similar-models", "tiny-encoders")) {
            for (Path model : in(RESOURCES.resolve(folder))) {
                table.add(model);
            }
        }
        return table.rows.entrySet().stream()
                .map(row -> "| `" + row.getKey() + "`" + row.getValue().cells() + "\n")
                .collect(Collectors.joining());
    }

    /** GGUF's names of the families in the lines. */
    static Set<String> ggufNames(List<String> lines) {
        return lines.stream()
                .flatMap(line -> Stream.of(line.split("\\|")[3].split(",")))
                .map(cell -> cell.replaceAll("[`*\\s]", ""))
                .filter(name -> !name.isEmpty())
                .collect(Collectors.toCollection(TreeSet::new));
    }

    private static List<Path> in(Path folder) throws IOException {
        try (Stream<Path> models = Files.list(folder)) {
            return models.filter(Files::isDirectory).sorted().toList();
        }
    }

    private void add(Path model) {
        String name = String.valueOf(model.getFileName());
        try (Checkpoint checkpoint = Checkpoints.open(model);
                Checkpoint expected = Checkpoints.open(model.resolve("expected.safetensors"))) {
            String family = new ModelConfig(checkpoint).family();
            Row row = rows.computeIfAbsent(family, _ -> new Row());
            DecoderSpec spec = Architectures.readAny(checkpoint).spec();
            boolean isEncoder = spec.isBidirectional();
            if (isEncoder && !row.parts().isEmpty() && !row.parts().contains("encoder")) {
                row.parts().add("encoders of the same shape"); // whose other models generate
                row.gguf().addAll(gguf(name, family));
                return;
            }
            if (isEncoder) {
                row.parts().add("encoder");
            }
            spec.layers().forEach(layer -> row.parts().addAll(parts(layer)));
            if (spec.layerInputs() != 0) {
                row.parts().add("inputs of layers");
            }
            if (spec.block().streams() != null) {
                row.parts().add("streams side by side");
            }
            if (spec.input().distanceBuckets() > 0) {
                row.parts().add("scores that know distances");
            }
            if (spec.distanceScores() > 0) {
                row.parts().add("queries and keys that meet distances");
            }
            if (spec.block().connections() != null) {
                row.parts().add("hyper-connections");
            }
            row.parts().addAll(spec.special());
            List<String> devices = spec.special().isEmpty() ? List.of("CPU", "GPU") : List.of("CPU");
            if (row.devices().isEmpty()) {
                row.devices().addAll(devices);
            }
            row.devices().retainAll(devices); // of those that have kernels for all of a family
            row.lengths().addAll(lengths(expected));
            if (Files.exists(RESOURCES.resolve("state-lengths/" + name + ".safetensors"))) {
                row.lengths().add(LONGEST);
            }
            row.gguf().addAll(gguf(name, family));
        }
    }

    /** A star marks what llama.cpp's converter wrote. */
    private static List<String> gguf(String model, String family) {
        var names = new ArrayList<String>();
        if (GgufModelsTest.WRITTEN.contains(model)) {
            names.add("`" + GgufModel.family(family) + "`");
        }
        for (String folder : CONVERTED) {
            Path file = RESOURCES.resolve(folder).resolve(model + ".gguf");
            if (Files.exists(file)) {
                try (Checkpoint converted = Checkpoints.open(file)) {
                    names.add("`" + new ModelConfig(converted).family() + "`*");
                }
            }
        }
        return names;
    }

    private static List<Integer> lengths(Checkpoint expected) {
        return IntStream.iterate(0, i -> expected.tensors().containsKey("input_" + i), i -> i + 1)
                .mapToObj(i -> (int) expected.tensor("input_" + i).shape().elements())
                .toList();
    }

    private static final String GROWING = "queries that grow with their positions";
    private static final String BOUNDED = "gates with bounds of what they give";

    private static List<String> parts(AttentionTraits traits) {
        var parts = new ArrayList<String>();
        if (traits.normsTurned()) {
            parts.add("norms behind their rotation");
        }
        if (traits.slope() != 0) {
            parts.add("scores that fall with distance (ALiBi)");
        }
        if (traits.isChunked()) {
            parts.add("attention in chunks");
        }
        if (traits.queryScale() != null) {
            parts.add(GROWING);
        }
        return parts;
    }

    private static List<String> parts(LayerSpec layer) {
        var parts = new ArrayList<String>();
        switch (layer.attention()) {
            case AttentionSpec.None _ -> {}
            case AttentionSpec.MultiHead heads -> {
                parts.add(heads.window() == 0 ? "attention" : "windows");
                parts.addAll(parts(heads.traits()));
            }
            case AttentionSpec.SharedKeys _ -> parts.add("keys of other layers");
            case AttentionSpec.Latent latent -> {
                parts.add("latent attention");
                if (latent.queryScale() != null) {
                    parts.add(GROWING);
                }
            }
            case AttentionSpec.Compressed _ -> parts.add("windows");
            case AttentionSpec.DeltaNet delta -> {
                parts.add("delta nets");
                if (delta.heads().decaysByChannel()) {
                    parts.add("delta nets whose channels decay by themselves (KDA)");
                }
                if (delta.least() != 0f) {
                    parts.add("delta nets whose decays have a bound");
                }
                if (delta.strength() != 1f) {
                    parts.add("delta nets that may overshoot (negative eigenvalues)");
                }
            }
            case AttentionSpec.ShortConvolution _ -> parts.add("short convolutions");
            case AttentionSpec.StateSpace _ -> parts.add("state spaces");
            case AttentionSpec.Scan _ -> parts.add("selective scans (Mamba 1)");
            case AttentionSpec.Lightning _ -> parts.add("lightning attention");
            case AttentionSpec.HeadsAndSpace _ -> parts.add("attention beside state spaces");
        }
        switch (layer.feedForward()) {
            case FeedForwardSpec.Gated gated -> {
                if (gated.isSparse()) {
                    parts.add("sparse activations");
                }
                if (gated.gate().hasTwoBounds()) {
                    parts.add(BOUNDED);
                }
            }
            case FeedForwardSpec.Plain plain -> {
                if (plain.xielu() != null) {
                    parts.add("trained activations (xIELU)");
                }
            }
            case FeedForwardSpec.None _ -> {}
            case FeedForwardSpec.Experts experts -> {
                parts.add(experts.sharedSize() == 0 ? "experts" : "experts and shared ones");
                if (experts.scoring() == Router.Scoring.SOFTMAX_OF_NEAR) {
                    parts.add("experts chosen one behind the other (SparseMixer)");
                }
                if (experts.gate().hasTwoBounds() || experts.sharedGating().hasTwoBounds()) {
                    parts.add(BOUNDED);
                }
            }
            case FeedForwardSpec.Beside _ -> parts.add("experts beside a feed-forward");
        }
        return parts;
    }
}
