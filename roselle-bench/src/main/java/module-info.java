/** Measurements of models, of the engine and of servers. */
@SuppressWarnings("module") // the qualified exports name modules that are built later
module roselle.bench {
    requires java.desktop;
    requires java.management;
    requires java.net.http;
    requires jdk.jfr;
    requires roselle.engine;
    requires tools.jackson.core;
    requires tools.jackson.databind;

    uses roselle.backend.DeviceSensors;

    exports roselle.bench;
    exports roselle.bench.backend to
            roselle.cli;
    exports roselle.bench.environment to
            roselle.cli;
    exports roselle.bench.chart to
            roselle.cli;
    exports roselle.bench.load to
            roselle.cli;
    exports roselle.bench.metric to
            roselle.cli;
    exports roselle.bench.profile to
            roselle.cli;
    exports roselle.bench.report to
            roselle.cli;
    exports roselle.bench.stage to
            roselle.cli;
    exports roselle.bench.stub to
            roselle.cli;
    exports roselle.bench.trace to
            roselle.cli;
    exports roselle.bench.yaml to
            roselle.cli;
}
