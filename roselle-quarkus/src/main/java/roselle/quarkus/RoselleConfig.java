package roselle.quarkus;

import io.quarkus.runtime.annotations.ConfigPhase;
import io.quarkus.runtime.annotations.ConfigRoot;
import io.smallrye.config.ConfigMapping;
import io.smallrye.config.WithDefault;
import java.nio.file.Path;
import java.util.Optional;
import java.util.OptionalDouble;
import java.util.OptionalInt;
import java.util.OptionalLong;

/** What the application says of its models, read when it starts. */
@ConfigMapping(prefix = "quarkus.roselle")
@ConfigRoot(phase = ConfigPhase.RUN_TIME)
public interface RoselleConfig {
    /** A GGUF file, or a folder with safetensors; without it there is no chat model. */
    Optional<Path> model();

    /** What metadata calls the model; the name of its file by default. */
    Optional<String> name();

    /** A folder as sentence-transformers writes it; without it there is no embedding model. */
    Optional<Path> embeddingModel();

    /** What runs both, as {@code --device} has it. */
    @WithDefault("auto")
    String device();

    /** Tokens of the longest prompt and answer together; 0 for the model's own limit. */
    @WithDefault("0")
    int context();

    /** Answers that are generated at a time. */
    @WithDefault("64")
    int maxSequences();

    /** Parameters of requests that do not say otherwise. */
    Chat chat();

    /** Parameters of requests; what is left out is as the model's makers advise. */
    interface Chat {
        /** How far apart likely and unlikely tokens are; 0 for the likeliest. */
        OptionalDouble temperature();

        /** The probability that the likeliest tokens have together. */
        OptionalDouble topP();

        /** How many of the likeliest tokens may be drawn. */
        OptionalInt topK();

        /** The longest answer. */
        OptionalInt maxTokens();

        /** The beginning of the random numbers. */
        OptionalLong seed();
    }
}
