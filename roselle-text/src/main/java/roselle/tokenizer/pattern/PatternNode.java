package roselle.tokenizer.pattern;

import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import roselle.tokenizer.unicode.CharacterSet;

/** The syntax tree of a regular expression. */
sealed interface PatternNode {
    /** What a quantifier prefers. */
    enum Preference {
        GREEDY,
        LAZY,
        POSSESSIVE
    }

    /** A condition on a place, without text. */
    enum Anchor {
        LINE_BEGIN,
        LINE_END,
        TEXT_BEGIN,
        TEXT_END,
        TEXT_END_OR_LAST_NEWLINE,
        WORD_BOUNDARY,
        NO_WORD_BOUNDARY
    }

    /** One code point of a set. */
    record One(CharacterSet set) implements PatternNode {}

    /** All parts in order; no parts match the empty text. */
    record Sequence(List<PatternNode> parts) implements PatternNode {}

    /** The first branch that leads to a match. */
    record Choice(List<PatternNode> branches) implements PatternNode {}

    /** {@code maximum} is -1 for no limit. */
    record Repeat(PatternNode body, int minimum, int maximum, Preference preference) implements PatternNode {}

    /** Text that must (or must not) follow, or precede, this place. */
    record Look(PatternNode body, boolean ahead, boolean negative) implements PatternNode {}

    /** A condition on the place. */
    record At(Anchor anchor) implements PatternNode {}

    /** Whether the empty text can match. */
    default boolean isNullable() {
        return switch (this) {
            case One one -> false;
            case Sequence sequence -> sequence.parts().stream().allMatch(PatternNode::isNullable);
            case Choice choice -> choice.branches().stream().anyMatch(PatternNode::isNullable);
            case Repeat repeat -> repeat.minimum() == 0 || repeat.body().isNullable();
            case Look look -> true;
            case At at -> true;
        };
    }

    /** The code points that a match can begin with; empty if it can match the empty text. */
    default Optional<CharacterSet> first() {
        return switch (this) {
            case One one -> Optional.of(one.set());
            case Sequence sequence -> firstOfSequence(sequence.parts());
            case Choice choice -> firstOfChoice(choice.branches());
            case Repeat repeat ->
                repeat.minimum() == 0 ? Optional.empty() : repeat.body().first();
            case Look look -> Optional.empty();
            case At at -> Optional.empty();
        };
    }

    private static Optional<CharacterSet> firstOfSequence(List<PatternNode> parts) {
        return parts.stream().allMatch(PatternNode::isNullable) ? Optional.empty() : beginningsOfSequence(parts);
    }

    private static Optional<CharacterSet> firstOfChoice(List<PatternNode> branches) {
        List<Optional<CharacterSet>> all =
                branches.stream().map(PatternNode::first).toList();
        return all.contains(Optional.<CharacterSet>empty())
                ? Optional.empty()
                : anyOf(all.stream().map(Optional::get).toList());
    }

    /** The code points that a match can begin with if it is not empty; empty if it never takes text. */
    private Optional<CharacterSet> beginnings() {
        return switch (this) {
            case One one -> Optional.of(one.set());
            case Sequence sequence -> beginningsOfSequence(sequence.parts());
            case Choice choice ->
                anyOf(choice.branches().stream()
                        .map(PatternNode::beginnings)
                        .flatMap(Optional::stream)
                        .toList());
            case Repeat repeat -> repeat.body().beginnings();
            case Look look -> Optional.empty();
            case At at -> Optional.empty();
        };
    }

    private static Optional<CharacterSet> beginningsOfSequence(List<PatternNode> parts) {
        var sets = new ArrayList<CharacterSet>();
        for (PatternNode part : parts) {
            part.beginnings().ifPresent(sets::add);
            if (!part.isNullable()) {
                break;
            }
        }
        return anyOf(sets);
    }

    private static Optional<CharacterSet> anyOf(List<CharacterSet> sets) {
        return switch (sets.size()) {
            case 0 -> Optional.empty();
            case 1 -> Optional.of(sets.getFirst());
            default -> Optional.of(CharacterSet.anyOf(List.copyOf(sets)));
        };
    }
}
