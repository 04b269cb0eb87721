package roselle.model.adapter;

import java.io.BufferedOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.SequencedMap;
import java.util.Set;
import java.util.stream.Stream;
import roselle.api.CheckpointException;
import roselle.checkpoint.Checkpoint;
import roselle.checkpoint.huggingface.SafetensorsHeaderWriter;
import roselle.checkpoint.path.Checkpoints;
import roselle.quantization.encoding.Encoder;
import roselle.tensor.DataType;
import roselle.tensor.Shape;
import roselle.tensor.Tensor;
import tools.jackson.databind.json.JsonMapper;
import tools.jackson.databind.node.ObjectNode;

/**
 * Writes a model that an adapter has been merged into: a folder of safetensors like the model's own, for whatever adapters cannot be
 * added beside products.
 */
public final class AdapterMerge {
    private static final String WEIGHTS = "model.safetensors";
    private static final String CONFIG = "config.json";
    private static final String TIED = "tie_word_embeddings";
    private static final JsonMapper MAPPER = JsonMapper.shared();

    /** Parts of tensors' names that an embedding, and an output matrix, have. */
    private static final Set<String> EMBEDDINGS = Set.of("embed_tokens.weight", "wte.weight", "word_embeddings.weight");

    private static final String OUTPUT = MergedTensors.OUTPUT;

    private final Checkpoint model;
    private final Checkpoint adapter;
    private final MergedTensors merged;
    private final boolean isWide;

    /** The tensors to write: unchanged ones of the model, and names of changed ones. */
    private final SequencedMap<String, DataType> types = new LinkedHashMap<>();

    private boolean unties;

    /**
     * Of a model and an adapter, which stay the caller's.
     *
     * @param isWide whether what is changed is written as float32; else as the model has it
     * @throws CheckpointException in one sentence, where the adapter is not PEFT's, not of this model, or not understood
     */
    public AdapterMerge(Checkpoint model, Checkpoint adapter, boolean isWide) {
        if (model.format() != Checkpoint.Format.HUGGING_FACE
                || adapter.format() != Checkpoint.Format.HUGGING_FACE
                || !Files.isDirectory(model.source())) {
            throw new CheckpointException("a folder of safetensors is merged with a folder of PEFT's, but "
                    + model.source() + " or " + adapter.source() + " is another thing");
        }
        this.model = model;
        this.adapter = adapter;
        this.isWide = isWide;
        merged = new MergedTensors(model, adapter);
        for (Tensor tensor : model.tensors().values()) {
            types.put(tensor.name(), merged.isChanged(tensor.name()) ? changedType(tensor.type()) : tensor.type());
        }
        for (String name : merged.changed()) {
            merged.shape(name); // which refuses
            types.computeIfAbsent(name, own -> changedType(adapterType(own)));
        }
        untie();
    }

    private DataType changedType(DataType own) {
        return isWide ? DataType.F32 : own;
    }

    private DataType adapterType(String name) {
        return adapter.tensor(PeftFiles.PREFIX + name).type();
    }

    /** Where embedding and output are one tensor of which the adapter changes one use, the other one gets a tensor of its own. */
    private void untie() {
        String embedding = types.keySet().stream()
                .filter(name -> EMBEDDINGS.stream().anyMatch(name::endsWith))
                .findFirst()
                .orElse("");
        boolean isTied = model.config().flag(TIED, true)
                && !embedding.isEmpty()
                && !model.tensors().containsKey(OUTPUT);
        boolean isOfBoth = adapter.config().flag("ensure_weight_tying", false)
                || adapter.config().has("trainable_token_indices"); // which PEFT has follow each other
        boolean changesOutput = merged.isChanged(OUTPUT);
        if (isTied && !isOfBoth && (changesOutput || merged.isChanged(embedding))) {
            unties = true;
            types.putIfAbsent(OUTPUT, model.tensor(embedding).type());
        }
    }

    /** Tensors that are other ones than the model's. */
    public int changed() {
        int count = 0;
        for (String _ : merged.changed()) {
            count++;
        }
        return count;
    }

    /**
     * Writes the folder, with all that is beside the model's weights, and the adapter's tokenizer where it has one.
     *
     * @param target a folder that is not there yet
     */
    public void write(Path target) throws IOException {
        Files.createDirectories(target);
        copyBeside(model.source(), target);
        for (String name : Set.of("tokenizer.json", "tokenizer_config.json", "chat_template.jinja")) {
            Path file = adapter.source().resolve(name);
            if (Files.exists(file)) {
                Files.copy(file, target.resolve(name), StandardCopyOption.REPLACE_EXISTING);
            }
        }
        if (unties) {
            Path config = target.resolve(CONFIG);
            var fields = (ObjectNode) MAPPER.readTree(Files.readString(config));
            fields.put(TIED, false);
            Files.writeString(config, MAPPER.writerWithDefaultPrettyPrinter().writeValueAsString(fields));
        }
        Path weights = target.resolve(WEIGHTS);
        Path part = target.resolve(WEIGHTS + ".part");
        try (var out = new BufferedOutputStream(Files.newOutputStream(part), 1 << 20)) {
            out.write(header());
            for (Map.Entry<String, DataType> tensor : types.entrySet()) {
                writeTensor(out, tensor.getKey(), tensor.getValue());
            }
        }
        Files.move(part, weights, StandardCopyOption.REPLACE_EXISTING);
        model.checkFiles();
        adapter.checkFiles();
    }

    /** All files but the model's weights and what is known of them. */
    private static void copyBeside(Path from, Path to) throws IOException {
        try (Stream<Path> files = Files.walk(from, 2)) {
            for (Path file : files.filter(Files::isRegularFile).toList()) {
                Path relative = from.relativize(file);
                boolean isWeight = relative.getNameCount() == 1
                        && (relative.toString().endsWith(".safetensors")
                                || relative.toString().endsWith(".index.json"));
                if (!isWeight && !relative.toString().startsWith(".")) {
                    Path copy = to.resolve(relative);
                    Files.createDirectories(copy.getParent());
                    Files.copy(file, copy, StandardCopyOption.REPLACE_EXISTING);
                }
            }
        }
    }

    private Shape shape(String name) {
        if (merged.isChanged(name)) {
            return merged.shape(name);
        }
        return source(name).shape();
    }

    /** An unchanged tensor; an output matrix that has become one of its own was the embedding. */
    private Tensor source(String name) {
        Tensor own = model.tensors().get(name);
        return own != null
                ? own
                : model.tensors().values().stream()
                        .filter(tensor -> EMBEDDINGS.stream().anyMatch(tensor.name()::endsWith))
                        .findFirst()
                        .orElseThrow();
    }

    private byte[] header() {
        var header = new SafetensorsHeaderWriter(new LinkedHashMap<>(Map.of("format", "pt")));
        types.forEach((name, type) -> header.tensor(name, type, shape(name)));
        return header.toBytes();
    }

    private void writeTensor(OutputStream out, String name, DataType type) throws IOException {
        if (!merged.isChanged(name)) {
            copy(source(name).data(), out);
            return;
        }
        float[] numbers = merged.numbers(name);
        Encoder encoder = Encoder.of(type).orElseThrow();
        int piece = 1 << 16;
        for (int from = 0; from < numbers.length; from += piece) {
            float[] row = Arrays.copyOfRange(numbers, from, Math.min(from + piece, numbers.length));
            var bytes = new byte[row.length * type.blockBytes()];
            encoder.encode(row, null, bytes, 0);
            out.write(bytes);
        }
    }

    private static void copy(MemorySegment data, OutputStream out) throws IOException {
        long piece = 1 << 20;
        for (long from = 0; from < data.byteSize(); from += piece) {
            out.write(
                    data.asSlice(from, Math.min(piece, data.byteSize() - from)).toArray(ValueLayout.JAVA_BYTE));
        }
    }

    /** Merges folders. */
    public static int run(Path model, Path adapter, Path target, boolean isWide) throws IOException {
        try (Checkpoint base = Checkpoints.open(model);
                Checkpoint files = Checkpoints.openAdapter(adapter)) {
            var merge = new AdapterMerge(base, files, isWide);
            merge.write(target);
            return merge.changed();
        }
    }
}
