package roselle.api.type;

import java.util.concurrent.CancellationException;
import roselle.api.FailureKind;
import roselle.api.FinishReason;
import roselle.api.GenerationEvent;
import roselle.api.InvalidRequestException;
import roselle.api.InvalidRequestException.Reason;
import roselle.api.Usage;

/**
 * What became of an answer that was to be of a Java type.
 *
 * @param <T> the type
 */
public sealed interface TypedAnswer<T> {
    /**
     * The value.
     *
     * @throws InvalidRequestException if there is none, because {@code max_tokens} came first, or because a constructor refused it
     * @throws CancellationException if the generation was closed first
     * @throws roselle.api.CapacityException if there was not enough room, or not in time
     * @throws roselle.api.DeviceException if the engine failed
     */
    T value();

    /** The answer is there. */
    record Complete<T>(T value, Usage usage) implements TypedAnswer<T> {}

    /**
     * The answer ended before its value did.
     *
     * @param reason {@link FinishReason#LENGTH} for {@code max_tokens} or the context, {@code CANCELLED} where it was closed
     * @param path the field that was being written, as in {@link TypedEvent}
     * @param partial what is known of the value
     * @param text what the model wrote
     */
    record Cut<T>(FinishReason reason, String path, PartialValue partial, String text, Usage usage)
            implements TypedAnswer<T> {
        @Override
        public T value() {
            throw switch (reason) {
                case LENGTH ->
                    new InvalidRequestException(
                            Reason.OUT_OF_RANGE,
                            "max_tokens",
                            "the answer is cut after " + usage.completionTokens() + " tokens" + place()
                                    + ": ask for more max_tokens");
                case STOP -> new IllegalStateException("the model ended the answer" + place());
                case CANCELLED -> new CancellationException("the generation was closed" + place());
            };
        }

        private String place() {
            return path.isEmpty() ? " before its value was complete" : " at " + path;
        }
    }

    /**
     * A value of the answer is refused by the constructor of its record: what it demands is more than annotations say.
     *
     * @param path the record, as in {@link TypedEvent}
     * @param cause what its constructor threw
     * @param text what the model wrote so far; the rest is not generated
     */
    record Refused<T>(String path, RuntimeException cause, String text) implements TypedAnswer<T> {
        @Override
        public T value() {
            throw new InvalidRequestException(
                    (path.isEmpty() ? "the answer" : path) + " is refused: " + cause.getMessage(), cause);
        }
    }

    /** The request could not be completed. */
    record Failed<T>(FailureKind kind, String message) implements TypedAnswer<T> {
        @Override
        public T value() {
            throw new GenerationEvent.Failed(kind, message).exception();
        }
    }
}
