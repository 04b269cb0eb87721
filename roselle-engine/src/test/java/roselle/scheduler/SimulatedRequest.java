package roselle.scheduler;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import roselle.batch.Outcome;
import roselle.batch.Sequence;

/** A request of a simulation: what it asked, what its answer must be, and what became of it. */
final class SimulatedRequest {
    /** Ordinary tokens are below; this one ends an answer. */
    static final int STOP = 4;

    final Sequence sequence;
    final List<Outcome> outcomes = new ArrayList<>();
    /** Whether its tokens are unknown to the device until the host has sampled them. */
    final boolean isHostSampled;

    boolean cancelAsked;
    boolean failureInjected;
    int rowsScored;
    private final long salt;
    private long[] prefixes = new long[64]; // [tokens] the hash of the prefix that ends with each token
    private int known;

    SimulatedRequest(Sequence sequence, String salt, boolean isHostSampled) {
        this.sequence = sequence;
        this.isHostSampled = isHostSampled;
        this.salt = begin(salt);
    }

    /** The hash of no tokens. */
    static long begin(String salt) {
        return SimulatedKv.mix(17, salt.hashCode());
    }

    /** The hash of {@code ids[0 .. position]}. */
    long prefix(int position) {
        while (known <= position) {
            if (known == prefixes.length) {
                prefixes = Arrays.copyOf(prefixes, 2 * known);
            }
            prefixes[known] = SimulatedKv.mix(known == 0 ? salt : prefixes[known - 1], sequence.ids()[known]);
            known++;
        }
        return prefixes[position];
    }

    /** The model: the next token is a function of the whole prefix. */
    static int nextToken(long prefix) {
        int draw = (int) ((prefix >>> 20) % 100);
        return draw < 4 ? STOP : draw & 3;
    }

    /** The answer this request must get if it is not disturbed. */
    int[] expectedAnswer() {
        int most = sequence.maxLength() - sequence.promptLength();
        int[] answer = new int[most];
        long prefix = prefix(sequence.promptLength() - 1);
        int count = 0;
        while (count < most) {
            int token = nextToken(prefix);
            answer[count++] = token;
            if (sequence.plan().isStop(token) && count > sequence.plan().minTokens) {
                break;
            }
            prefix = SimulatedKv.mix(prefix, token);
        }
        return Arrays.copyOf(answer, count);
    }

    int[] answer() {
        return Arrays.copyOfRange(sequence.ids(), sequence.promptLength(), sequence.length());
    }
}
