/** Models by name: those of the Hugging Face hub, and one that is inside. */
@SuppressWarnings("module") // the qualified export names a module that is built later
module roselle.hub {
    requires java.net.http;
    requires roselle.engine;
    requires tools.jackson.core;
    requires tools.jackson.databind;

    exports roselle.hub;
    exports roselle.hub.request;
    exports roselle.hub.disk to
            roselle.cli;
}
