/** The command line. */
module roselle.cli {
    requires info.picocli;
    requires java.management;
    requires java.net.http;
    requires jdk.jfr;
    requires jdk.management;
    requires jdk.unsupported; // JLine's, for Ctrl-C
    requires me.tongfei.progressbar;
    requires org.jline.reader;
    requires org.jline.terminal;
    requires roselle.bench;
    requires roselle.engine;
    requires roselle.hub;
    requires roselle.mcp;
    requires roselle.server;
    requires tools.jackson.core;
    requires tools.jackson.databind;

    provides System.LoggerFinder with
            roselle.cli.ConsoleLoggers;

    opens roselle.cli to
            info.picocli;
    opens roselle.cli.bench to
            info.picocli;
    opens roselle.cli.model to
            info.picocli;
    opens roselle.cli.option to
            info.picocli;
    opens roselle.cli.report to
            info.picocli;
    opens roselle.cli.run to
            info.picocli;
    opens roselle.cli.serve to
            info.picocli;
}
