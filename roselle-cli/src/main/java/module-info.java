/** The command line. */
module roselle.cli {
    requires info.picocli;
    requires roselle.bench;
    requires roselle.engine;
    requires static org.jspecify;

    opens roselle.cli to
            info.picocli;
}
