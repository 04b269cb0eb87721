package roselle.server.gateway;

import java.util.LinkedHashMap;
import java.util.Map;

/** Which beginnings of prompts one member was sent, as far back as its own memory for them may reach. One thread at a time. */
final class PrefixMemory {
    static final int USUAL_BLOCKS = 1 << 16;
    private static final int MOST_BLOCKS = 1 << 20;

    private int most = USUAL_BLOCKS;
    private final Map<Long, Boolean> blocks = new LinkedHashMap<>(1024, 0.75f, true) {
        @Override
        protected boolean removeEldestEntry(Map.Entry<Long, Boolean> eldest) {
            return size() > most;
        }
    };

    /** The member keeps about so many blocks. */
    void hold(long count) {
        most = Math.clamp(count, 1024, MOST_BLOCKS);
    }

    /** How many bytes of a prompt's beginning the member should have. */
    int matched(Prompt prompt) {
        int count = 0;
        for (long block : prompt.blocks()) {
            if (!blocks.containsKey(block)) {
                break;
            }
            count++;
        }
        return count * Prompt.BLOCK;
    }

    /** The member is sent a prompt. */
    void add(Prompt prompt) {
        for (int at = Math.min(prompt.blocks().length, most) - 1;
                at >= 0;
                at--) { // so that the ends are forgotten first
            blocks.put(prompt.blocks()[at], true);
        }
    }

    /** The member has begun anew. */
    void clear() {
        blocks.clear();
    }
}
