/** What a caller says to an engine and hears from it. */
module roselle.api {
    requires transitive org.jspecify;

    exports roselle.api;
    exports roselle.api.type;
}
