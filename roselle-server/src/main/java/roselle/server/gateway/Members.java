package roselle.server.gateway;

import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/**
 * Chooses for each request the member that costs least; thread-safe.
 *
 * <p>Costs are bytes of prompts that must be computed before the first token comes: those of this prompt that the member does not
 * have; those of the prompts before it, sent by this gateway or, as its metrics tell, by others; a share for each answer that it is
 * giving, since steps are shared; and, where its memory is nearly full, those that it would have to drop. A session's last member has
 * half a prompt less. So a beginning is followed for as long as that is faster than computing it anew where nobody waits.
 */
final class Members {
    /** What a request costs that somebody else has sent there: its prompt is not known. */
    private static final double BYTES_OF_OTHERS = 2048;

    /** What each running answer slows a prompt by. */
    private static final double BYTES_OF_ANSWER = 64;

    private static final double NEARLY_FULL = 0.9;
    private static final double BYTES_OF_TOKEN = 4;
    private static final int MOST_SESSIONS = 100_000;

    private final List<Member> all;
    private final Map<String, Member> sessions = new LinkedHashMap<>(1024, 0.75f, true) {
        @Override
        protected boolean removeEldestEntry(Map.Entry<String, Member> eldest) {
            return size() > MOST_SESSIONS;
        }
    };
    private int turn; // so that equals take turns

    Members(List<Member> all) {
        this.all = List.copyOf(all);
    }

    List<Member> all() {
        return all;
    }

    boolean hasReady() {
        return all.stream().anyMatch(Member::isReady);
    }

    /**
     * A member for a request, which counts as sent there until it is told otherwise; nothing where none is left that could answer.
     *
     * @param session whose next request should find what this one leaves; empty for nobody's
     * @param tried those that have failed it
     */
    synchronized Optional<Sent> choose(Prompt prompt, String session, Set<Member> tried) {
        Member best = null;
        double least = Double.POSITIVE_INFINITY;
        turn++;
        for (int at = 0; at < all.size(); at++) {
            Member member = all.get((at + turn) % all.size());
            if (member.isReady() && !tried.contains(member)) {
                double cost = cost(member, prompt, session);
                if (cost < least) {
                    least = cost;
                    best = member;
                }
            }
        }
        return Optional.ofNullable(best).map(member -> send(member, prompt, session));
    }

    private double cost(Member member, Prompt prompt, String session) {
        MemberLoad load = member.load();
        double own = prompt.bytes() - member.prefixes.matched(prompt);
        double others = Math.max(0, load.waiting() - member.pending) * BYTES_OF_OTHERS;
        double answers = Math.max(load.running(), member.open) * BYTES_OF_ANSWER;
        double full = Math.max(0, load.kvUsage() - NEARLY_FULL) / (1 - NEARLY_FULL) * prompt.bytes();
        double known = sessions.get(session) == member ? prompt.bytes() / 2.0 : 0;
        return own + member.pendingBytes + others + answers + full - known;
    }

    private Sent send(Member member, Prompt prompt, String session) {
        int matched = member.prefixes.matched(prompt);
        member.prefixes.add(prompt);
        if (!session.isEmpty()) {
            sessions.put(session, member);
        }
        return new Sent(member, matched, prompt.bytes() - matched);
    }

    /** The member may begin anew, and has nothing then. */
    synchronized void forget(Member member) {
        member.prefixes.clear();
    }

    /** The member's memory holds so many tokens. */
    synchronized void hold(Member member, double tokens) {
        if (tokens > 0) {
            member.prefixes.hold((long) (tokens * BYTES_OF_TOKEN / Prompt.BLOCK));
        }
    }

    /** Requests that a member has not ended answering. */
    synchronized int open(Member member) {
        return member.open;
    }

    /** A request that was sent to a member. */
    final class Sent implements AutoCloseable {
        private final Member member;
        private final int matched;
        private final int bytes;
        private boolean hasBegun;

        private Sent(Member member, int matched, int bytes) {
            this.member = member;
            this.matched = matched;
            this.bytes = bytes;
            member.pendingBytes += bytes;
            member.pending++;
            member.open++;
        }

        Member member() {
            return member;
        }

        /** Bytes of the prompt that the member should have had. */
        int matched() {
            return matched;
        }

        /** The answer has begun. */
        void begun() {
            synchronized (Members.this) {
                if (!hasBegun) {
                    hasBegun = true;
                    member.pendingBytes -= bytes;
                    member.pending--;
                }
            }
        }

        @Override
        public void close() {
            synchronized (Members.this) {
                begun();
                member.open--;
            }
        }
    }
}
