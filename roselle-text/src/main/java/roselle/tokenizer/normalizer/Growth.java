package roselle.tokenizer.normalizer;

import roselle.api.InvalidRequestException;

/** How much longer a text may become before it is tokenized: a short text must not cost what a long one does. */
public final class Growth {
    /** How many times as long as what was given a text may become. */
    public static final int MAX_FACTOR = 16;

    private static final int FREE_CHARACTERS = 1 << 20;

    private Growth() {}

    /** The length that a text of {@code characters} may reach. */
    public static int limitOf(int characters) {
        return (int) Math.min(Integer.MAX_VALUE - 16, FREE_CHARACTERS + (long) MAX_FACTOR * characters);
    }

    /** Refuses a text whose rewritten form has become longer than {@code limit}. */
    public static void check(int length, int limit) {
        if (length > limit) {
            throw new InvalidRequestException("the tokenizer's normalizer makes more than " + limit
                    + " characters of the text, the limit is " + MAX_FACTOR + " times its length and " + FREE_CHARACTERS
                    + " more: send less text");
        }
    }

    /** The text, if it is no longer than {@code limit}. */
    static String checked(String text, int limit) {
        check(text.length(), limit);
        return text;
    }
}
