package roselle.scheduler;

import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.Map;

/**
 * What each key has been served, in virtual tokens (Sheng et al., "Fairness in Serving Large Language Models", 2024).
 *
 * <p>The key served least goes first. A key that comes back after a pause is lifted to the least served of the active ones, or of
 * those that were active last, so that nobody can save up; what it owed from before is remembered for the keys that left last, up to
 * {@link #MAX_OWED}, so that a key that has been away is not shut out until all others have had as much as it once had.
 */
final class ServiceCounters {
    static final int READ_WEIGHT = 1;
    static final int WRITE_WEIGHT = 2;

    /** Virtual tokens by which a key that comes back may be behind the others. */
    static final long MAX_OWED = 16_384;

    private static final int REMEMBERED = 4096;

    /** The account of one key with requests in the engine. */
    static final class Account {
        final String key;
        long served;
        int requests;
        int running; // sequences that hold pages
        int foreground; // requests that are not in the background
        boolean hasHadForeground; // while some were in the background
        long lastForeground; // when, if so
        long promptTurn; // when a prompt of its last got rows
        long turnBefore; // the same before the step being planned
        long turnStep; // the step that turnBefore is of

        Account(String key, long served) {
            this.key = key;
            this.served = served;
        }
    }

    private final Map<String, Account> active = new HashMap<>();
    private final LinkedHashMap<String, Long> left = new LinkedHashMap<>();
    private long floor; // what the least served had, whenever there was one; it never falls
    private long promptTurns;
    private long steps;

    /** Counts one more request of a key in. */
    Account enter(String key, boolean isBackground) {
        Account account = active.get(key);
        if (account == null) {
            Long before = left.remove(key);
            raiseFloor();
            account = new Account(key, before == null ? floor : Math.clamp(before, floor, floor + MAX_OWED));
            account.promptTurn = ++promptTurns;
            active.put(key, account);
        }
        account.requests++;
        account.foreground += isBackground ? 0 : 1;
        return account;
    }

    /** Counts a request of a key out. */
    void leave(String key, boolean isBackground) {
        Account account = of(key);
        account.foreground -= isBackground ? 0 : 1;
        if (--account.requests == 0) {
            raiseFloor();
            active.remove(key);
            left.put(key, account.served);
            if (left.size() > REMEMBERED) {
                left.pollFirstEntry();
            }
        }
    }

    /** The account of a key that has requests in the engine. */
    Account of(String key) {
        Account account = active.get(key);
        if (account == null) {
            throw new IllegalStateException("a key without requests is served");
        }
        return account;
    }

    /** Whether a key has requests in the engine that are not in the background. */
    boolean hasForeground(String key) {
        Account account = active.get(key);
        return account != null && account.foreground > 0;
    }

    /** Keys that have requests in the engine. */
    int keys() {
        return active.size();
    }

    /** A step is about to be planned. */
    void beginStep() {
        steps++;
    }

    /** Takes note that a prompt of this key gets rows: the others' come first now. */
    void takePromptTurn(String key) {
        Account account = of(key);
        if (account.turnStep != steps) {
            account.turnStep = steps;
            account.turnBefore = account.promptTurn;
        }
        account.promptTurn = ++promptTurns;
    }

    /** The step that was planned last is given up: whose turn it was in it keeps that. */
    void giveBackPromptTurns() {
        for (Account account : active.values()) {
            if (account.turnStep == steps) {
                account.promptTurn = account.turnBefore;
            }
        }
    }

    private void raiseFloor() {
        long least = Long.MAX_VALUE;
        for (Account account : active.values()) {
            least = Math.min(least, account.served);
        }
        floor = least == Long.MAX_VALUE ? floor : Math.max(floor, least);
    }
}
