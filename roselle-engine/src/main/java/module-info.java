/** The Roselle engine: text to text in one process. */
@SuppressWarnings("module") // the qualified exports name modules that are built later
module roselle.engine {
    requires java.management;
    requires java.net.http;
    requires jdk.incubator.vector;
    requires jdk.jfr;
    requires jdk.management;
    requires static transitive org.jspecify;
    requires tools.jackson.core;
    requires tools.jackson.databind;

    uses roselle.backend.BackendProvider;

    provides roselle.backend.BackendProvider with
            roselle.cpu.CpuProvider;

    exports roselle.api;
    exports roselle.backend;
    exports roselle.engine;
    exports roselle.tensor;
    exports roselle.tokenizer;
    exports roselle.template to
            roselle.cli,
            roselle.bench;
    exports roselle.checkpoint to
            roselle.cli,
            roselle.bench;
    exports roselle.checkpoint.hub to
            roselle.cli;
    exports roselle.model to
            roselle.cli,
            roselle.bench;
    exports roselle.cpu to
            roselle.cli,
            roselle.bench;
    exports roselle.execution to
            roselle.cli,
            roselle.bench;
    exports roselle.model.architecture to
            roselle.cli,
            roselle.bench;
}
