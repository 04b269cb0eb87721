package roselle.cli.serve;

import java.util.List;
import java.util.Objects;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Model.OptionSpec;
import picocli.CommandLine.ParameterException;
import roselle.embedding.EmbeddingConfig;
import roselle.engine.EngineConfig;

/** What {@code roselle serve} makes of a model that is an encoder, and which of its options mean nothing then. */
final class EncoderServing {
    private static final List<String> OF_GENERATION = List.of(
            "--kv-type",
            "--kv-memory",
            "--max-sequences",
            "--ctx-checkpoints",
            "--max-queue",
            "--chunk-tokens",
            "--overlap",
            "--tool-parser",
            "--no-prefix-cache",
            "--share-prefixes",
            "--lora",
            "--lora-folder",
            "--lora-memory");

    private static final String STEP_TOKENS = "--step-tokens";

    private EncoderServing() {}

    /** The configuration that the options say; those of generation must be as they are unasked. */
    static EmbeddingConfig config(EngineConfig asked, CommandSpec command) {
        for (String name : OF_GENERATION) {
            OptionSpec option = command.findOption(name);
            if (!Objects.equals(option.getValue(), option.initialValue())) {
                throw new ParameterException(
                        command.commandLine(),
                        name + " says how to generate, but " + asked.model() + " is an encoder: leave it out");
            }
        }
        EmbeddingConfig config = EmbeddingConfig.of(asked);
        return isSaid(STEP_TOKENS, command)
                ? config.withStepTokens(asked.batch().stepTokens())
                : config;
    }

    /** Whether an option is on the command line or in a file of settings, also where it is what it would be unasked. */
    private static boolean isSaid(String name, CommandSpec command) {
        OptionSpec option = command.findOption(name);
        try {
            var settings = command.defaultValueProvider();
            return command.commandLine().getParseResult().hasMatchedOption(option)
                    || (settings != null && settings.defaultValue(option) != null);
        } catch (
                Exception
                        unreadable) { // picocli's provider may throw anything, and would have when options were parsed
            throw new IllegalStateException(unreadable);
        }
    }
}
