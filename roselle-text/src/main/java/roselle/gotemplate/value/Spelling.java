package roselle.gotemplate.value;

/** How a value that is not plain text is written where a template prints it. */
public enum Spelling {
    /** As Go prints such a value. */
    PLAIN,
    /** As JSON where it is printed by itself; as Go prints it where it is a part of another, or an argument. */
    JSON_ALONE,
    /** As JSON wherever it is printed. */
    JSON,
    /** A list of one text as that text, there and in JSON. */
    ONE_AS_TEXT
}
