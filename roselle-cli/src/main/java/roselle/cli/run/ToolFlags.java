package roselle.cli.run;

import java.util.List;
import picocli.CommandLine.Option;
import roselle.cli.report.Heading;

/** The options that say which tools a model may call. */
@Heading("Tools")
final class ToolFlags {
    /** Asked where a call was shown; what is no y is no consent. */
    static final String QUESTION = "Call it? [y/N] ";

    @Option(
            names = "--mcp",
            paramLabel = "COMMAND|URL",
            description =
                    "Let the model call the tools of an MCP server: a command line, which is run, or an address. May be"
                            + " given several times. Each call is shown, and asked about.")
    private List<String> servers = List.of();

    @Option(names = "--mcp-allow", description = "Call tools without asking.")
    private boolean isAllowed;

    boolean areGiven() {
        return !servers.isEmpty();
    }

    List<String> servers() {
        return servers;
    }

    /** Whether calls are made without asking. */
    boolean isAllowed() {
        return isAllowed;
    }
}
