package roselle.spring.autoconfigure;

import java.nio.file.Path;
import org.jspecify.annotations.Nullable;
import org.springframework.boot.context.properties.ConfigurationProperties;
import org.springframework.boot.context.properties.bind.DefaultValue;

/**
 * What the application says of its models.
 *
 * @param model a GGUF file, or a folder with safetensors; without it there is no chat model
 * @param name what metadata calls it; the name of its file by default
 * @param embeddingModel a folder as sentence-transformers writes it; without it there is no embedding model
 * @param device what runs them, as {@code --device} has it
 * @param context tokens of the longest prompt and answer together; 0 for the model's own limit
 * @param maxSequences answers that are generated at a time
 * @param chat options of prompts that do not say otherwise
 */
@ConfigurationProperties("spring.ai.roselle")
public record RoselleProperties(
        @Nullable Path model,
        @Nullable String name,
        @Nullable Path embeddingModel,
        @DefaultValue("auto") String device,
        @DefaultValue("0") int context,
        @DefaultValue("64") int maxSequences,
        @DefaultValue Chat chat) {
    /** Options of prompts. */
    public record Chat(
            @Nullable Double temperature,
            @Nullable Double topP,
            @Nullable Integer topK,
            @Nullable Integer maxTokens,
            @Nullable Long seed) {}
}
