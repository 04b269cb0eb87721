package roselle.tokenizer.model;

import java.nio.charset.StandardCharsets;

/** The tokens {@code <0x00>} to {@code <0xFF>}, which spell what has no token of its own. */
public final class ByteTokens {
    /** No such tokens. */
    public static final ByteTokens NONE = new ByteTokens(new int[0]);

    private final int[] ids; // by byte, -1 where there is none

    private ByteTokens(int[] ids) {
        this.ids = ids;
    }

    public static ByteTokens of(Vocabulary vocabulary) {
        int[] ids = new int[256];
        for (int value = 0; value < ids.length; value++) {
            ids[value] = vocabulary.find(spelling(value));
        }
        return new ByteTokens(ids);
    }

    public static String spelling(int value) {
        return "<0x%02X>".formatted(value);
    }

    /** Whether every byte has its token. */
    public boolean isComplete() {
        for (int id : ids) {
            if (id < 0) {
                return false;
            }
        }
        return ids.length > 0;
    }

    /** Appends the tokens of the bytes of {@code text[start, end)}; nothing, and false, where one is missing. */
    public boolean append(String text, int start, int end, IdBuffer output) {
        int before = output.size();
        for (byte value : text.substring(start, end).getBytes(StandardCharsets.UTF_8)) {
            int id = ids.length == 0 ? -1 : ids[value & 0xFF];
            if (id < 0) {
                output.truncate(before);
                return false;
            }
            output.add(id);
        }
        return true;
    }
}
