package roselle.tokenizer.pattern;

import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.IntPredicate;
import roselle.tokenizer.unicode.CharacterClasses;
import roselle.tokenizer.unicode.CharacterProperties;
import roselle.tokenizer.unicode.CharacterSet;

/** Reads a bracketed class such as {@code [^\p{L}\s&&[^a-z]]}, after its opening bracket. */
final class PatternClassParser {
    private static final int MAXIMUM_DEPTH = 20;
    private static final CharacterSet WORD_IN_CLASS = CharacterProperties.require("word");

    private final PatternReader reader;
    private final boolean ignoreCase;
    private int depth;

    PatternClassParser(PatternReader reader, boolean ignoreCase) {
        this.reader = reader;
        this.ignoreCase = ignoreCase;
    }

    CharacterSet parse() {
        if (++depth > MAXIMUM_DEPTH) {
            throw reader.refusal("classes nest deeper than " + MAXIMUM_DEPTH);
        }
        boolean negative = reader.take('^');
        var unions = new ArrayList<>(List.of(union(true)));
        while (reader.sees("&&")) {
            reader.next();
            reader.next();
            unions.add(union(false));
        }
        if (!reader.take(']')) {
            throw reader.refusal("a class is not closed");
        }
        depth--;
        CharacterSet members = unions.size() == 1 ? unions.getFirst() : CharacterSet.allOf(unions);
        CharacterSet closed = ignoreCase ? members.closedUnderCase() : members;
        return negative ? closed.complement() : closed;
    }

    private CharacterSet union(boolean bracketMayLead) {
        var members = new ArrayList<IntPredicate>();
        boolean leads = bracketMayLead;
        while (!reader.atEnd() && !reader.sees("&&") && (reader.peek() != ']' || leads)) {
            members.add(item());
            leads = false;
        }
        return new CharacterSet(codePoint -> isAnyOf(members, codePoint));
    }

    private static boolean isAnyOf(List<IntPredicate> members, int codePoint) {
        for (IntPredicate member : members) {
            if (member.test(codePoint)) {
                return true;
            }
        }
        return false;
    }

    private IntPredicate item() {
        if (reader.sees("[:")) {
            return posix()::contains;
        }
        if (reader.take('[')) {
            return parse()::contains;
        }
        int from;
        if (reader.take('\\')) {
            Optional<CharacterSet> set = escapedSet(reader, WORD_IN_CLASS);
            if (set.isPresent()) {
                return set.get()::contains;
            }
            from = characterInClass();
        } else {
            from = reader.next();
        }
        return range(from);
    }

    private IntPredicate range(int from) {
        if (!reader.sees("-") || reader.sees("-]") || reader.sees("-[") || reader.sees("-&&")) {
            return codePoint -> codePoint == from;
        }
        reader.next();
        int to = reader.take('\\') ? characterInClass() : reader.next();
        if (to < from) {
            throw reader.refusal("a range in a class ends before it begins");
        }
        return codePoint -> codePoint >= from && codePoint <= to;
    }

    private int characterInClass() {
        return reader.take('b') ? 0x08 : reader.escapedCharacter();
    }

    private CharacterSet posix() {
        reader.next();
        reader.next();
        boolean negative = reader.take('^');
        String name = reader.until(':');
        CharacterSet set = property(reader, name);
        if (name.equals("punct")) { // in brackets it has the symbols too, as the property has not
            set = set.union(CharacterProperties.require("S"));
        }
        if (!reader.take(']')) {
            throw reader.refusal("a class such as [:alpha:] is not closed");
        }
        return negative ? set.complement() : set;
    }

    /**
     * The set that an escape such as {@code \s} or {@code \p{L}} stands for, after the backslash; else nothing taken. What
     * {@code \\w} means depends on the place.
     */
    static Optional<CharacterSet> escapedSet(PatternReader reader, CharacterSet word) {
        int kind = reader.peek();
        CharacterSet set = switch (kind) {
            case 's', 'S' -> new CharacterSet(CharacterClasses::isWhiteSpace);
            case 'd', 'D' -> CharacterProperties.require("Nd");
            case 'w', 'W' -> word;
            case 'h', 'H' -> CharacterProperties.require("xdigit");
            case 'p', 'P' -> null;
            default -> CharacterSet.ALL;
        };
        if (set == CharacterSet.ALL) {
            return Optional.empty();
        }
        reader.next();
        if (set == null) {
            set = named(reader);
        }
        return Optional.of(Character.isUpperCase(kind) ? set.complement() : set);
    }

    private static CharacterSet named(PatternReader reader) {
        if (!reader.take('{')) {
            return property(reader, Character.toString(reader.next()));
        }
        boolean negative = reader.take('^');
        CharacterSet set = property(reader, reader.until('}'));
        return negative ? set.complement() : set;
    }

    private static CharacterSet property(PatternReader reader, String name) {
        return CharacterProperties.find(name)
                .orElseThrow(() -> reader.refusal("the property '" + name + "' is not known"));
    }
}
