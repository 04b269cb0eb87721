package roselle.structured;

/**
 * How much of a free text may still come.
 *
 * @param characters code points; -1 for any number
 * @param tokens that have a part in it; -1 for any number
 * @param isOneToken whether it is exactly one token
 * @param isTouched whether the token that is read has a part in it so far
 */
record TextLimits(int characters, int tokens, boolean isOneToken, boolean isTouched) {
    static final TextLimits NONE = new TextLimits(-1, -1, false, false);
    static final TextLimits ONE_TOKEN = new TextLimits(-1, 1, true, false);

    /** Tokens have fewer characters: so long as more may come, masks are the same. */
    private static final int MANY = 512;

    static TextLimits of(int characters, int tokens) {
        return new TextLimits(characters, tokens, false, false);
    }

    boolean isNone() {
        return characters < 0 && tokens < 0;
    }

    /** Whether no further character may begin. */
    boolean isSpent() {
        return characters == 0 || tokens == 0;
    }

    /** The characters that a token may bring, as far as they matter; -1 for any number. */
    int charactersOfToken() {
        return isSpent() ? 0 : Math.min(characters, MANY);
    }

    /** What is left behind bytes with some whole characters. */
    TextLimits after(int whole) {
        int left = characters < 0 ? characters : Math.max(0, characters - whole);
        return isNone() ? this : new TextLimits(left, tokens, isOneToken, tokens >= 0);
    }

    /** What is left where a token ends. */
    TextLimits behindToken() {
        return isTouched ? new TextLimits(characters, Math.max(0, tokens - 1), isOneToken, false) : this;
    }
}
