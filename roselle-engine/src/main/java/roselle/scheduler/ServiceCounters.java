package roselle.scheduler;

import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.Map;

/**
 * What each key has been served, in virtual tokens (Sheng et al., "Fairness in Serving Large Language Models", 2024).
 *
 * <p>Among requests of equal priority the key served least goes first. A key that comes back after a pause is lifted to the
 * least served of the active ones, so that it cannot save up; what it owed from before is remembered for the keys that left
 * last.
 */
final class ServiceCounters {
    static final int READ_WEIGHT = 1;
    static final int WRITE_WEIGHT = 2;

    private static final int REMEMBERED = 4096;

    /** The account of one key with requests in the engine. */
    static final class Account {
        final String key;
        long served;
        int requests;

        Account(String key, long served) {
            this.key = key;
            this.served = served;
        }
    }

    private final Map<String, Account> active = new HashMap<>();
    private final LinkedHashMap<String, Long> left = new LinkedHashMap<>();

    /** Counts one more request of a key in. */
    Account enter(String key) {
        Account account = active.get(key);
        if (account == null) {
            Long before = left.remove(key);
            account = new Account(key, Math.max(before == null ? 0 : before, leastServed()));
            active.put(key, account);
        }
        account.requests++;
        return account;
    }

    /** Counts a request of a key out. */
    void leave(String key) {
        Account account = of(key);
        if (--account.requests == 0) {
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

    private long leastServed() {
        long least = Long.MAX_VALUE;
        for (Account account : active.values()) {
            least = Math.min(least, account.served);
        }
        return least == Long.MAX_VALUE ? 0 : least;
    }
}
