package roselle.checkpoint.gguf;

import java.nio.file.Path;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;
import java.util.SequencedMap;
import roselle.api.CheckpointException;
import roselle.checkpoint.Checkpoint;
import roselle.checkpoint.Metadata;
import roselle.checkpoint.file.MappedFile;
import roselle.checkpoint.file.MappedFiles;
import roselle.checkpoint.file.TensorPlace;
import roselle.tensor.Tensor;
import roselle.tokenizer.Tokenizer;
import roselle.tokenizer.format.Tokenizers;

/** A model in one GGUF file, or in several that split its tensors among them. */
public final class GgufCheckpoint implements Checkpoint {
    private static final String PART_NUMBER = "split.no";
    private static final String PART_COUNT = "split.count";
    private static final String TENSOR_COUNT = "split.tensors.count";
    private static final String TEMPLATE = "tokenizer.chat_template";

    private final Path source;
    private final MappedFiles files;
    private final GgufMetadata config;
    private final Map<String, Tensor> tensors;

    private GgufCheckpoint(Path source, MappedFiles files, GgufMetadata config, Map<String, Tensor> tensors) {
        this.source = source;
        this.files = files;
        this.config = config;
        this.tensors = tensors;
    }

    /** Opens a file and, where it is one part of several, its siblings; {@code files} is taken on success only. */
    public static GgufCheckpoint open(Path source, MappedFiles files) {
        SequencedMap<String, Tensor> tensors = new LinkedHashMap<>();
        MappedFile file = files.map(source);
        GgufHeader header = GgufHeaderReader.read(file);
        GgufMetadata config = new GgufMetadata(file, header.metadata());
        int parts = config.integer(PART_COUNT, 0); // joined files state 0
        if (parts < 0 || parts > 1) {
            return openParts(GgufParts.of(source), parts, files);
        }
        addTensors(file, header, tensors);
        return new GgufCheckpoint(source, files, config, Collections.unmodifiableMap(tensors));
    }

    private static GgufCheckpoint openParts(GgufParts parts, int count, MappedFiles files) {
        if (parts.count() != count) {
            throw new CheckpointException(
                    parts.file() + ": " + PART_COUNT + " is " + count + ", so the file's name must end in -00001-of-"
                            + "%05d".formatted(count) + ".gguf or a like number");
        }
        SequencedMap<String, Tensor> tensors = new LinkedHashMap<>();
        GgufMetadata first = addPart(parts, 0, files, tensors);
        for (int part = 1; part < count; part++) {
            addPart(parts, part, files, tensors);
        }
        int stated = first.integer(TENSOR_COUNT, tensors.size());
        if (stated != tensors.size()) {
            throw new CheckpointException(first.origin() + ": " + TENSOR_COUNT + " is " + stated + ", but the " + count
                    + " parts hold " + tensors.size() + " tensors");
        }
        return new GgufCheckpoint(parts.file(), files, first, Collections.unmodifiableMap(tensors));
    }

    private static GgufMetadata addPart(
            GgufParts parts, int part, MappedFiles files, SequencedMap<String, Tensor> tensors) {
        MappedFile file = files.map(parts.part(part));
        GgufHeader header = GgufHeaderReader.read(file);
        GgufMetadata metadata = new GgufMetadata(file, header.metadata());
        check(metadata, PART_NUMBER, part);
        check(metadata, PART_COUNT, parts.count());
        addTensors(file, header, tensors);
        return metadata;
    }

    private static void check(GgufMetadata metadata, String key, int expected) {
        int stated = metadata.integer(key);
        if (stated != expected) {
            throw new CheckpointException(
                    metadata.origin() + ": " + key + " is " + stated + ", by the file's name it must be " + expected);
        }
    }

    private static void addTensors(MappedFile file, GgufHeader header, SequencedMap<String, Tensor> tensors) {
        for (TensorPlace place : header.tensors()) {
            if (tensors.put(place.name(), place.in(file)) != null) {
                throw place.position()
                        .field()
                        .malformed(place.position().stated(), "an earlier part has a tensor of this name");
            }
        }
    }

    @Override
    public Path source() {
        return source;
    }

    @Override
    public Format format() {
        return Format.GGUF;
    }

    @Override
    public Metadata config() {
        return config;
    }

    @Override
    public Optional<Metadata> generationConfig() {
        return Optional.empty();
    }

    @Override
    public Map<String, Tensor> tensors() {
        return tensors;
    }

    @Override
    public boolean hasTokenizer() {
        return config.has("tokenizer.ggml.model");
    }

    @Override
    public Tokenizer tokenizer() {
        return Tokenizers.fromGguf(GgufTokenizerKeys.vocabulary(config));
    }

    @Override
    public Optional<String> chatTemplate() {
        return template(TEMPLATE);
    }

    @Override
    public Optional<String> chatTemplate(String name) {
        return template(TEMPLATE + "." + name);
    }

    private Optional<String> template(String key) {
        return config.has(key) ? Optional.of(config.string(key)) : Optional.empty();
    }

    @Override
    public long bytes() {
        return files.bytes();
    }

    @Override
    public void checkFiles() {
        files.checkSizes();
    }

    @Override
    public void close() {
        files.close();
    }
}
