package roselle.tokenizer.model;

import java.util.function.IntConsumer;

/** WordPiece over a vocabulary whose words begin with ▁: the longest token at each place, all or the unknown token. */
public final class GgufWordPieceModel implements Model {
    private final PieceTrie trie = new PieceTrie();
    private final int unknownId;

    public GgufWordPieceModel(Vocabulary vocabulary, int unknownId) {
        this.unknownId = unknownId;
        for (int id = 0; id < vocabulary.size(); id++) {
            if (vocabulary.contains(id) && !vocabulary.spelling(id).isEmpty()) {
                trie.insert(vocabulary.spelling(id), id);
            }
        }
    }

    @Override
    public void tokenize(String text, int start, int end, IdBuffer ids, IntConsumer during) {
        String word = "▁" + text.substring(start, end);
        int before = ids.size();
        for (int at = 0; at < word.length(); ) {
            int length = trie.longest(word, at);
            if (length == 0) {
                ids.truncate(before);
                ids.add(unknownId);
                return;
            }
            ids.add(trie.find(word, at, at + length));
            at += length;
        }
    }
}
