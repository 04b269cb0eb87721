package roselle.bench.trace;

import java.util.HashMap;
import java.util.Map;

/** Which beginnings of prompts were there before, as names of blocks tell: a tree of names with their longest text. */
final class PrefixSharing {
    /** A block after those on the way to it. */
    private static final class Block {
        private final Map<Long, Block> following = new HashMap<>();
        private int tokens;
    }

    private final int blockTokens;
    private final Block root = new Block();

    PrefixSharing(int blockTokens) {
        this.blockTokens = blockTokens;
    }

    /** Adds a request; returns how many of its first tokens an earlier one had. */
    int add(TraceEntry entry) {
        int shared = 0;
        boolean isShared = true;
        Block block = root;
        for (int i = 0; i < entry.blocks().size() && i * blockTokens < entry.inputTokens(); i++) {
            int tokens = Math.min(blockTokens, entry.inputTokens() - i * blockTokens);
            block = block.following.computeIfAbsent(entry.blocks().get(i), _ -> new Block());
            shared += isShared ? Math.min(tokens, block.tokens) : 0;
            isShared &= block.tokens >= tokens;
            block.tokens = Math.max(block.tokens, tokens);
        }
        return shared;
    }
}
