package roselle.server.events;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import roselle.api.PageEvent.Scope;

/**
 * Pages by a hash of all that leads to them: eight bytes of SHA-256 over the hash of the page before and the tokens, where
 * prompts begin over who finds the page. Two servers, and one before and after a restart, call the same page the same.
 */
final class PageHashes {
    private final Map<Long, Long> known = new HashMap<>(); // by the engine's number
    private final MessageDigest digest = sha256();

    /** The hash of a page that is stored, known from now on; empty where the page before is not known. */
    OptionalLong add(long page, long parent, List<Integer> tokens, Optional<Scope> scope) {
        OptionalLong before = scope.isPresent() ? OptionalLong.of(root(scope.get())) : of(parent);
        if (before.isEmpty()) {
            return OptionalLong.empty();
        }
        ByteBuffer text = ByteBuffer.allocate(Long.BYTES + Integer.BYTES * tokens.size());
        text.putLong(before.getAsLong());
        tokens.forEach(text::putInt);
        long hash = first(digest.digest(text.array()));
        known.put(page, hash);
        return OptionalLong.of(hash);
    }

    /** What a page was called, which is not known from now on. */
    OptionalLong remove(long page) {
        Long hash = known.remove(page);
        return hash == null ? OptionalLong.empty() : OptionalLong.of(hash);
    }

    OptionalLong of(long page) {
        Long hash = known.get(page);
        return hash == null ? OptionalLong.empty() : OptionalLong.of(hash);
    }

    void clear() {
        known.clear();
    }

    private long root(Scope scope) {
        String text = scope.key() + "\0" + scope.salt() + "\0" + scope.adapter();
        return first(digest.digest(text.getBytes(StandardCharsets.UTF_8)));
    }

    private static long first(byte[] digest) {
        return ByteBuffer.wrap(digest).getLong();
    }

    private static MessageDigest sha256() {
        try {
            return MessageDigest.getInstance("SHA-256");
        } catch (NoSuchAlgorithmException missing) {
            throw new IllegalStateException("every JDK has SHA-256", missing);
        }
    }
}
