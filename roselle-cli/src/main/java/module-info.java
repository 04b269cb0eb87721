/** The command line. */
module roselle.cli {
    requires info.picocli;
    requires java.net.http;
    requires roselle.bench;
    requires roselle.engine;
    requires static org.jspecify;
    requires tools.jackson.core;
    requires tools.jackson.databind;

    provides System.LoggerFinder with
            roselle.cli.ConsoleLoggers;

    opens roselle.cli to
            info.picocli;
}
