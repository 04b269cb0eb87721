package roselle.server.batch;

import java.util.Locale;

/** What becomes of a batch. */
enum BatchState {
    VALIDATING,
    FAILED,
    IN_PROGRESS,
    FINALIZING,
    COMPLETED,
    EXPIRED,
    CANCELLING,
    CANCELLED;

    /** Whether nothing more becomes of it. */
    boolean isLast() {
        return this == FAILED || this == COMPLETED || this == EXPIRED || this == CANCELLED;
    }

    String word() {
        return name().toLowerCase(Locale.ROOT);
    }

    static BatchState of(String word) {
        return valueOf(word.toUpperCase(Locale.ROOT));
    }
}
