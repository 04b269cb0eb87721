package roselle.tokenizer.format;

import java.util.ArrayList;
import java.util.List;
import roselle.tokenizer.pretokenizer.MetaspacePreTokenizer;
import roselle.tokenizer.pretokenizer.PreTokenizer;
import roselle.tokenizer.pretokenizer.PreTokenizers;
import roselle.tokenizer.pretokenizer.SplitBehavior;

/** Reads the pre-tokenizer of a tokenizer.json. */
final class PreTokenizerJson {
    private static final String SUPPORTED = "BertPreTokenizer, ByteLevel, CharDelimiterSplit, Digits, FixedLength,"
            + " Metaspace, Punctuation, Sequence, Split, UnicodeScripts, Whitespace, WhitespaceSplit";
    private static final String BEHAVIORS = "Contiguous, Isolated, MergedWithNext, MergedWithPrevious, Removed";

    private PreTokenizerJson() {}

    /** Whether the last step spells pieces in GPT-2's byte alphabet, which a model can do itself. */
    static boolean endsInByteLevel(JsonComponent json) {
        if (json.type().equals("Sequence")) {
            List<JsonComponent> parts = json.components("pretokenizers");
            return !parts.isEmpty() && endsInByteLevel(parts.getLast());
        }
        return json.type().equals("ByteLevel");
    }

    /** {@code modelSpells} says that the last step need not spell bytes. */
    static PreTokenizer read(JsonComponent json, boolean modelSpells) {
        return switch (json.type()) {
            case "BertPreTokenizer" -> PreTokenizers.bert();
            case "ByteLevel" ->
                PreTokenizers.byteLevel(json.flag("add_prefix_space"), json.flag("use_regex", true), !modelSpells);
            case "CharDelimiterSplit" -> PreTokenizers.charDelimiterSplit(json.character("delimiter"));
            case "Digits" -> PreTokenizers.digits(json.flag("individual_digits"));
            case "FixedLength" -> PreTokenizers.fixedLength(length(json));
            case "Metaspace" -> metaspace(json);
            case "Punctuation" ->
                PreTokenizers.punctuation(json.has("behavior") ? behavior(json) : SplitBehavior.ISOLATED);
            case "Sequence" -> sequence(json, modelSpells);
            case "Split" -> split(json);
            case "UnicodeScripts" -> PreTokenizers.unicodeScripts();
            case "Whitespace" -> PreTokenizers.whitespace();
            case "WhitespaceSplit" -> PreTokenizers.whitespaceSplit();
            default -> throw json.unsupported("type", SUPPORTED);
        };
    }

    /** Adds what is done to a text, in the words that {@link GgufPreTokenizers#nameOf} knows; steps without such a word by their type. */
    static void steps(JsonComponent json, List<String> steps) {
        switch (json.type()) {
            case "Sequence" -> json.components("pretokenizers").forEach(part -> steps(part, steps));
            case "ByteLevel" -> {
                if (json.flag("add_prefix_space")) {
                    steps.add("a space first");
                }
                if (json.flag("use_regex", true)) {
                    steps.add("gpt2");
                }
            }
            case "Digits" -> steps.add(json.flag("individual_digits") ? "digits" : "numbers");
            case "Split" -> {
                JsonComponent pattern = json.component("pattern");
                boolean cuts = pattern.has("Regex") && !json.flag("invert") && behavior(json) == SplitBehavior.ISOLATED;
                steps.add(cuts ? "split " + pattern.string("Regex") : "Split");
            }
            default -> steps.add(json.type());
        }
    }

    private static PreTokenizer sequence(JsonComponent json, boolean modelSpells) {
        List<JsonComponent> parts = json.components("pretokenizers");
        List<PreTokenizer> all = new ArrayList<>();
        for (int i = 0; i < parts.size(); i++) {
            all.add(read(parts.get(i), modelSpells && i == parts.size() - 1));
        }
        return all.isEmpty() ? PreTokenizer.NONE : PreTokenizers.sequence(all);
    }

    private static int length(JsonComponent json) {
        int length = json.count("length");
        if (length == 0) {
            throw json.wrong("has length 0, pieces need at least one character");
        }
        return length;
    }

    private static PreTokenizer metaspace(JsonComponent json) {
        int mark = json.character("replacement");
        if (!Character.isBmpCodePoint(mark)) {
            throw json.wrong("has a replacement beyond U+FFFF, which is not supported");
        }
        return PreTokenizers.metaspace((char) mark, prepend(json), json.flag("split", true));
    }

    /** Where a Metaspace component puts its mark, also in the form of older files. */
    static MetaspacePreTokenizer.Prepend prepend(JsonComponent json) {
        MetaspacePreTokenizer.Prepend prepend =
                switch (json.has("prepend_scheme") ? json.string("prepend_scheme") : "always") {
                    case "first" -> MetaspacePreTokenizer.Prepend.FIRST;
                    case "never" -> MetaspacePreTokenizer.Prepend.NEVER;
                    case "always" -> MetaspacePreTokenizer.Prepend.ALWAYS;
                    default -> throw json.unsupported("prepend_scheme", "first, never, always");
                };
        boolean isOldNever = !json.flag("add_prefix_space", true);
        if (isOldNever && json.has("prepend_scheme") && prepend != MetaspacePreTokenizer.Prepend.NEVER) {
            throw json.wrong("says both add_prefix_space false and prepend_scheme '" + json.string("prepend_scheme")
                    + "': one of them must go");
        }
        return isOldNever ? MetaspacePreTokenizer.Prepend.NEVER : prepend;
    }

    private static PreTokenizer split(JsonComponent json) {
        JsonComponent pattern = json.component("pattern");
        boolean invert = json.flag("invert");
        return pattern.has("Regex")
                ? PreTokenizers.split(pattern.string("Regex"), behavior(json), invert)
                : PreTokenizers.splitLiteral(pattern.phrase("String"), behavior(json), invert);
    }

    private static SplitBehavior behavior(JsonComponent json) {
        return switch (json.string("behavior")) {
            case "Contiguous" -> SplitBehavior.CONTIGUOUS;
            case "Isolated" -> SplitBehavior.ISOLATED;
            case "MergedWithNext" -> SplitBehavior.MERGED_WITH_NEXT;
            case "MergedWithPrevious" -> SplitBehavior.MERGED_WITH_PREVIOUS;
            case "Removed" -> SplitBehavior.REMOVED;
            default -> throw json.unsupported("behavior", BEHAVIORS);
        };
    }
}
