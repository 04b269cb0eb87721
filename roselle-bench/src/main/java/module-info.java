/** Measurements of models, of the engine and of servers. */
module roselle.bench {
    requires roselle.engine;
    requires static org.jspecify;

    exports roselle.bench;
}
