package roselle.tokenizer;

/**
 * Guards text from strangers: each spelling of a special token in it is broken by {@link EncodeOptions#GUARD}, so that it is
 * plain text when it is encoded with {@link EncodeOptions#guarded}. Immutable.
 */
public final class SpecialSpellings {
    private static final char REPLACEMENT = '\uFFFD';

    private final TokenTrie spellings = new TokenTrie();

    public SpecialSpellings(Tokenizer tokenizer) {
        for (int id = 0; id < tokenizer.vocabularySize(); id++) {
            if (tokenizer.isSpecial(id) && tokenizer.spellingOf(id).length() > 1) {
                spellings.insert(tokenizer.spellingOf(id));
            }
        }
    }

    /** The text with a guard behind the first character of each spelling, overlapping ones too; guards of its own are replaced. */
    public String guard(String text) {
        String own = text.replace(EncodeOptions.GUARD, REPLACEMENT);
        StringBuilder guarded = null;
        int done = 0;
        for (int at = spellings.nextStart(own, 0); at < own.length(); at = spellings.nextStart(own, at + 1)) {
            if (spellings.longest(own, at) > 0) {
                guarded = guarded == null ? new StringBuilder(own.length() + 16) : guarded;
                guarded.append(own, done, at + 1).append(EncodeOptions.GUARD);
                done = at + 1;
            }
        }
        return guarded == null ? own : guarded.append(own, done, own.length()).toString();
    }
}
