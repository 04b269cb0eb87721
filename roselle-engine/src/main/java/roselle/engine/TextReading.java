package roselle.engine;

import java.util.concurrent.Future;
import java.util.concurrent.FutureTask;
import org.jspecify.annotations.Nullable;
import roselle.checkpoint.Checkpoint;
import roselle.engine.prompt.NoTokenizer;

/**
 * Reads what of a model is text on a thread of its own, while its weights are brought onto a device: neither needs the other.
 *
 * <p>The thread reads the checkpoint's files, so that whoever closes the checkpoint closes this before.
 */
final class TextReading implements AutoCloseable {
    private final Checkpoint checkpoint;
    private final String toolParser;
    private final FutureTask<ModelText> reading;
    private final @Nullable Thread thread; // none where there is no tokenizer

    private TextReading(Checkpoint checkpoint, String toolParser) {
        this.checkpoint = checkpoint;
        this.toolParser = toolParser;
        reading = new FutureTask<>(() -> ModelText.of(checkpoint, checkpoint.tokenizer(), toolParser));
        thread = checkpoint.hasTokenizer()
                ? Thread.ofPlatform().name("roselle-text").daemon().start(reading)
                : null;
    }

    /** @param toolParser the name of the format of calls, or how it is found */
    static TextReading begin(Checkpoint checkpoint, String toolParser) {
        return new TextReading(checkpoint, toolParser);
    }

    /**
     * What was read, once it is; throws what reading it threw.
     *
     * @param vocabulary ids that a model without a tokenizer has
     */
    ModelText text(int vocabulary) {
        if (thread == null) {
            return ModelText.of(checkpoint, new NoTokenizer(vocabulary), toolParser);
        }
        close();
        if (reading.state() == Future.State.FAILED) {
            throw unchecked(reading.exceptionNow());
        }
        return reading.resultNow();
    }

    private static RuntimeException unchecked(Throwable thrown) {
        if (thrown instanceof Error error) {
            throw error;
        }
        return thrown instanceof RuntimeException exception ? exception : new IllegalStateException(thrown);
    }

    /** Returns when nothing is read any more, also to a thread that is interrupted. */
    @Override
    public void close() {
        boolean wasInterrupted = false;
        while (thread != null && thread.isAlive()) {
            try {
                thread.join();
            } catch (InterruptedException _) {
                wasInterrupted = true;
            }
        }
        if (wasInterrupted) {
            Thread.currentThread().interrupt();
        }
    }
}
