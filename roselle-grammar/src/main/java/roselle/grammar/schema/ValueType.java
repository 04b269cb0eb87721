package roselle.grammar.schema;

/** What a JSON value is, as far as its first byte tells. */
enum ValueType {
    NULL("n"),
    TRUE("t"),
    FALSE("f"),
    NUMBER("-0123456789"),
    STRING("\""),
    ARRAY("["),
    OBJECT("{");

    /** What its texts begin with. */
    final String signs;

    ValueType(String signs) {
        this.signs = signs;
    }
}
