package roselle.tokenizer.pipeline;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import roselle.api.CheckpointException;
import roselle.api.InvalidRequestException;
import roselle.tokenizer.AddedToken;
import roselle.tokenizer.TokenTrie;
import roselle.tokenizer.normalizer.Normalizer;
import roselle.tokenizer.unicode.CharacterClasses;

/**
 * The tokens that are cut out of a text before normalizer, pre-tokenizer and model see the rest.
 *
 * <p>As in Hugging Face's library: of all tokens that match, the leftmost begins first and the longest at one place wins;
 * a match that a flag rejects (a special token that is to stay text, a part of a word) still hides shorter ones inside
 * it. Tokens that are not normalized are cut from the text as given, the others from what the normalizer made of the
 * stretches between.
 */
public final class AddedTokens {
    /** No added tokens. */
    static final AddedTokens NONE = new AddedTokens(List.of(), Normalizer.NONE);

    private static final int MAX_LENGTH = 512; // how far a text is read at each place

    private final Map<Integer, AddedToken> byId = new HashMap<>();
    private final Map<String, AddedToken> byContent = new HashMap<>();
    private final TokenTrie verbatim = new TokenTrie();
    private final TokenTrie normalized = new TokenTrie();
    private final TokenTrie normalizedAsGiven =
            new TokenTrie(); // the special ones of normalized, as the file spells them

    /** Receives stretches of text and the tokens between them, in order. */
    interface Sink {
        /** Takes the stretch {@code text[start, end)}, never empty. */
        void text(String text, int start, int end);

        void token(int id);
    }

    /** Normalized tokens are looked for as {@code normalizer} writes them. */
    public AddedTokens(List<AddedToken> tokens, Normalizer normalizer) {
        for (AddedToken token : tokens) {
            if (token.content().length() > MAX_LENGTH) {
                throw new CheckpointException("added token " + token.id() + " has "
                        + token.content().length() + " characters, the limit is " + MAX_LENGTH);
            }
            byId.put(token.id(), token);
            byContent.put(token.content(), token);
            insert(token, normalizer);
        }
    }

    private void insert(AddedToken token, Normalizer normalizer) {
        if (!token.normalized()) {
            insert(verbatim, token.content(), token);
            return;
        }
        try {
            insert(normalized, normalizer.normalize(token.content(), MAX_LENGTH), token);
        } catch (InvalidRequestException tooLong) {
            throw new CheckpointException(
                    "added token " + token.id() + " has more than " + MAX_LENGTH + " characters when normalized",
                    tooLong);
        }
        if (token.special()) {
            insert(normalizedAsGiven, token.content(), token);
        }
    }

    private static void insert(TokenTrie trie, String key, AddedToken token) {
        if (!key.isEmpty()) {
            trie.insert(key, token);
        }
    }

    Optional<AddedToken> byId(int id) {
        return Optional.ofNullable(byId.get(id));
    }

    public Optional<AddedToken> byContent(String content) {
        return Optional.ofNullable(byContent.get(content));
    }

    /** Whether the id is that of a special token. */
    public boolean isSpecial(int id) {
        return byId(id).map(AddedToken::special).orElse(false);
    }

    List<AddedToken> all() {
        return new ArrayList<>(byId.values());
    }

    /** Ids of added tokens are below this number. */
    int idLimit() {
        int limit = 0;
        for (int id : byId.keySet()) {
            limit = Math.max(limit, id + 1);
        }
        return limit;
    }

    /** Cuts out the tokens that are looked for in the text as given. */
    void splitVerbatim(String text, boolean parseSpecial, Sink sink) {
        split(verbatim, text, parseSpecial, sink);
    }

    /** Whether some special tokens are looked for in normalized text. */
    boolean hasNormalizedSpecial() {
        return !normalizedAsGiven.isEmpty();
    }

    /** Cuts out the special tokens that are looked for in normalized text, as the file spells them. */
    void splitNormalizedSpecialAsGiven(String text, Sink sink) {
        split(normalizedAsGiven, text, true, sink);
    }

    /** Whether normalized text holds a special token. */
    boolean holdsSpecial(String text) {
        for (int at = normalized.nextStart(text, 0); at < text.length(); at = normalized.nextStart(text, at + 1)) {
            int length = normalized.longest(text, at);
            if (length > 0 && normalized.token(text, at, at + length).special()) {
                return true;
            }
        }
        return false;
    }

    /** Cuts out the tokens that are looked for in normalized text. */
    void splitNormalized(String text, boolean parseSpecial, Sink sink) {
        split(normalized, text, parseSpecial, sink);
    }

    private static void split(TokenTrie trie, String text, boolean parseSpecial, Sink sink) {
        int done = 0;
        int from = 0;
        while (!trie.isEmpty() && from < text.length()) {
            int at = trie.nextStart(text, from);
            int length = at < text.length() ? trie.longest(text, at) : 0;
            if (length == 0) {
                from = at + 1;
                continue;
            }
            from = at + length;
            AddedToken token = trie.token(text, at, from);
            if ((token.special() && !parseSpecial) || (token.singleWord() && touchesWord(text, at, from))) {
                continue;
            }
            int start = token.lstrip() ? spaceBefore(text, done, at) : at;
            int end = token.rstrip() ? spaceAfter(text, from) : from;
            if (start > done) {
                sink.text(text, done, start);
            }
            sink.token(token.id());
            done = Math.max(done, end);
            from = Math.max(from, end);
        }
        if (done < text.length()) {
            sink.text(text, done, text.length());
        }
    }

    private static boolean touchesWord(String text, int start, int end) {
        return (start > 0 && CharacterClasses.isWord(text.codePointBefore(start)))
                || (end < text.length() && CharacterClasses.isWord(text.codePointAt(end)));
    }

    private static int spaceBefore(String text, int limit, int start) {
        int at = Math.max(limit, start);
        while (at > limit && CharacterClasses.isWhiteSpace(text.charAt(at - 1))) {
            at--;
        }
        return at;
    }

    private static int spaceAfter(String text, int end) {
        int at = end;
        while (at < text.length() && CharacterClasses.isWhiteSpace(text.charAt(at))) {
            at++;
        }
        return at;
    }
}
