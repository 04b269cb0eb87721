/** The Roselle engine: text to text in one process. */
@SuppressWarnings("module") // the qualified exports name modules that are built later
module roselle.engine {
    requires java.management;
    requires jdk.jfr;
    requires jdk.management;
    requires roselle.grammar;
    requires transitive roselle.api;
    requires transitive roselle.text;
    requires tools.jackson.core;
    requires tools.jackson.databind;

    uses roselle.backend.BackendProvider;

    exports roselle.backend;
    exports roselle.backend.memory;
    exports roselle.backend.operation;
    exports roselle.backend.step;
    exports roselle.embedding;
    exports roselle.engine;
    exports roselle.quantization;
    exports roselle.structured.type;
    exports roselle.tensor;
    exports roselle.checkpoint to
            roselle.cli,
            roselle.bench;
    exports roselle.checkpoint.path to
            roselle.cli,
            roselle.bench;
    exports roselle.checkpoint.summary to
            roselle.cli,
            roselle.bench;
    exports roselle.checkpoint.huggingface to
            roselle.hub;
    exports roselle.model to
            roselle.cli,
            roselle.bench;
    exports roselle.model.adapter to
            roselle.cli,
            roselle.bench;
    exports roselle.model.spec to
            roselle.cli,
            roselle.bench;
    exports roselle.model.weights to
            roselle.cli,
            roselle.bench;
    exports roselle.quantization.folder to
            roselle.cli;
    exports roselle.quantization.recipe to
            roselle.cli;
    exports roselle.execution to
            roselle.cli,
            roselle.bench;
    exports roselle.model.architecture to
            roselle.cli,
            roselle.bench;
}
