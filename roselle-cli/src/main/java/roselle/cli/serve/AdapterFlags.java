package roselle.cli.serve;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Optional;
import java.util.SequencedMap;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;
import roselle.api.InvalidRequestException;
import roselle.cli.option.ModelNames;
import roselle.cli.report.ByteSize;
import roselle.cli.report.Heading;
import roselle.cli.report.NearNames;
import roselle.engine.EngineConfig;
import roselle.server.config.AdapterOptions;

/** The options that say which adapters the server has, and which it may load. */
@Heading("Adapters")
final class AdapterFlags {
    @Option(
            names = "--lora",
            paramLabel = "NAME=PATH",
            description =
                    "Adapters of the model, separated by commas: PEFT's folders, .gguf, or hf:org/name, asked for by NAME.")
    private String adapters = "";

    @Option(
            names = "--lora-folder",
            paramLabel = "FOLDER",
            description = "Let operators load adapters of this folder while the server runs; default: let nobody.")
    private @Nullable Path folder;

    @Option(
            names = "--lora-memory",
            paramLabel = "SIZE",
            converter = ByteSize.class,
            description = "Memory for adapters; of more of them those used last are kept; default: 1G.")
    private long memory = EngineConfig.ADAPTER_MEMORY;

    /** Bytes for adapters; 0 where none can come. */
    long memory() {
        return adapters.isEmpty() && folder == null ? 0 : memory;
    }

    AdapterOptions options() {
        return new AdapterOptions(Optional.ofNullable(folder).map(AdapterFlags::existing));
    }

    private static Path existing(Path folder) {
        Path found = NearNames.existing(folder);
        if (!Files.isDirectory(found)) {
            throw new InvalidRequestException("lora folder is " + found + ": it must be a folder");
        }
        return found;
    }

    /** The adapters by name. */
    SequencedMap<String, Path> adapters() {
        var named = new LinkedHashMap<String, Path>();
        List<String> parts = AccessFlags.parts(adapters);
        for (String part : parts) {
            int equals = part.indexOf('=');
            if (equals < 1 || equals == part.length() - 1) {
                throw new InvalidRequestException("lora is " + part + ": it must be NAME=PATH");
            }
            Path path = NearNames.existing(ModelNames.resolve(Path.of(part.substring(equals + 1))));
            if (named.put(part.substring(0, equals), path) != null) {
                throw new InvalidRequestException("lora names " + part.substring(0, equals) + " twice");
            }
        }
        return named;
    }
}
