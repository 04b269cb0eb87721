package roselle.checkpoint;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.List;
import roselle.api.CheckpointException;

/** What a user's path to a model names: one of the layouts below, decided by names and by GGUF's magic. */
sealed interface ModelPath {
    String CONFIG = "config.json";
    String GENERATION_CONFIG = "generation_config.json";
    String TOKENIZER_JSON = "tokenizer.json";
    String TOKENIZER_CONFIG = "tokenizer_config.json";
    String TOKENIZER_MODEL = "tokenizer.model";
    String SAFETENSORS = "model.safetensors";
    String SAFETENSORS_INDEX = "model.safetensors.index.json";

    /** A GGUF file, or one part of a model that is split into several. */
    record Gguf(Path file) implements ModelPath {
        @Override
        public Checkpoint open(MappedFiles files) {
            return GgufCheckpoint.open(file, files);
        }
    }

    /** A folder as Hugging Face lays it out. */
    record Folder(Path folder) implements ModelPath {
        @Override
        public Checkpoint open(MappedFiles files) {
            return HuggingFaceCheckpoint.openFolder(folder, files);
        }
    }

    /** One safetensors file and the folder around it. */
    record Safetensors(Path file) implements ModelPath {
        @Override
        public Checkpoint open(MappedFiles files) {
            return HuggingFaceCheckpoint.openSafetensors(file, files);
        }
    }

    /** A tokenizer.json or a SentencePiece model alone. */
    record TokenizerFile(Path file) implements ModelPath {
        @Override
        public Checkpoint open(MappedFiles files) {
            return new TokenizerCheckpoint(file, files);
        }
    }

    /** The checkpoint there, which takes {@code files} and closes them; they stay the caller's when this fails. */
    Checkpoint open(MappedFiles files);

    static ModelPath of(Path path) {
        requireExisting(path);
        if (Files.isDirectory(path)) {
            return ofFolder(path);
        }
        requireFile(path);
        String name = path.toAbsolutePath().getFileName().toString();
        if (name.endsWith(".gguf") || beginsWithGgufMagic(path)) {
            return new Gguf(path);
        }
        if (name.equals(CONFIG) || name.equals(SAFETENSORS_INDEX)) {
            return new Folder(folderOf(path));
        }
        if (name.endsWith(".safetensors")) {
            return new Safetensors(path);
        }
        if (name.endsWith(".json") || name.endsWith(".model")) {
            return new TokenizerFile(path);
        }
        throw new CheckpointException(path + " is no model: expected a folder, .gguf, .safetensors, "
                + SAFETENSORS_INDEX + ", tokenizer.json or tokenizer.model");
    }

    /** The folder that a file lies in. */
    static Path folderOf(Path file) {
        Path parent = file.getParent();
        return parent == null ? Path.of("") : parent;
    }

    static void requireExisting(Path path) {
        if (!Files.exists(path)) {
            throw new CheckpointException(path + " does not exist", new NoSuchFileException(path.toString()));
        }
    }

    /** Fails on what is there but cannot be a model file: a folder, a pipe, a device. */
    static void requireFile(Path path) {
        requireExisting(path);
        if (!Files.isRegularFile(path)) {
            throw new CheckpointException(path + " is not a regular file");
        }
    }

    private static ModelPath ofFolder(Path folder) {
        boolean isHuggingFace =
                List.of(CONFIG, SAFETENSORS, SAFETENSORS_INDEX, TOKENIZER_JSON, TOKENIZER_MODEL).stream()
                        .anyMatch(name -> Files.exists(folder.resolve(name)));
        if (isHuggingFace) {
            return new Folder(folder);
        }
        List<Path> files = ggufFilesIn(folder);
        if (files.isEmpty()) {
            throw new CheckpointException(
                    folder + " holds no model: expected " + CONFIG + " with " + SAFETENSORS + ", or a .gguf file");
        }
        GgufParts parts = GgufParts.of(files.getFirst());
        if (files.size() > parts.count()) {
            throw new CheckpointException(folder + " holds " + files.size() + " .gguf files: name one of them");
        }
        return new Gguf(files.getFirst());
    }

    private static List<Path> ggufFilesIn(Path folder) {
        try (var entries = Files.list(folder)) {
            return entries.filter(path -> path.getFileName().toString().endsWith(".gguf"))
                    .sorted()
                    .toList();
        } catch (IOException e) {
            throw new CheckpointException(folder + " cannot be listed: " + e.getMessage(), e);
        }
    }

    private static boolean beginsWithGgufMagic(Path path) {
        try (var stream = Files.newInputStream(path)) {
            byte[] magic = stream.readNBytes(4);
            return magic.length == 4 && magic[0] == 'G' && magic[1] == 'G' && magic[2] == 'U' && magic[3] == 'F';
        } catch (IOException e) {
            throw new CheckpointException(path + " cannot be read: " + e.getMessage(), e);
        }
    }
}
