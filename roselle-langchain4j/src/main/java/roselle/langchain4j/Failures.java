package roselle.langchain4j;

import dev.langchain4j.exception.InternalServerException;
import dev.langchain4j.exception.InvalidRequestException;
import dev.langchain4j.exception.RateLimitException;
import dev.langchain4j.exception.TimeoutException;
import dev.langchain4j.exception.UnsupportedFeatureException;
import roselle.api.CapacityException;
import roselle.api.DeviceException;
import roselle.api.GenerationEvent.Failed;
import roselle.api.InvalidRequestException.Reason;

/** Failures of an engine as LangChain4j's exceptions: which may be tried again, and which cannot. */
final class Failures {
    private Failures() {}

    static RuntimeException of(RuntimeException failure) {
        return switch (failure) {
            case roselle.api.InvalidRequestException refused
            when refused.reason() == Reason.UNSUPPORTED -> unsupported(refused);
            case roselle.api.InvalidRequestException refused ->
                new InvalidRequestException(refused.getMessage(), refused);
            case CapacityException full -> new RateLimitException(full.getMessage(), full);
            case DeviceException broken -> new InternalServerException(broken.getMessage(), broken);
            default -> failure;
        };
    }

    private static RuntimeException unsupported(RuntimeException refused) {
        var failure = new UnsupportedFeatureException("this model does not support it: " + refused.getMessage());
        failure.initCause(refused);
        return failure;
    }

    static RuntimeException of(Failed failed) {
        return switch (failed.kind()) {
            case DEADLINE -> new TimeoutException(failed.message());
            case INVALID_REQUEST, CAPACITY, INTERNAL -> of(failed.exception());
        };
    }
}
