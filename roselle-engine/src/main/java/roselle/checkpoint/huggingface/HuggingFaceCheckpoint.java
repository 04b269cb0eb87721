package roselle.checkpoint.huggingface;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.SequencedMap;
import roselle.api.CheckpointException;
import roselle.checkpoint.Checkpoint;
import roselle.checkpoint.Metadata;
import roselle.checkpoint.file.FileField;
import roselle.checkpoint.file.MappedFile;
import roselle.checkpoint.file.MappedFiles;
import roselle.checkpoint.file.RegularFile;
import roselle.checkpoint.file.TensorPlace;
import roselle.tensor.Tensor;
import roselle.tokenizer.Tokenizer;
import roselle.tokenizer.format.Tokenizers;

/** A model as Hugging Face lays it out: JSON files and a tokenizer beside safetensors, or only some of them. */
public final class HuggingFaceCheckpoint implements Checkpoint {
    private final Path source;
    private final Path folder;
    private final MappedFiles files;
    private final Metadata config;
    private final Map<String, Tensor> tensors;

    private HuggingFaceCheckpoint(
            Path source, Path folder, MappedFiles files, Metadata config, Map<String, Tensor> tensors) {
        this.source = source;
        this.folder = folder;
        this.files = files;
        this.config = config;
        this.tensors = tensors;
    }

    /** Opens a folder, with or without weights; {@code files} is taken on success only. */
    public static HuggingFaceCheckpoint openFolder(Path folder, MappedFiles files) {
        return new HuggingFaceCheckpoint(folder, folder, files, config(folder), folderTensors(folder, files));
    }

    /** Opens one safetensors file with the JSON files around it; {@code files} is taken on success only. */
    public static HuggingFaceCheckpoint openSafetensors(Path file, MappedFiles files) {
        Path folder = FolderFiles.folderOf(file);
        return new HuggingFaceCheckpoint(file, folder, files, config(folder), fileTensors(file, files));
    }

    /** Opens the folder of an adapter, as PEFT writes it; {@code files} is taken on success only. */
    public static HuggingFaceCheckpoint openAdapter(Path folder, MappedFiles files) {
        Path tensors = folder.resolve(FolderFiles.ADAPTER);
        if (!Files.exists(tensors) && Files.exists(folder.resolve("adapter_model.bin"))) {
            throw new CheckpointException(folder.resolve("adapter_model.bin")
                    + " holds pickled weights, which are code and are not read: convert the adapter to safetensors");
        }
        RegularFile.requireExisting(folder.resolve(FolderFiles.ADAPTER_CONFIG));
        RegularFile.requireExisting(tensors);
        Metadata config = JsonMetadata.read(folder.resolve(FolderFiles.ADAPTER_CONFIG));
        return new HuggingFaceCheckpoint(folder, folder, files, config, fileTensors(tensors, files));
    }

    private static Metadata config(Path folder) {
        Path file = folder.resolve(FolderFiles.CONFIG);
        return Files.exists(file) ? JsonMetadata.read(file) : JsonMetadata.absent(file);
    }

    private static Map<String, Tensor> folderTensors(Path folder, MappedFiles files) {
        Path single = folder.resolve(FolderFiles.SAFETENSORS);
        Path index = folder.resolve(FolderFiles.SAFETENSORS_INDEX);
        if (Files.exists(single)) {
            return fileTensors(single, files);
        }
        if (Files.exists(index)) {
            return shardTensors(SafetensorsIndex.read(index), folder, files);
        }
        for (String name : List.of("pytorch_model.bin", "pytorch_model.bin.index.json")) {
            if (Files.exists(folder.resolve(name))) {
                throw new CheckpointException(folder.resolve(name)
                        + " holds pickled weights, which are code and are not read: convert the model to safetensors");
            }
        }
        return Map.of();
    }

    private static Map<String, Tensor> fileTensors(Path path, MappedFiles files) {
        MappedFile file = files.map(path);
        SequencedMap<String, Tensor> tensors = new LinkedHashMap<>();
        for (TensorPlace place : SafetensorsHeader.read(file)) {
            put(tensors, place.in(file));
        }
        return Collections.unmodifiableMap(tensors);
    }

    /** The tensors that the index names, each from the shard it names; others in the shards are not the model's. */
    private static Map<String, Tensor> shardTensors(SafetensorsIndex index, Path folder, MappedFiles files) {
        SequencedMap<String, Tensor> tensors = new LinkedHashMap<>();
        for (String shard : index.fileNames()) {
            MappedFile file = files.map(folder.resolve(shard));
            for (TensorPlace place : SafetensorsHeader.read(file)) {
                if (shard.equals(index.shards().get(place.name()))) {
                    put(tensors, place.in(file));
                }
            }
        }
        index.shards().forEach((tensor, shard) -> {
            if (!tensors.containsKey(plain(tensor))) {
                throw new CheckpointException(index.path() + " names tensor " + FileField.excerpt(tensor) + " in "
                        + shard + ", which has none of that name");
            }
        });
        return Collections.unmodifiableMap(tensors);
    }

    private static void put(SequencedMap<String, Tensor> tensors, Tensor tensor) {
        String name = plain(tensor.name());
        tensors.put(name, new Tensor(name, tensor.type(), tensor.shape(), tensor.data()));
    }

    /** A tensor's name where PyTorch computes it of parts, one of which is the weight as it would be alone. */
    private static String plain(String tensor) {
        return tensor.endsWith(WHOLE) ? tensor.substring(0, tensor.length() - WHOLE.length()) + ".weight" : tensor;
    }

    private static final String WHOLE = ".parametrizations.weight.original";

    @Override
    public Path source() {
        return source;
    }

    @Override
    public Format format() {
        return Format.HUGGING_FACE;
    }

    @Override
    public Metadata config() {
        return config;
    }

    @Override
    public Optional<Metadata> generationConfig() {
        return beside(FolderFiles.GENERATION_CONFIG);
    }

    @Override
    public Optional<Metadata> modelOptConfig() {
        return beside(FolderFiles.MODEL_OPT_CONFIG);
    }

    private Optional<Metadata> beside(String name) {
        Path file = folder.resolve(name);
        return Files.exists(file) ? Optional.of(JsonMetadata.read(file)) : Optional.empty();
    }

    @Override
    public Map<String, Tensor> tensors() {
        return tensors;
    }

    @Override
    public boolean hasTokenizer() {
        return Files.exists(folder.resolve("tokenizer.json")) || Files.exists(folder.resolve("tokenizer.model"));
    }

    @Override
    public Tokenizer tokenizer() {
        return Tokenizers.fromFolder(folder);
    }

    @Override
    public Optional<String> chatTemplate() {
        return chatTemplate(FolderTemplates.DEFAULT);
    }

    @Override
    public Optional<String> chatTemplate(String name) {
        return Optional.ofNullable(FolderTemplates.read(folder).get(name));
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
