package roselle.jinja.text;

/**
 * What one rendering may use before it is refused.
 *
 * @param steps operations, loop rounds and elements visited
 * @param outputCharacters UTF-16 units of the prompt
 * @param work characters and elements copied, added up over the whole rendering
 * @param textCharacters UTF-16 units of one intermediate string
 * @param elements members of one intermediate list or dictionary
 * @param integerBits magnitude of one integer
 * @param depth tree levels of template code that are active at once, macros and recursive loops included
 */
public record Limits(
        int steps, int outputCharacters, long work, int textCharacters, int elements, int integerBits, int depth) {
    /** Far above what a prompt of a million tokens needs, and under a second of one core. */
    public static final Limits DEFAULT =
            new Limits(1_000_000, 64 << 20, 128L << 20, 64 << 20, 1_000_000, 16_384, 2_000);

    /** What an element counts in characters: about what it costs. */
    public static final int ELEMENT_WORK = 64;

    /** UTF-16 units of a template's source. */
    public static final int SOURCE_CHARACTERS = 1 << 20;

    /** Levels of nesting that the parser follows, and height of the tree that it builds. */
    public static final int NESTING = 200;

    /** Levels of lists and dictionaries that printing, comparing and reading variables follow. */
    public static final int DATA_DEPTH = 200;

    /** What the sandbox of Hugging Face's environment allows as well. */
    public static final int RANGE = 100_000;

    /** Python refuses to print longer integers too. */
    public static final int PRINTED_DIGITS = 4_300;
}
