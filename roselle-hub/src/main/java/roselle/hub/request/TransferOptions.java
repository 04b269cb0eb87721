package roselle.hub.request;

import java.time.Duration;
import roselle.api.InvalidRequestException;

/**
 * How bytes are moved.
 *
 * @param times limits of time
 * @param connections at a time
 * @param pieceBytes what one request asks for at most; larger files are fetched in pieces side by side
 */
public record TransferOptions(Times times, int connections, long pieceBytes) {
    public static final TransferOptions DEFAULT = new TransferOptions(Times.DEFAULT, 8, 64L << 20);

    public TransferOptions {
        if (connections < 1 || connections > 64) {
            throw new InvalidRequestException("connections is " + connections + ", expected 1 to 64");
        }
        if (pieceBytes < 1) {
            throw new InvalidRequestException("pieceBytes is " + pieceBytes + ", expected 1 or more");
        }
    }

    /**
     * Limits of time.
     *
     * @param connect to reach a host
     * @param headers until an answer begins
     * @param stall in which a body must bring {@code HubBody.MIN_BYTES}
     * @param pause before the second attempt; each further one waits twice as long, up to 16 times this
     * @param inquiry to find out what the hub has of a model, pauses included
     * @param patience with another process that has the same file and does not get on
     */
    public record Times(
            Duration connect, Duration headers, Duration stall, Duration pause, Duration inquiry, Duration patience) {
        public static final Times DEFAULT = new Times(
                Duration.ofSeconds(10),
                Duration.ofSeconds(30),
                Duration.ofSeconds(30),
                Duration.ofMillis(500),
                Duration.ofMinutes(5),
                Duration.ofMinutes(10));
    }
}
