package roselle.cli.serve;

import picocli.CommandLine.Option;
import roselle.cli.report.Heading;
import roselle.server.config.PageEventOptions;

/** The options that say whom the server tells which pages its engines can find. */
@Heading("Gateways")
final class PageEventFlags {
    @Option(
            names = "--kv-events",
            paramLabel = "ENDPOINT",
            description = "Publish here, over ZeroMQ, which pages can be found, as in tcp://*:5557; default: nowhere.")
    private String endpoint = "";

    @Option(
            names = "--kv-events-replay",
            paramLabel = "ENDPOINT",
            description = "Repeat events here to who missed some, as in tcp://*:5558; default: nowhere.")
    private String replay = "";

    @Option(
            names = "--kv-events-name",
            paramLabel = "HOST:PORT",
            description = "What gateways know this server by; default: where it listens.")
    private String server = "";

    PageEventOptions options() {
        return new PageEventOptions(endpoint, replay, server);
    }
}
