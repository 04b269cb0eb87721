package roselle.cli.serve;

import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import roselle.api.InvalidRequestException;
import roselle.cli.report.Heading;
import roselle.server.config.AccessOptions;
import roselle.server.config.ApiKey;
import roselle.server.config.ApiKeyFile;
import roselle.server.config.GatewayTrust;

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

    @Option(
            names = "--trust-gateway",
            description =
                    "Believe the headers of a gateway about tenants, objectives and how fast is wanted: only where"
                            + " clients reach the server through it alone.")
    private boolean trustsGateway;

    @Option(
            names = "--objectives",
            paramLabel = "NAMES",
            description = "Priorities by the objective that the gateway names, such as interactive=100,bulk=-100;"
                    + " of others it is 0.")
    private String objectives = "";

    @Mixin
    private KeyLimitFlags limits = new KeyLimitFlags();

    AccessOptions options() {
        return new AccessOptions(
                keys(),
                allowsAnyone,
                opensMetrics,
                parts(hosts),
                parts(origins),
                new GatewayTrust(trustsGateway, priorities()));
    }

    private Map<String, Integer> priorities() {
        var priorities = new HashMap<String, Integer>();
        for (String part : parts(objectives)) {
            int equals = part.lastIndexOf('=');
            Optional<Integer> priority = equals < 1 ? Optional.empty() : number(part.substring(equals + 1));
            if (priority.isEmpty() || priorities.put(part.substring(0, equals), priority.orElseThrow()) != null) {
                throw new InvalidRequestException(
                        "objectives has '" + part + "': write NAME=PRIORITY, each name once, separated by commas");
            }
        }
        return priorities;
    }

    private static Optional<Integer> number(String text) {
        try {
            return Optional.of(Integer.valueOf(text));
        } catch (NumberFormatException _) {
            return Optional.empty();
        }
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
