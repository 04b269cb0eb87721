/** The engine with its devices and models by name. */
module roselle {
    requires roselle.cpu;
    requires roselle.cuda;
    requires transitive roselle.engine;
    requires transitive roselle.hub;
}
