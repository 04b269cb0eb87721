package roselle.cli.serve;

import java.util.List;
import java.util.Map;
import java.util.function.Consumer;
import java.util.function.ToIntFunction;
import picocli.CommandLine.Option;
import roselle.api.GenerationEvent.ToolCall;
import roselle.cli.report.Heading;
import roselle.mcp.McpTools;
import roselle.server.config.PageTools;

/** The options that say which tools the page has. */
@Heading("Tools")
final class PageToolFlags {
    @Option(
            names = "--mcp",
            paramLabel = "COMMAND|URL",
            split = "\n", // as files of options and the environment part them
            splitSynopsisLabel = "",
            description =
                    "Let the page at / offer models the tools of an MCP server: a command line, which is run, or an address."
                            + " May be given several times. The page asks its user before each call; whoever may ask the"
                            + " server may call them.")
    private List<String> servers = List.of();

    /** Does something with the tools, whose servers run until it is done. */
    int with(Consumer<String> complaints, ToIntFunction<PageTools> action) {
        if (servers.isEmpty()) {
            return action.applyAsInt(PageTools.NONE);
        }
        try (McpTools tools = McpTools.connect(servers, complaints)) {
            return action.applyAsInt(of(tools));
        }
    }

    private static PageTools of(McpTools tools) {
        return new PageTools() {
            @Override
            public List<Map<String, Object>> forms() {
                return tools.forms();
            }

            @Override
            public String call(String name, String arguments) {
                return tools.call(new ToolCall(0, 0, name, name, arguments));
            }
        };
    }
}
