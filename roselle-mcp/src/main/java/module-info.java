/** The Model Context Protocol: tools of servers for a model, and a model as a server's tool. */
@SuppressWarnings("requires-automatic") // the official SDK, whose jars name their modules and describe none
module roselle.mcp {
    requires io.modelcontextprotocol.sdk.mcp.core;
    requires io.modelcontextprotocol.sdk.mcp.json.jackson3;
    requires reactor.core;
    requires transitive roselle.engine;
    requires static org.jspecify;
    requires tools.jackson.core;
    requires tools.jackson.databind;

    exports roselle.mcp;
}
