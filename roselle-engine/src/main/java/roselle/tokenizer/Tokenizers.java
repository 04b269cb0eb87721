package roselle.tokenizer;

import roselle.api.CheckpointException;

/** Builds tokenizers from what model files say about them. */
public final class Tokenizers {
    private Tokenizers() {}

    /** The tokenizer of a GGUF file; a {@code CheckpointException} where the file describes one that is not supported. */
    public static Tokenizer fromGguf(GgufVocabulary vocabulary) {
        return switch (vocabulary.model()) {
            case "gpt2" -> new GgufTokenizer(vocabulary).gpt2();
            case "llama" -> new GgufTokenizer(vocabulary).llama();
            default ->
                throw new CheckpointException("tokenizer.ggml.model is '" + vocabulary.model()
                        + "', which is not supported: use a model with gpt2 or llama");
        };
    }
}
