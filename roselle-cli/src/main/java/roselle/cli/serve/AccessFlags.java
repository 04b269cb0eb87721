package roselle.cli.serve;

import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import roselle.cli.report.Heading;
import roselle.server.config.AccessOptions;
import roselle.server.config.ApiKey;
import roselle.server.config.ApiKeyFile;

/** The options that say who may ask the server. */
@Heading("Who may ask")
final class AccessFlags {
    @Option(
            names = "--api-keys",
            paramLabel = "FILE",
            description = "Ask for an API key of this file, which roselle key writes; default: ask for none.")
    private @Nullable Path keyFile;

    @Option(
            names = "--allow-anyone",
            description = "Serve without API keys also where other machines reach the server.")
    private boolean allowsAnyone;

    @Option(names = "--open-metrics", description = "Answer /metrics without an API key.")
    private boolean opensMetrics;

    @Option(
            names = "--allowed-hosts",
            paramLabel = "NAMES",
            description = "Names by which clients call the server, beside its own; separated by commas.")
    private String hosts = "";

    @Option(
            names = "--allowed-origins",
            paramLabel = "ORIGINS",
            description = "Pages of other servers whose scripts may ask, such as https://chat.example; * for all.")
    private String origins = "";

    @Mixin
    private KeyLimitFlags limits = new KeyLimitFlags();

    AccessOptions options() {
        return new AccessOptions(keys(), allowsAnyone, opensMetrics, parts(hosts), parts(origins));
    }

    /** The keys as their file has them now. */
    List<ApiKey> keys() {
        return keyFile == null ? List.of() : ApiKeyFile.read(keyFile, limits.limits());
    }

    Optional<Path> keyFile() {
        return Optional.ofNullable(keyFile);
    }

    /** What commas separate. */
    static List<String> parts(String list) {
        return Stream.of(list.split(","))
                .map(String::strip)
                .filter(part -> !part.isEmpty())
                .toList();
    }
}
