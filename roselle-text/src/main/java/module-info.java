/** Text to token ids and back: tokenizers, chat templates and what chats look like. */
@SuppressWarnings("module") // the qualified exports name modules that are built later
module roselle.text {
    requires transitive roselle.api;
    requires tools.jackson.core;
    requires tools.jackson.databind;

    exports roselle.tokenizer;
    exports roselle.tokenizer.format;
    exports roselle.conversation to
            roselle.engine,
            roselle.server,
            roselle.cli;
    exports roselle.conversation.format to
            roselle.engine;
    exports roselle.conversation.parse to
            roselle.engine;
    exports roselle.json to
            roselle.engine,
            roselle.hub,
            roselle.server,
            roselle.cli,
            roselle.bench;
    exports roselle.gotemplate to
            roselle.engine;
    exports roselle.jinja to
            roselle.engine,
            roselle.cli,
            roselle.bench;
}
