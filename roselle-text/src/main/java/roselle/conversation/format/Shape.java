package roselle.conversation.format;

import java.util.List;
import java.util.Map;

/**
 * What an answer, or a part of it, may look like: a neutral description that constraints of any kind are made from. Texts of
 * literals and stop marks are as the model spells them, special tokens included.
 */
public sealed interface Shape {
    /** This text. */
    record Literal(String text) implements Shape {}

    /**
     * Any text, up to a mark and without it.
     *
     * @param stops none of which may be in the text; empty for text up to the end of the answer
     */
    record FreeText(List<String> stops) implements Shape {
        public FreeText {
            stops = List.copyOf(stops);
        }
    }

    /** A JSON value that a schema allows; an empty schema allows all. */
    record Json(Map<String, Object> schema) implements Shape {
        public Json {
            schema = Map.copyOf(schema);
        }
    }

    /**
     * A value that a schema allows, spelled as a format has it.
     *
     * @param spelling how it differs from JSON
     * @param quote around texts where they have marks of their own; else empty
     */
    record Value(Map<String, Object> schema, Spelling spelling, String quote) implements Shape {
        public Value {
            schema = Map.copyOf(schema);
        }
    }

    /** How a value is written. */
    enum Spelling {
        /** Literals of Python. */
        PYTHON,
        /** JSON with bare keys, and marks around texts. */
        MARKED
    }

    /**
     * The text of a parameter: as it is where the schema allows texts, else JSON.
     *
     * @param stop the mark behind it, which is not part of it, and not in it
     */
    record ParameterText(Map<String, Object> schema, String stop) implements Shape {
        public ParameterText {
            schema = Map.copyOf(schema);
        }
    }

    /** One after the other. */
    record Sequence(List<Shape> parts) implements Shape {
        public Sequence {
            parts = List.copyOf(parts);
        }
    }

    /** One of them. */
    record Choice(List<Shape> branches) implements Shape {
        public Choice {
            branches = List.copyOf(branches);
        }
    }

    /**
     * The same several times.
     *
     * @param least how often at least
     * @param most how often at most; {@link Integer#MAX_VALUE} for no limit
     */
    record Repeated(Shape part, String separator, int least, int most) implements Shape {}

    /** These members, each at most once and the required ones in any case, in the order of the schema. */
    record Members(List<Member> members, String separator) implements Shape {
        public Members {
            members = List.copyOf(members);
        }
    }

    /** One of {@link Members}. */
    record Member(Shape shape, boolean isRequired) {}

    /**
     * Text, special tokens among it, in which a mark begins another shape.
     *
     * @param marks each of which leads to its shape, the first that comes
     * @param excluded further marks, which do not come
     * @param atOnce what the answer may be instead, from its beginning on; none for text alone
     * @param barred characters that text does not begin with, blanks aside
     * @param mustCome whether a mark must come; else there may be text alone
     */
    record Triggered(List<Mark> marks, List<String> excluded, List<Shape> atOnce, String barred, boolean mustCome)
            implements Shape {
        public Triggered {
            marks = List.copyOf(marks);
            excluded = List.copyOf(excluded);
            atOnce = List.copyOf(atOnce);
        }
    }

    /** The text of an answer that calls nothing, as the request wants it. */
    record Content() implements Shape {}

    /** A mark, and what comes behind it. */
    record Mark(String text, Shape then) {}
}
