/** Languages of texts that a model may write, and the masks of the next token that keep it to them. */
module roselle.grammar {
    requires transitive roselle.text;
    requires tools.jackson.core;
    requires tools.jackson.databind;

    exports roselle.grammar;
    exports roselle.grammar.automaton;
    exports roselle.grammar.mask;
    exports roselle.grammar.schema;
}
