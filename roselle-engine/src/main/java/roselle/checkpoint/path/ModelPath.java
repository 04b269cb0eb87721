package roselle.checkpoint.path;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import roselle.api.CheckpointException;
import roselle.checkpoint.Checkpoint;
import roselle.checkpoint.file.MappedFiles;
import roselle.checkpoint.file.RegularFile;
import roselle.checkpoint.gguf.GgufCheckpoint;
import roselle.checkpoint.gguf.GgufParts;
import roselle.checkpoint.huggingface.FolderFiles;
import roselle.checkpoint.huggingface.HuggingFaceCheckpoint;
import roselle.checkpoint.huggingface.TokenizerCheckpoint;

/** What a user's path to a model names: one of the layouts below, decided by names and by GGUF's magic. */
sealed interface ModelPath {
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
        RegularFile.requireExisting(path);
        if (Files.isDirectory(path)) {
            return ofFolder(path);
        }
        RegularFile.require(path);
        String name = path.toAbsolutePath().getFileName().toString();
        if (name.endsWith(".gguf") || beginsWithGgufMagic(path)) {
            return new Gguf(path);
        }
        if (name.equals(FolderFiles.CONFIG) || name.equals(FolderFiles.SAFETENSORS_INDEX)) {
            return new Folder(FolderFiles.folderOf(path));
        }
        if (name.endsWith(".safetensors")) {
            return new Safetensors(path);
        }
        if (name.endsWith(".json") || name.endsWith(".model")) {
            return new TokenizerFile(path);
        }
        throw new CheckpointException(path + " is no model: expected a folder, .gguf, .safetensors, "
                + FolderFiles.SAFETENSORS_INDEX + ", tokenizer.json or tokenizer.model");
    }

    private static ModelPath ofFolder(Path folder) {
        boolean isHuggingFace = List.of(
                        FolderFiles.CONFIG,
                        FolderFiles.SAFETENSORS,
                        FolderFiles.SAFETENSORS_INDEX,
                        FolderFiles.TOKENIZER_JSON,
                        FolderFiles.TOKENIZER_MODEL)
                .stream()
                .anyMatch(name -> Files.exists(folder.resolve(name)));
        if (isHuggingFace) {
            return new Folder(folder);
        }
        List<Path> files = ggufFilesIn(folder);
        if (files.isEmpty()) {
            throw new CheckpointException(folder + " holds no model: expected " + FolderFiles.CONFIG + " with "
                    + FolderFiles.SAFETENSORS + ", or a .gguf file");
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
