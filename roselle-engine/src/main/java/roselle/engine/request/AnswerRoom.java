package roselle.engine.request;

import java.util.HashMap;
import java.util.Map;
import roselle.api.CapacityException;
import roselle.api.InvalidRequestException;
import roselle.api.InvalidRequestException.Reason;

/**
 * The answers that can be generated and wait at a time; thread-safe.
 *
 * <p>However much a key asks for, it leaves room for others: it has at most {@link #SHARE} times what is left when it is served (a
 * dynamic threshold, as switches share their buffers). One that has nothing here yet may always have one answer, while there is any
 * room. What is nobody's key's may fill everything.
 */
public final class AnswerRoom {
    private static final int SHARE = 8;

    private final int most;
    private final Map<String, Integer> byKey = new HashMap<>();
    private int taken;

    public AnswerRoom(int most) {
        this.most = most;
    }

    public int most() {
        return most;
    }

    /**
     * Takes room for so many answers.
     *
     * @throws InvalidRequestException if there never is so much
     * @throws CapacityException if there is not so much now
     */
    public synchronized void take(String key, int answers) {
        if (!isWithinShare(key, 0, most - answers, answers)) {
            throw new InvalidRequestException(
                    Reason.OUT_OF_RANGE,
                    "",
                    "n is " + answers + ", but this engine takes at most " + most
                            + " answers at a time, and leaves some room for other keys");
        }
        int own = byKey.getOrDefault(key, 0);
        if (!isWithinShare(key, own, most - taken - answers, answers)) {
            throw new CapacityException("the queue is full: " + taken + " answers are being generated or wait, " + own
                    + " of them for this key, of at most " + most + "; try again later");
        }
        taken += answers;
        byKey.put(key, own + answers);
    }

    private static boolean isWithinShare(String key, int own, int left, int answers) {
        if (left < 0) {
            return false;
        }
        boolean isOnlyOne = own == 0 && answers == 1;
        return key.isEmpty() || isOnlyOne || own + answers <= (long) SHARE * left;
    }

    public synchronized void giveBack(String key, int answers) {
        taken -= answers;
        byKey.merge(key, -answers, (before, less) -> before + less == 0 ? null : before + less);
    }
}
