package roselle.embedding;

import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/** A text as an encoder takes it: token ids, and for each of them which text of a pair it is of. */
public final class EncoderInput {
    static final int NO_TASK = -1;

    private final int[] ids;
    private final int[] types;
    private final int task;

    /** A text or a pair with its types, as many as ids. */
    public EncoderInput(int[] ids, int[] types) {
        if (ids.length != types.length) {
            throw new IllegalArgumentException(ids.length + " token ids, but " + types.length + " types");
        }
        this(ids.clone(), types.clone(), NO_TASK);
    }

    private EncoderInput(int[] ids, int[] types, int task) {
        this.ids = ids;
        this.types = types;
        this.task = task;
    }

    /** The same for one of the model's tasks. */
    EncoderInput forTask(int number) {
        return new EncoderInput(ids, types, number);
    }

    /** The number of the task that it is for, or {@link #NO_TASK}. */
    int task() {
        return task;
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
        return other instanceof EncoderInput that
                && Arrays.equals(ids, that.ids)
                && Arrays.equals(types, that.types)
                && task == that.task;
    }

    @Override
    public int hashCode() {
        return 31 * (31 * Arrays.hashCode(ids) + Arrays.hashCode(types)) + task;
    }
}
