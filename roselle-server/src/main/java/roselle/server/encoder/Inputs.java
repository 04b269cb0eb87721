package roselle.server.encoder;

import java.util.List;
import roselle.api.Prompt;
import roselle.embedding.EmbeddingEngine;
import roselle.embedding.EmbeddingOptions;
import roselle.embedding.EncoderInput;

/** Texts and token ids, as dialects read them, as an encoder takes them. */
public final class Inputs {
    private Inputs() {}

    /** What an engine makes of texts, which get the tokens around them, and of ids, which have them. */
    public static List<EncoderInput> of(List<Prompt> prompts, EmbeddingEngine engine, EmbeddingOptions options) {
        return prompts.stream().map(prompt -> of(prompt, engine, options)).toList();
    }

    private static EncoderInput of(Prompt prompt, EmbeddingEngine engine, EmbeddingOptions options) {
        return switch (prompt) {
            case Prompt.Text text -> engine.read(text.text(), options);
            case Prompt.Tokens tokens ->
                EncoderInput.of(
                        tokens.ids().stream().mapToInt(Integer::intValue).toArray());
            case Prompt.Chat _ -> throw new IllegalArgumentException("a conversation is no text");
        };
    }
}
