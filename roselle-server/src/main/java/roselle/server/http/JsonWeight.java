package roselle.server.http;

/**
 * How much memory the tree of a JSON document takes, told from its bytes before any of it is made.
 *
 * <p>A body of two bytes a value, such as {@code [0,0,…]} or {@code [[],[],…]}, becomes a tree of many times its size, so bodies
 * alone are no measure of memory. Each bracket, comma and colon outside of texts is charged what the greatest node that it can
 * announce takes (64-bit, compressed pointers), tables that grow and the search for names that come twice included; each byte is
 * charged for the characters that it becomes.
 */
final class JsonWeight {
    /** A list with its first places, and the first value. */
    private static final int LIST = 168;
    /** A map with its first table, and the first value. */
    private static final int MAP = 232;
    /** A name, its entry, and its place among the names that have come. */
    private static final int NAME = 168;
    /** A further value: at most a text with its node and its place. */
    private static final int VALUE = 80;
    /** A character is at most two bytes, for each byte of the document. */
    private static final int BYTE = 2;

    private JsonWeight() {}

    /** An upper bound in bytes; of what is not JSON, any number. */
    static long of(byte[] document) {
        long weight = (long) BYTE * document.length;
        boolean isText = false;
        for (int index = 0; index < document.length; index++) {
            byte unit = document[index];
            if (unit == '"') {
                isText = !isText;
            } else if (isText) {
                index += unit == '\\' ? 1 : 0; // what is escaped ends no text
            } else {
                weight += structure(unit);
            }
        }
        return weight;
    }

    private static int structure(byte unit) {
        return switch (unit) {
            case '[' -> LIST;
            case '{' -> MAP;
            case ':' -> NAME;
            case ',' -> VALUE;
            default -> 0;
        };
    }
}
