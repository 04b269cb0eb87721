/** The command line. */
@SuppressWarnings("requires-automatic") // JLine has no descriptor
module roselle.cli {
    requires info.picocli;
    requires java.logging; // JLine's
    requires java.net.http;
    requires jdk.unsupported; // JLine's, for Ctrl-C
    requires org.jline;
    requires roselle.bench;
    requires roselle.engine;
    requires roselle.server;
    requires static org.jspecify;
    requires tools.jackson.core;
    requires tools.jackson.databind;

    provides System.LoggerFinder with
            roselle.cli.ConsoleLoggers;

    opens roselle.cli to
            info.picocli;
}
