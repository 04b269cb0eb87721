package roselle.backend;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Arrays;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.stream.IntStream;
import roselle.backend.memory.KvCache;
import roselle.backend.memory.KvGroup;
import roselle.backend.memory.Rows;
import roselle.backend.step.StepInputs;
import roselle.backend.step.StepLimits;
import roselle.model.weights.Floats;

/** Sequences in steps that cut them in all ways, for operations that go on from a state. */
abstract class StateSteps extends ContractFixture {
    static final int PAGE = 16;
    static final int[] LENGTHS = {1, 15, 16, 17, 70};
    static final int[] NONE = new int[LENGTHS.length];
    static final StepLimits LIMITS = new StepLimits(200, LENGTHS.length, 200, 96, PAGE);
    static final int PAGES = LENGTHS.length * LIMITS.maxPages();
    static final int LAYERS = 2;

    /** Sequences whose rows are known, and an operation that works on some of them in a step. */
    abstract class Subject {
        final KvCache cache;
        final int width;
        private final int groups;
        private final IdentityHashMap<float[][], Rows> all = new IdentityHashMap<>();

        Subject(KvGroup group, int width) {
            this(List.of(group), width);
        }

        Subject(List<KvGroup> groups, int width) {
            this.width = width;
            int[] pages = new int[groups.size()];
            Arrays.fill(pages, PAGES);
            cache = device.allocateKvCache(groups, device.kvTypes().getLast(), PAGE, pages);
            this.groups = groups.size();
        }

        abstract Rows run(StepInputs step, int[][] tokens);

        abstract double[] expected(int sequence);

        /** Rows of each sequence from {@code before} on, {@code count} of them; what is not gone on from is not kept, if so asked. */
        float[] step(int[] before, int[] count, boolean isSparse) {
            int[] active =
                    IntStream.range(0, LENGTHS.length).filter(s -> count[s] > 0).toArray();
            StepInputs step = StateSteps.this.step(
                    LIMITS,
                    groups,
                    Arrays.stream(active).map(s -> before[s]).toArray(),
                    Arrays.stream(active).map(s -> count[s]).toArray());
            var tokens = new int[step.rows][];
            for (int at = 0; at < active.length; at++) {
                int s = active[at];
                for (int i = 0; i < count[s]; i++) {
                    tokens[step.rowStart[at] + i] = new int[] {s, before[s] + i};
                }
                for (int p = 0; p < step.maxPages; p++) {
                    int end = before[s] + count[s];
                    boolean isKept = p >= end / PAGE - 1 || p == before[s] / PAGE - 1 || p == before[s] / PAGE;
                    int page = p * LENGTHS.length + (s + p) % LENGTHS.length;
                    for (int[] table : step.pageTable) {
                        table[at * step.maxPages + p] = isSparse && !isKept ? -1 : page;
                    }
                }
            }
            begin(step);
            return left(run(step, tokens), step.rows);
        }

        float[] left(Rows output, int rows) {
            return read(output, rows);
        }

        /** Numbers of all sequences' tokens as the rows of a step: those of all, once on the device, where the step's follow each other. */
        Rows rows(float[][] numbers, int columns, int[][] tokens) {
            int first = place(tokens[0]);
            if (IntStream.range(0, tokens.length).allMatch(r -> place(tokens[r]) == first + r)) {
                return all.computeIfAbsent(numbers, each -> placed(Floats.concatenate(each), columns))
                        .from(first);
            }
            var chosen = new float[tokens.length * columns];
            for (int r = 0; r < tokens.length; r++) {
                System.arraycopy(numbers[tokens[r][0]], tokens[r][1] * columns, chosen, r * columns, columns);
            }
            return placed(chosen, columns);
        }

        Rows placed(float[] numbers, int columns) {
            return StateSteps.this.rows(numbers, columns);
        }
    }

    /** Where a token is among those of all sequences, one behind the other. */
    private static int place(int[] token) {
        return Arrays.stream(LENGTHS).limit(token[0]).sum() + token[1];
    }

    final float[][] numbers(int columns) {
        var numbers = new float[LENGTHS.length][];
        Arrays.setAll(numbers, s -> random(LENGTHS[s] * columns));
        return numbers;
    }

    final void checkAgainstRecurrence(Subject subject) {
        float[] all = subject.step(NONE, LENGTHS, false);
        int from = 0;
        for (int s = 0; s < LENGTHS.length; s++) {
            int end = from + LENGTHS[s] * subject.width;
            assertClose(Arrays.copyOfRange(all, from, end), subject.expected(s));
            from = end;
        }
    }

    final void checkBits(Subject subject) {
        float[] all = subject.step(NONE, LENGTHS, false);
        assertThat(subject.step(NONE, LENGTHS, true))
                .as("pages that nobody keeps")
                .isEqualTo(all);
        int first = 0;
        for (int s = 0; s < LENGTHS.length; s++) {
            for (int rows : new int[] {1, 3, 7, 16, 33}) {
                for (int from = 0; from < LENGTHS[s]; from += rows) {
                    var before = new int[LENGTHS.length];
                    var count = new int[LENGTHS.length];
                    before[s] = from;
                    count[s] = Math.min(rows, LENGTHS[s] - from);
                    int at = (first + from) * subject.width;
                    assertThat(subject.step(before, count, rows > 1))
                            .as("sequence %d from token %d on, by %d", s, from, rows)
                            .isEqualTo(Arrays.copyOfRange(all, at, at + count[s] * subject.width));
                }
            }
            first += LENGTHS[s];
        }
        checkLastRowsTogether(subject, all);
    }

    /** Each sequence's last row, all in one step. */
    private static void checkLastRowsTogether(Subject subject, float[] all) {
        int[] before = Arrays.stream(LENGTHS).map(length -> length - 1).toArray();
        int[] ones = new int[LENGTHS.length];
        Arrays.fill(ones, 1);
        float[] rows = subject.step(before, ones, false);
        int end = 0;
        for (int s = 0; s < LENGTHS.length; s++) {
            end += LENGTHS[s];
            assertThat(Arrays.copyOfRange(rows, s * subject.width, (s + 1) * subject.width))
                    .as("the last row of sequence %d", s)
                    .isEqualTo(Arrays.copyOfRange(all, (end - 1) * subject.width, end * subject.width));
        }
    }
}
