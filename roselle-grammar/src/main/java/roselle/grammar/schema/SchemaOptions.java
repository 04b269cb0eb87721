package roselle.grammar.schema;

import java.util.Map;

/**
 * How the JSON texts of a schema are spelled, and what the schema may refer to.
 *
 * @param whitespace between the parts of a text
 * @param allowsAnyEscape whether printable ASCII may be written as {@code \}{@code u0061}, whole numbers as {@code 1.5e3},
 *     integers as {@code 1.0}, exponents of 200 and more, and numbers with up to 100 digits before and behind the point instead of 64; a model needs none of
 *     these, and texts of others may have them
 * @param keyOrder in which order an object's keys come
 * @param assertsFormats whether {@code format} binds, where the format is known; else it is a remark
 * @param documents further schemas by their URI, which {@code $ref} may name
 */
public record SchemaOptions(
        Whitespace whitespace,
        boolean allowsAnyEscape,
        KeyOrder keyOrder,
        boolean assertsFormats,
        Map<String, String> documents) {
    /** What may stand between the parts of a text. */
    public enum Whitespace {
        NONE,
        /** At each place a space, or a line break and an indent: the text ends. */
        BOUNDED,
        /** Whatever JSON allows, however long. */
        ANY
    }

    /** The order of an object's keys. */
    public enum KeyOrder {
        ANY,
        /** As the schema names them, and then others. */
        SCHEMA
    }

    /** For texts that a model writes. */
    public static final SchemaOptions GENERATING =
            new SchemaOptions(Whitespace.BOUNDED, false, KeyOrder.ANY, true, Map.of());

    /** For texts that are given: every spelling of a valid value is accepted. */
    public static final SchemaOptions CHECKING = new SchemaOptions(Whitespace.ANY, true, KeyOrder.ANY, true, Map.of());

    public SchemaOptions {
        documents = Map.copyOf(documents);
    }
}
