package roselle.tokenizer.model;

import java.util.function.IntConsumer;
import java.util.function.IntPredicate;

/** BERT's model: the longest token at each place of a word, all but the first with a prefix; all or nothing. */
public final class WordPieceModel implements Model {
    private final PieceTrie beginnings = new PieceTrie();
    private final PieceTrie continuations = new PieceTrie();
    private final int unknownId;
    private final int maximumCharacters;

    /**
     * A model over the tokens of {@code vocabulary}.
     *
     * @param usable whether text can become this token
     * @param prefix what the spelling of a token that continues a word begins with
     * @param maximumCharacters a word of more code points than this is unknown
     */
    public WordPieceModel(
            Vocabulary vocabulary, IntPredicate usable, String prefix, int unknownId, int maximumCharacters) {
        for (int id = 0; id < vocabulary.size(); id++) {
            if (vocabulary.contains(id) && usable.test(id)) {
                insert(vocabulary.spelling(id), prefix, id);
            }
        }
        this.unknownId = unknownId;
        this.maximumCharacters = maximumCharacters;
    }

    private void insert(String spelling, String prefix, int id) {
        if (!spelling.isEmpty()) {
            beginnings.insert(spelling, id);
        }
        if (spelling.startsWith(prefix) && spelling.length() > prefix.length()) {
            continuations.insert(spelling.substring(prefix.length()), id);
        }
    }

    @Override
    public void tokenize(String text, int start, int end, IdBuffer ids, IntConsumer during) {
        int before = ids.size();
        boolean isTooLong = end - start > maximumCharacters && text.codePointCount(start, end) > maximumCharacters;
        int at = isTooLong ? start : appendLongest(beginnings, text, start, end, ids);
        while (at > start && at < end) {
            int next = appendLongest(continuations, text, at, end, ids);
            at = next == at ? start : next;
        }
        if (at == start) {
            ids.truncate(before);
            ids.add(unknownId);
        }
    }

    /** Appends the longest token at {@code start}; where it ends, or {@code start} where there is none. */
    private static int appendLongest(PieceTrie trie, String text, int start, int end, IdBuffer ids) {
        int node = PieceTrie.ROOT;
        int found = PieceTrie.NONE;
        int foundEnd = start;
        for (int at = start; at < end; at++) {
            node = trie.child(node, text.charAt(at));
            if (node == PieceTrie.NONE) {
                break;
            }
            if (trie.token(node) != PieceTrie.NONE) {
                found = trie.token(node);
                foundEnd = at + 1;
            }
        }
        if (foundEnd > start) {
            ids.add(found);
        }
        return foundEnd;
    }
}
