package roselle.checkpoint.huggingface;

import java.nio.file.Path;
import java.util.Map;
import java.util.Optional;
import roselle.checkpoint.Checkpoint;
import roselle.checkpoint.Metadata;
import roselle.checkpoint.file.MappedFiles;
import roselle.tensor.Tensor;
import roselle.tokenizer.Tokenizer;
import roselle.tokenizer.format.Tokenizers;

/** A tokenizer's file alone: no tensor, no template. */
public record TokenizerCheckpoint(Path source, MappedFiles files) implements Checkpoint {
    @Override
    public Format format() {
        return Format.HUGGING_FACE;
    }

    @Override
    public Metadata config() {
        return JsonMetadata.absent(source.resolveSibling(FolderFiles.CONFIG));
    }

    @Override
    public Optional<Metadata> generationConfig() {
        return Optional.empty();
    }

    @Override
    public Map<String, Tensor> tensors() {
        return Map.of();
    }

    @Override
    public boolean hasTokenizer() {
        return true;
    }

    @Override
    public Tokenizer tokenizer() {
        return Tokenizers.fromFile(source);
    }

    @Override
    public Optional<String> chatTemplate() {
        return Optional.empty();
    }

    @Override
    public Optional<String> chatTemplate(String name) {
        return Optional.empty();
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
