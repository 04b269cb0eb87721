package roselle.grammar.regex;

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.BitSet;
import java.util.Collection;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import roselle.grammar.automaton.Lexeme;

/**
 * The rests of some of the texts of a sorted list, those that share a beginning: a node of their trie.
 *
 * @param gone which of them are left out, counted from the first; null for none, and never the first or the last
 */
record Literals(
        Texts texts, int from, int to, int depth, @Nullable BitSet gone) {
    @Override
    public boolean equals(@Nullable Object other) {
        return other instanceof Literals literals
                && from == literals.from
                && to == literals.to
                && depth == literals.depth
                && texts.equals(literals.texts)
                && Objects.equals(gone, literals.gone);
    }

    @Override
    public int hashCode() {
        return ((texts.hashCode() * 31 + from) * 31 + to) * 31 + depth; // those with others gone are few
    }

    /** Sorted texts, and their code points. Compared by identity. */
    static final class Texts {
        final String[] spelled;
        final int[][] codePoints;
        final Map<String, Integer> index = new HashMap<>();
        private final byte[] @Nullable [][] bytes = new byte[2][][]; // made when first asked for
        private final boolean[] hasBytes = new boolean[2];

        Texts(String[] spelled, int[][] codePoints) {
            this.spelled = spelled;
            this.codePoints = codePoints;
            for (int i = 0; i < spelled.length; i++) {
                index.put(spelled[i], i);
            }
        }

        /** Each of them as bytes, within JSON with the closing quotation mark; null where one may have several spellings. */
        byte @Nullable [][] spelled(boolean isInJson) {
            int which = isInJson ? 1 : 0;
            if (!hasBytes[which]) {
                bytes[which] = spell(isInJson);
                hasBytes[which] = true;
            }
            return bytes[which];
        }

        private byte @Nullable [][] spell(boolean isInJson) {
            byte[][] all = new byte[spelled.length][];
            for (int i = 0; i < all.length; i++) {
                for (int character : codePoints[i]) {
                    boolean isEscaped = isInJson && (character < 0x20 || character == '"' || character == '\\');
                    if (isEscaped || character >= 0x7F) {
                        return null;
                    }
                }
                all[i] = (isInJson ? spelled[i] + '"' : spelled[i]).getBytes(StandardCharsets.US_ASCII);
            }
            return all;
        }

        /** In the order of their code points, each once. */
        static Texts of(Collection<String> texts) {
            List<Text> all = new ArrayList<>(texts.size());
            for (String text : new HashSet<>(texts)) {
                all.add(new Text(text, text.codePoints().toArray()));
            }
            all.sort(Text.BY_CODE_POINTS);
            String[] spelled = new String[all.size()];
            int[][] codePoints = new int[all.size()][];
            for (int i = 0; i < spelled.length; i++) {
                spelled[i] = all.get(i).spelled;
                codePoints[i] = all.get(i).codePoints;
            }
            return new Texts(spelled, codePoints);
        }
    }

    /** One text. */
    @SuppressWarnings("ArrayRecordComponent") // never compared but by its code points
    private record Text(String spelled, int[] codePoints) {
        static final Comparator<Text> BY_CODE_POINTS = Comparator.comparing(Text::codePoints, Arrays::compare);
    }

    /** These as bytes; null where one may have several spellings. */
    Lexeme.@Nullable KnownTexts spelled(boolean isInJson) {
        byte[][] all = texts.spelled(isInJson);
        return all == null ? null : new Lexeme.KnownTexts(all, from, to, depth, gone);
    }

    /** Those of some texts between two that are not gone, in the one form that equal rests share; null if there are none. */
    static @Nullable Literals of(Texts texts, int from, int to, int depth, @Nullable BitSet goneOfAll) {
        if (goneOfAll == null) {
            return new Literals(texts, from, to, depth, null);
        }
        int first = goneOfAll.nextClearBit(from);
        int end = goneOfAll.previousClearBit(to - 1) + 1;
        if (first >= end) {
            return null;
        }
        BitSet gone = goneOfAll.get(first, end);
        return new Literals(texts, first, end, depth, gone.isEmpty() ? null : gone);
    }

    /** Which of all texts are gone. */
    @Nullable
    BitSet goneOfAll() {
        if (gone == null) {
            return null;
        }
        BitSet all = new BitSet(to);
        gone.stream().forEach(i -> all.set(from + i));
        return all;
    }

    /**
     * The parts of an intersection, with one list of texts for all lists among them and all lists that are left out: which texts those
     * are is looked up and not derived.
     */
    static List<Language> joined(Languages languages, List<Language> intersection) {
        int which = -1;
        for (int i = 0; i < intersection.size(); i++) {
            Literals list = intersection.get(i).payload instanceof Literals found ? found : null;
            which = list != null
                            && (which < 0
                                    || list.size() < of(intersection.get(which)).size())
                    ? i
                    : which;
        }
        if (which < 0) {
            return intersection;
        }
        Literals list = of(intersection.get(which));
        BitSet gone = null;
        List<Language> joined = new ArrayList<>();
        for (int i = 0; i < intersection.size(); i++) {
            Language part = intersection.get(i);
            boolean isLeftOut = part.kind == Language.Kind.NOT;
            if (i != which && (isLeftOut ? part.parts[0] : part).payload instanceof Literals other) {
                gone = gone == null ? list.goneSoFar() : gone;
                list.leaveOut(other, isLeftOut, gone);
                languages.budget().spend(1 + list.size() / 8);
            } else if (i != which) {
                joined.add(part);
            }
        }
        if (gone == null) {
            return intersection;
        }
        joined.add(languages.literals(of(list.texts, list.from, list.to, list.depth, gone)));
        return joined;
    }

    private static Literals of(Language list) {
        return (Literals) Objects.requireNonNull(list.payload);
    }

    /** About how many there are. */
    private int size() {
        return to - from;
    }

    private BitSet goneSoFar() {
        BitSet all = goneOfAll();
        return all == null ? new BitSet(to) : all;
    }

    /** Marks those that another list has, or those that it has not. */
    private void leaveOut(Literals other, boolean isIfThere, BitSet gone) {
        if (isIfThere && other.size() < size()) {
            for (int i = other.from; i < other.to; i++) {
                int index = other.has(i) ? indexOf(other.rest(i)) : -1;
                if (index >= 0) {
                    gone.set(index);
                }
            }
            return;
        }
        for (int i = from; i < to; i++) {
            if ((other.indexOf(rest(i)) >= 0) == isIfThere) {
                gone.set(i);
            }
        }
    }

    /** The index of the text that goes on so; -1 where there is none. */
    private int indexOf(String rest) {
        String first = texts.spelled[from];
        Integer index = texts.index.get(first.substring(0, first.offsetByCodePoints(0, depth)) + rest);
        return index != null && index >= from && index < to && has(index) ? index : -1;
    }

    /** Code points of the longest, those that are gone counted too. */
    int longest() {
        int longest = 0;
        for (int i = from; i < to; i++) {
            longest = Math.max(longest, texts.codePoints[i].length - depth);
        }
        return longest;
    }

    /** The shortest comes first, so only it can end here. */
    boolean endsHere() {
        return texts.codePoints[from].length == depth;
    }

    /** What is still to come of the first. */
    String rest() {
        return rest(from);
    }

    /** Whether one of all the texts is not left out. */
    boolean has(int index) {
        return gone == null || !gone.get(index - from);
    }

    /** What is still to come of one of all the texts. */
    String rest(int index) {
        int[] codePoints = texts.codePoints[index];
        return new String(codePoints, depth, codePoints.length - depth);
    }

    @Nullable
    String completed() {
        return endsHere() ? texts.spelled[from] : null;
    }
}
