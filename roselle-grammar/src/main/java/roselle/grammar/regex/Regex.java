package roselle.grammar.regex;

import java.util.List;
import roselle.grammar.automaton.GrammarException;
import roselle.grammar.automaton.GrammarException.Reason;
import roselle.grammar.regex.RegexParser.Node;

/**
 * Regular expressions as languages. Parts without assertions are expressions in themselves; where anchors or look-ahead stand, a part
 * is translated together with all that follows it, because they speak of that.
 */
public final class Regex {
    private final Languages languages;

    private Regex(Languages languages) {
        this.languages = languages;
    }

    /** The texts that an expression matches as a whole. */
    public static Language whole(Languages languages, String expression) {
        Node node = parse(languages, expression);
        return new Regex(languages).translate(node, languages.epsilon(), true);
    }

    /** The texts in which an expression matches somewhere. */
    public static Language within(Languages languages, String expression) {
        Node node = parse(languages, expression);
        Regex regex = new Regex(languages);
        Language rest = languages.any();
        Language first = regex.translate(node, rest, true);
        if (isAnchored(node)) {
            return FixedTexts.listed(languages, first);
        }
        if (!hasBegin(node)) {
            return languages.concat(languages.any(), first);
        }
        Language later = regex.translate(node, rest, false);
        return languages.or(first, languages.concat(languages.symbol(CodePoints.ALL), languages.any(), later));
    }

    private static Node parse(Languages languages, String expression) {
        languages.budget().spend(expression.length() / 2);
        return new RegexParser(expression).parse();
    }

    /** Whether every match begins at the beginning. */
    private static boolean isAnchored(Node node) {
        return switch (node) {
            case Node.Begin _ -> true;
            case Node.Sequence(List<Node> parts) -> !parts.isEmpty() && isAnchored(parts.getFirst());
            case Node.Choice(List<Node> parts) -> parts.stream().allMatch(Regex::isAnchored);
            default -> false;
        };
    }

    private static boolean hasBegin(Node node) {
        return switch (node) {
            case Node.Begin _ -> true;
            case Node.Sequence(List<Node> parts) -> parts.stream().anyMatch(Regex::hasBegin);
            case Node.Choice(List<Node> parts) -> parts.stream().anyMatch(Regex::hasBegin);
            case Node.Repeat(Node part, int _, int _) -> hasBegin(part);
            case Node.LookAhead(Node part, boolean _) -> hasBegin(part);
            case Node.Symbols _, Node.End _ -> false;
        };
    }

    private static boolean isPlain(Node node) {
        return switch (node) {
            case Node.Symbols _ -> true;
            case Node.Sequence(List<Node> parts) -> parts.stream().allMatch(Regex::isPlain);
            case Node.Choice(List<Node> parts) -> parts.stream().allMatch(Regex::isPlain);
            case Node.Repeat(Node part, int _, int _) -> isPlain(part);
            case Node.Begin _, Node.End _, Node.LookAhead _ -> false;
        };
    }

    private Language plain(Node node) {
        return switch (node) {
            case Node.Symbols(CodePoints set) -> languages.symbol(set);
            case Node.Sequence(List<Node> parts) ->
                languages.concat(parts.stream().map(this::plain).toArray(Language[]::new));
            case Node.Choice(List<Node> parts) ->
                languages.or(parts.stream().map(this::plain).toArray(Language[]::new));
            case Node.Repeat(Node part, int min, int max) -> languages.repeat(plain(part), min, max);
            case Node.Begin _, Node.End _, Node.LookAhead _ -> throw new AssertionError(node);
        };
    }

    /** A part and what follows it; {@code isAtBegin} tells whether the part stands at the beginning of the text for certain. */
    private Language translate(Node node, Language rest, boolean isAtBegin) {
        if (isPlain(node)) {
            return languages.concat(plain(node), rest);
        }
        return switch (node) {
            case Node.Begin _ -> isAtBegin ? rest : languages.empty();
            case Node.End _ -> rest.isNullable() ? languages.epsilon() : languages.empty();
            case Node.LookAhead(Node part, boolean isNegative) -> {
                Language ahead = translate(part, languages.any(), isAtBegin);
                yield languages.and(isNegative ? languages.not(ahead) : ahead, rest);
            }
            case Node.Choice(List<Node> parts) ->
                languages.or(parts.stream()
                        .map(part -> translate(part, rest, isAtBegin))
                        .toArray(Language[]::new));
            case Node.Sequence(List<Node> parts) -> sequence(parts, 0, rest, isAtBegin);
            case Node.Repeat(Node part, int min, int max) -> repeat(part, min, max, rest, isAtBegin);
            case Node.Symbols _ -> throw new AssertionError(node);
        };
    }

    private Language sequence(List<Node> parts, int from, Language rest, boolean isAtBegin) {
        boolean[] begins = new boolean[parts.size()];
        boolean begin = isAtBegin;
        for (int i = from; i < begins.length; i++) {
            begins[i] = begin;
            Node part = parts.get(i);
            boolean mayBeNothing = mayBeNothing(part);
            boolean later = parts.subList(i + 1, begins.length).stream().anyMatch(Regex::hasBegin);
            if (begin && later && mayBeNothing && !isOnlyNothing(part)) {
                throw new GrammarException(
                        Reason.UNSUPPORTED,
                        "the expression has ^ behind a part that may be empty, which is not supported.");
            }
            begin &= isOnlyNothing(part);
        }
        Language all = rest;
        for (int i = begins.length - 1; i >= from; i--) {
            all = translate(parts.get(i), all, begins[i]);
        }
        return all;
    }

    private static boolean mayBeNothing(Node node) {
        return switch (node) {
            case Node.Symbols _ -> false;
            case Node.Begin _, Node.End _, Node.LookAhead _ -> true;
            case Node.Sequence(List<Node> parts) -> parts.stream().allMatch(Regex::mayBeNothing);
            case Node.Choice(List<Node> parts) -> parts.stream().anyMatch(Regex::mayBeNothing);
            case Node.Repeat(Node part, int min, int _) -> min == 0 || mayBeNothing(part);
        };
    }

    private static boolean isOnlyNothing(Node node) {
        return switch (node) {
            case Node.Symbols _ -> false;
            case Node.Begin _, Node.End _, Node.LookAhead _ -> true;
            case Node.Sequence(List<Node> parts) -> parts.stream().allMatch(Regex::isOnlyNothing);
            case Node.Choice(List<Node> parts) -> parts.stream().allMatch(Regex::isOnlyNothing);
            case Node.Repeat(Node part, int _, int max) -> max == 0 || isOnlyNothing(part);
        };
    }

    private Language repeat(Node part, int min, int max, Language rest, boolean isAtBegin) {
        if (max > 8) {
            if (isOnlyNothing(part)) {
                return min == 0 ? rest : translate(part, rest, isAtBegin);
            }
            throw new GrammarException(
                    Reason.UNSUPPORTED, "the expression repeats an anchor or look-ahead, which is not supported.");
        }
        Language all = rest;
        for (int i = max; i > 0; i--) {
            Language once = translate(part, all, isAtBegin && i == 1);
            all = i > min ? languages.or(rest, once) : once;
        }
        return all;
    }
}
