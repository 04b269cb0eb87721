package roselle.cli.serve;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Objects;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Model.OptionSpec;
import picocli.CommandLine.ParameterException;
import roselle.backend.DeviceOptions;
import roselle.checkpoint.Checkpoint;
import roselle.checkpoint.path.Checkpoints;
import roselle.embedding.EmbeddingConfig;
import roselle.embedding.Encoders;
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

    private EncoderServing() {}

    /** Whether a model is an encoder; those that are read are folders. */
    static boolean isEncoder(Path model) {
        if (!Files.isDirectory(model)) {
            return false;
        }
        try (Checkpoint checkpoint = Checkpoints.open(model)) {
            return Encoders.isOne(checkpoint);
        }
    }

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
        EmbeddingConfig usual = EmbeddingConfig.of(asked.model());
        return new EmbeddingConfig(
                asked.model(),
                device(asked.device()),
                asked.batch().context(),
                asked.batch().stepTokens(),
                usual.stepTexts(),
                usual.maxWaiting());
    }

    /** Encoders run on the CPU, so that is what auto finds. */
    private static DeviceOptions device(DeviceOptions asked) {
        return asked.name().equals(DeviceOptions.AUTO)
                ? new DeviceOptions("cpu", asked.threads(), asked.cpu(), asked.compute())
                : asked;
    }
}
