package roselle.tokenizer.pattern;

import java.util.ArrayList;
import java.util.List;
import roselle.tokenizer.unicode.CharacterClasses;
import roselle.tokenizer.unicode.CharacterSet;

/**
 * Reads the part of Oniguruma's syntax (in its Ruby flavour) that tokenizers use: alternation, groups, classes,
 * quantifiers, look-around, anchors, {@code (?i)}. Back-references, conditionals and calls are refused.
 */
final class PatternParser {
    private static final int MAXIMUM_DEPTH = 100;
    private static final int MAXIMUM_COUNT = 1000;
    private static final int MAXIMUM_LENGTH = 10_000;
    private static final int MAXIMUM_QUANTIFIERS = 8; // of one part, one repeating the other

    private final PatternReader reader;
    private boolean ignoreCase;
    private boolean extended;
    private boolean dotAll;
    private int depth;

    private PatternParser(String pattern) {
        reader = new PatternReader(pattern);
        if (pattern.length() > MAXIMUM_LENGTH) {
            throw reader.refusal("it has " + pattern.length() + " characters, the limit is " + MAXIMUM_LENGTH);
        }
    }

    /** The tree of a pattern; a {@code CheckpointException} where it is wrong or not supported. */
    static PatternNode parse(String pattern) {
        var parser = new PatternParser(pattern);
        PatternNode node = parser.alternation();
        if (!parser.reader.atEnd()) {
            throw parser.reader.refusal("a ')' closes no group");
        }
        return node;
    }

    private PatternNode alternation() {
        if (++depth > MAXIMUM_DEPTH) {
            throw reader.refusal("groups nest deeper than " + MAXIMUM_DEPTH);
        }
        boolean outerIgnoreCase = ignoreCase;
        boolean outerExtended = extended;
        boolean outerDotAll = dotAll;
        var branches = new ArrayList<PatternNode>();
        branches.add(sequence());
        while (reader.take('|')) {
            branches.add(sequence());
        }
        ignoreCase = outerIgnoreCase;
        extended = outerExtended;
        dotAll = outerDotAll;
        depth--;
        return branches.size() == 1 ? branches.getFirst() : new PatternNode.Choice(branches);
    }

    private PatternNode sequence() {
        var parts = new ArrayList<PatternNode>();
        while (!reader.atEnd() && reader.peek() != '|' && reader.peek() != ')') {
            if (extended && skipSpaceOrComment()) {
                continue;
            }
            PatternNode atom = atom();
            parts.add(quantified(atom));
        }
        return parts.size() == 1 ? parts.getFirst() : new PatternNode.Sequence(List.copyOf(parts));
    }

    private boolean skipSpaceOrComment() {
        if (reader.take('#')) {
            while (!reader.atEnd() && reader.next() != '\n') {
                // the comment ends with its line
            }
            return true;
        }
        return CharacterClasses.isWhiteSpace(reader.peek()) && reader.next() >= 0;
    }

    private PatternNode atom() {
        int c = reader.next();
        return switch (c) {
            case '(' -> group();
            case '[' -> new PatternNode.One(new PatternClassParser(reader, ignoreCase).parse());
            case '.' ->
                new PatternNode.One(
                        dotAll ? CharacterSet.ALL : CharacterSet.of('\n').complement());
            case '^' -> new PatternNode.At(PatternNode.Anchor.LINE_BEGIN);
            case '$' -> new PatternNode.At(PatternNode.Anchor.LINE_END);
            case '\\' -> escape();
            case '*', '+', '?' -> throw reader.refusal("the quantifier '" + (char) c + "' follows nothing");
            default -> literal(c);
        };
    }

    private PatternNode literal(int codePoint) {
        return new PatternNode.One(ignoreCase ? CharacterSet.ignoringCase(codePoint) : CharacterSet.of(codePoint));
    }

    private PatternNode escape() {
        int c = reader.peek();
        PatternNode.Anchor anchor = switch (c) {
            case 'A' -> PatternNode.Anchor.TEXT_BEGIN;
            case 'z' -> PatternNode.Anchor.TEXT_END;
            case 'Z' -> PatternNode.Anchor.TEXT_END_OR_LAST_NEWLINE;
            case 'b' -> PatternNode.Anchor.WORD_BOUNDARY;
            case 'B' -> PatternNode.Anchor.NO_WORD_BOUNDARY;
            default -> null;
        };
        if (anchor != null) {
            reader.next();
            return new PatternNode.At(anchor);
        }
        if ((c >= '1' && c <= '9') || c == 'k' || c == 'g') {
            throw reader.refusal("it refers back to a group, which is not supported");
        }
        if (c == 'G' || c == 'R' || c == 'X' || c == 'K' || c == 'y' || c == 'Y' || c == 'O' || c == 'N') {
            throw reader.refusal("\\" + (char) c + " is not supported");
        }
        var set = PatternClassParser.escapedSet(reader, Pattern.WORD);
        return set.isPresent() ? new PatternNode.One(set.get()) : literal(reader.escapedCharacter());
    }

    private PatternNode group() {
        if (!reader.take('?')) {
            return closed(alternation());
        }
        int kind = reader.next();
        return switch (kind) {
            case ':' -> closed(alternation());
            case '=' -> new PatternNode.Look(closed(alternation()), true, false);
            case '!' -> new PatternNode.Look(closed(alternation()), true, true);
            case '>' -> possessive(closed(alternation()));
            case '<' -> lookBehindOrName();
            case '#' -> comment();
            default -> options(kind);
        };
    }

    private PatternNode lookBehindOrName() {
        if (reader.take('=')) {
            return new PatternNode.Look(closed(alternation()), false, false);
        }
        if (reader.take('!')) {
            return new PatternNode.Look(closed(alternation()), false, true);
        }
        while (reader.next() != '>') {
            // the name of a group that nothing can refer to
        }
        return closed(alternation());
    }

    private PatternNode comment() {
        while (reader.next() != ')') {
            // until the comment closes
        }
        return new PatternNode.Sequence(List.of());
    }

    private PatternNode options(int first) {
        boolean on = true;
        boolean outerIgnoreCase = ignoreCase;
        boolean outerExtended = extended;
        boolean outerDotAll = dotAll;
        for (int c = first; c != ':' && c != ')'; c = reader.next()) {
            switch (c) {
                case '-' -> on = false;
                case 'i' -> ignoreCase = on;
                case 'x' -> extended = on;
                case 'm' -> dotAll = on;
                default -> throw reader.refusal("the group option '" + Character.toString(c) + "' is not supported");
            }
        }
        if (reader.previous() == ')') {
            return alternation(); // holds until the enclosing group ends, as in Oniguruma
        }
        PatternNode body = closed(alternation());
        ignoreCase = outerIgnoreCase;
        extended = outerExtended;
        dotAll = outerDotAll;
        return body;
    }

    private PatternNode closed(PatternNode body) {
        if (!reader.take(')')) {
            throw reader.refusal("a group is not closed");
        }
        return body;
    }

    private PatternNode quantified(PatternNode atom) {
        PatternNode node = atom;
        for (int count = 0; !reader.atEnd(); count++) {
            int minimum;
            int maximum;
            boolean interval = false;
            switch (reader.peek()) {
                case '*' -> {
                    minimum = 0;
                    maximum = -1;
                }
                case '+' -> {
                    minimum = 1;
                    maximum = -1;
                }
                case '?' -> {
                    minimum = 0;
                    maximum = 1;
                }
                case '{' -> {
                    int[] counts = reader.interval();
                    if (counts.length == 0) {
                        return node;
                    }
                    minimum = counts[0];
                    maximum = counts[1];
                    interval = true;
                }
                default -> {
                    return node;
                }
            }
            if (count == MAXIMUM_QUANTIFIERS) {
                throw reader.refusal("more than " + MAXIMUM_QUANTIFIERS + " quantifiers follow each other");
            }
            reader.next();
            node = repeat(node, minimum, maximum, interval);
        }
        return node;
    }

    private PatternNode repeat(PatternNode body, int minimum, int maximum, boolean interval) {
        if (minimum > MAXIMUM_COUNT || maximum > MAXIMUM_COUNT) {
            throw reader.refusal("a quantifier counts to more than " + MAXIMUM_COUNT);
        }
        if (reader.take('?')) {
            return new PatternNode.Repeat(body, minimum, maximum, PatternNode.Preference.LAZY);
        }
        // In Ruby's flavour {n,m}+ repeats the interval; it is not possessive.
        if (!interval && reader.take('+')) {
            return possessive(new PatternNode.Repeat(body, minimum, maximum, PatternNode.Preference.GREEDY));
        }
        return new PatternNode.Repeat(body, minimum, maximum, PatternNode.Preference.GREEDY);
    }

    /** Possessive repetition of one set is linear; other atomic groups are refused because they need not be. */
    private PatternNode possessive(PatternNode body) {
        if (body instanceof PatternNode.Repeat(PatternNode.One one, int minimum, int maximum, var preference)
                && preference != PatternNode.Preference.LAZY) {
            return new PatternNode.Repeat(one, minimum, maximum, PatternNode.Preference.POSSESSIVE);
        }
        if (body instanceof PatternNode.One) {
            return body;
        }
        throw reader.refusal("an atomic group or possessive quantifier holds more than one character class");
    }
}
