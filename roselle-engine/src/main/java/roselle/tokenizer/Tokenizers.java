package roselle.tokenizer;

import roselle.api.CheckpointException;

/** Builds tokenizers from what model files say about them. */
public final class Tokenizers {
    private Tokenizers() {}

    /** The tokenizer of a GGUF file; a {@code CheckpointException} where the file describes one that is not supported. */
    @SuppressWarnings("DoNotCallSuggester") // the models are still to come
    public static Tokenizer fromGguf(GgufVocabulary vocabulary) {
        throw new CheckpointException("tokenizer.ggml.model is '" + vocabulary.model()
                + "', which is not supported: use a model with gpt2, llama, bert or t5");
    }
}
