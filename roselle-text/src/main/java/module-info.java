/** Text to token ids and back: tokenizers and chat templates. */
@SuppressWarnings("module") // the qualified exports name modules that are built later
module roselle.text {
    requires transitive roselle.api;
    requires tools.jackson.core;
    requires tools.jackson.databind;

    exports roselle.tokenizer;
    exports roselle.tokenizer.format;
    exports roselle.jinja to
            roselle.engine,
            roselle.cli,
            roselle.bench;
}
