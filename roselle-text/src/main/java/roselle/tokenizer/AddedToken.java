package roselle.tokenizer;

/**
 * A token that is cut out of the text before the model sees it.
 *
 * @param special marks structure (begin, end, role) and not text
 * @param singleWord matches only where no word character touches it
 * @param lstrip takes the white space before it along
 * @param rstrip takes the white space after it along
 * @param normalized is looked for in the normalized text, else in the text as given
 */
public record AddedToken(
        int id,
        String content,
        boolean special,
        boolean singleWord,
        boolean lstrip,
        boolean rstrip,
        boolean normalized) {
    /** A token without any of the matching flags. */
    public static AddedToken plain(int id, String content, boolean special) {
        return new AddedToken(id, content, special, false, false, false, false);
    }
}
