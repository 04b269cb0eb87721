package roselle.embedding;

import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/** A text as an encoder takes it: token ids, and for each of them which text of a pair it is of. */
public final class EncoderInput {
    private final int[] ids;
    private final int[] types;

    /** A text or a pair with its types, as many as ids. */
    public EncoderInput(int[] ids, int[] types) {
        if (ids.length != types.length) {
            throw new IllegalArgumentException(ids.length + " token ids, but " + types.length + " types");
        }
        this.ids = ids.clone();
        this.types = types.clone();
    }

    /** One text. */
    public static EncoderInput of(int... ids) {
        return new EncoderInput(ids, new int[ids.length]);
    }

    public int length() {
        return ids.length;
    }

    int id(int token) {
        return ids[token];
    }

    int type(int token) {
        return types[token];
    }

    @Override
    public boolean equals(@Nullable Object other) {
        return other instanceof EncoderInput that && Arrays.equals(ids, that.ids) && Arrays.equals(types, that.types);
    }

    @Override
    public int hashCode() {
        return 31 * Arrays.hashCode(ids) + Arrays.hashCode(types);
    }
}
