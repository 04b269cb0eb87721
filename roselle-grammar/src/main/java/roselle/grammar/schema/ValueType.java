package roselle.grammar.schema;

/** What a JSON value is, as far as its first byte tells. */
enum ValueType {
    NULL,
    TRUE,
    FALSE,
    NUMBER,
    STRING,
    ARRAY,
    OBJECT
}
