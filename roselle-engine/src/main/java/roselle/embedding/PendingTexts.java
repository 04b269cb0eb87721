package roselle.embedding;

import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.function.UnaryOperator;
import roselle.api.CapacityException;
import roselle.api.DeviceException;

/** Texts on their way through an engine; closing it takes those back that no step has. */
public final class PendingTexts implements AutoCloseable {
    private final CompletableFuture<List<float[]>> future;
    private final int tokens;
    private final UnaryOperator<List<float[]>> ending;

    PendingTexts(CompletableFuture<List<float[]>> future, int tokens, UnaryOperator<List<float[]>> ending) {
        this.future = future;
        this.tokens = tokens;
        this.ending = ending;
    }

    /** Tokens of all texts. */
    public int tokens() {
        return tokens;
    }

    /**
     * Waits for what the texts give.
     *
     * @throws CapacityException if their deadline passed
     * @throws DeviceException if the engine failed, or was closed
     * @throws java.util.concurrent.CancellationException if this was closed
     */
    public TextResults await() {
        try {
            return new TextResults(ending.apply(future.join()), tokens);
        } catch (CompletionException failure) {
            Throwable reason = failure.getCause() == null ? failure : failure.getCause();
            if (reason instanceof CapacityException) {
                throw new CapacityException(String.valueOf(reason.getMessage()), reason);
            }
            throw new DeviceException(String.valueOf(reason.getMessage()), reason);
        }
    }

    @Override
    public void close() {
        future.cancel(false);
    }
}
