package roselle.cpu.machine.amx;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_FLOAT_UNALIGNED;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;
import static java.lang.foreign.ValueLayout.JAVA_SHORT_UNALIGNED;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import roselle.cpu.machine.Compute;
import roselle.cpu.machine.Processor;
import roselle.cpu.machine.panel.BrainFloat;
import roselle.cpu.machine.panel.Constants;
import roselle.cpu.machine.panel.Panel;
import roselle.tensor.DataType;

/**
 * Every routine of {@link AmxKernels} with operands, as an image of memory for an emulated machine, and what must be in its
 * outputs then; {@code tools/amx/emulate.sh} runs it.
 *
 * <p>{@code write IMAGE} writes the image; {@code size} says how much the machine will write; {@code check DUMP} compares what the machine wrote with the scalar twin.
 */
final class AmxEmulation {
    private static final long BASE = 0x200000; // where the machine has the image
    private static final int HEADER = 32;
    private static final int SLACK = 256; // around outputs, that nobody may touch
    private static final long ANSWER_BYTES = 16;
    private static final byte UNTOUCHED = 0x5A;

    private static final List<DataType> UNPACKED = List.of(
            DataType.Q8_0,
            DataType.Q4_0,
            DataType.Q4_1,
            DataType.Q5_0,
            DataType.Q5_1,
            DataType.IQ4_NL,
            DataType.Q4_K,
            DataType.Q6_K);

    private record Piece(long address, long bytes) {}

    private final Random random = new Random(64);
    private final MemorySegment image;
    private final List<Piece> calls = new ArrayList<>(); // code and argument
    private final List<Piece> dumps = new ArrayList<>();
    private final List<byte[]> wanted = new ArrayList<>();
    private final List<String> names = new ArrayList<>();
    private long end = HEADER;

    private AmxEmulation(Arena arena) {
        image = arena.allocate(64 << 20, 64);
        identify();
        for (DataType type : UNPACKED) {
            unpack(type);
        }
        for (int rows = 1; rows <= AmxKernels.MAX_ROWS; rows++) {
            int tiles = (rows - 1) / AmxGemmCode.ROWS + 1;
            multiply(rows, tiles, 1, 2);
            multiply(rows, tiles, tiles == 1 ? 4 : 2, 2);
        }
    }

    public static void main(String[] arguments) throws IOException {
        try (var arena = Arena.ofConfined()) {
            var emulation = new AmxEmulation(arena);
            switch (arguments[0]) {
                case "write" -> Files.write(Path.of(arguments[1]), emulation.bytes());
                case "size" -> System.out.println(emulation.size());
                default -> System.exit(emulation.check(Files.readAllBytes(Path.of(arguments[1]))) ? 0 : 1);
            }
        }
    }

    /** Has the machine say what it is. */
    private void identify() {
        for (int[] leaf : new int[][] {{1, 0}, {7, 0}, {7, 1}}) {
            MemorySegment answer = take(ANSWER_BYTES);
            answer.set(JAVA_INT, 0, leaf[0]);
            answer.set(JAVA_INT, 4, leaf[1]);
            call(Processor.identify(), answer);
            dumps.add(new Piece(guest(answer), ANSWER_BYTES));
        }
        MemorySegment answer = take(ANSWER_BYTES);
        call(Processor.states(), answer);
        dumps.add(new Piece(guest(answer), ANSWER_BYTES));
    }

    /** What the machine said it is, which stands first. */
    private static String features(byte[] dump) {
        var answers = new int[4][];
        for (int i = 0; i < answers.length; i++) {
            answers[i] = MemorySegment.ofArray(dump)
                    .asSlice(i * ANSWER_BYTES, ANSWER_BYTES)
                    .toArray(ValueLayout.JAVA_INT_UNALIGNED);
        }
        var all = new Processor.Answers(
                answers[0][2], answers[1][1], answers[1][2], answers[1][3], answers[2][0], answers[3][0]);
        return "the machine has " + new Processor(all.features(state -> true), "");
    }

    private long size() {
        return 4 * ANSWER_BYTES
                + wanted.stream().mapToLong(bytes -> bytes.length).sum();
    }

    private byte[] bytes() {
        image.set(JAVA_LONG, 0, calls.size());
        image.set(JAVA_LONG, 8, dumps.size());
        image.set(JAVA_LONG, 16, table(calls));
        image.set(JAVA_LONG, 24, table(dumps));
        return image.asSlice(0, end).toArray(JAVA_BYTE);
    }

    private long table(List<Piece> pieces) {
        MemorySegment table = take(pieces.size() * 16L);
        for (int i = 0; i < pieces.size(); i++) {
            table.setAtIndex(JAVA_LONG, 2L * i, pieces.get(i).address);
            table.setAtIndex(JAVA_LONG, 2L * i + 1, pieces.get(i).bytes);
        }
        return guest(table);
    }

    private MemorySegment take(long bytes) {
        MemorySegment taken = image.asSlice(end, bytes);
        end += (bytes + 63) / 64 * 64;
        return taken;
    }

    private MemorySegment take(byte[] bytes) {
        MemorySegment taken = take(bytes.length);
        MemorySegment.copy(bytes, 0, taken, JAVA_BYTE, 0, bytes.length);
        return taken;
    }

    private long guest(MemorySegment segment) {
        return BASE + segment.address() - image.address();
    }

    /** Memory for an output, with what nobody may touch around it. */
    private MemorySegment output(long bytes) {
        MemorySegment taken = take(bytes + 2 * SLACK);
        taken.fill(UNTOUCHED);
        return taken;
    }

    private void expect(String name, MemorySegment output, byte[] bytes) {
        var all = new byte[bytes.length + 2 * SLACK];
        java.util.Arrays.fill(all, UNTOUCHED);
        System.arraycopy(bytes, 0, all, SLACK, bytes.length);
        names.add(name);
        wanted.add(all);
        dumps.add(new Piece(guest(output), all.length));
    }

    private void call(byte[] code, MemorySegment argument) {
        calls.add(new Piece(guest(take(code)), guest(argument)));
    }

    private void unpack(DataType type) {
        int panels = 2;
        Panel panel = Panel.of(type, Compute.BF16).orElseThrow();
        int columns = 2 * AmxKernels.UNIT;
        var bytes = new byte[Math.toIntExact(panels * panel.bytes(columns))];
        random.nextBytes(bytes);
        MemorySegment weights = take(bytes);
        for (long at = 0; at < bytes.length; at += 32) { // no scale is NaN, whichever payload that has
            for (int i = 0; i < 16; i++) {
                weights.set(JAVA_BYTE, at + 2L * i + 1, (byte) (weights.get(JAVA_BYTE, at + 2L * i + 1) & ~0x40));
            }
        }
        MemorySegment constants;
        try (var arena = Arena.ofConfined()) {
            constants = take(Constants.of(arena, type).toArray(JAVA_BYTE));
        }
        long targetBytes = (long) panels * columns * AmxKernels.BYTES_PER_COLUMN;
        MemorySegment target = output(targetBytes);
        MemorySegment arguments = take(AmxPanelCode.SIZE);
        long from = guest(weights);
        arguments.set(JAVA_LONG, AmxPanelCode.CODES_FROM, from);
        arguments.set(JAVA_LONG, AmxPanelCode.SCALES_FROM, from + panel.scalesAt(columns));
        arguments.set(JAVA_LONG, AmxPanelCode.MINIMA_FROM, from + panel.minimaAt(columns));
        arguments.set(JAVA_LONG, AmxPanelCode.TARGET, guest(target) + SLACK);
        arguments.set(JAVA_LONG, AmxPanelCode.UNITS, panel.units(columns));
        arguments.set(JAVA_LONG, AmxPanelCode.PANELS, panels);
        arguments.set(JAVA_LONG, AmxPanelCode.PANEL_BYTES, panel.bytes(columns));
        arguments.set(JAVA_LONG, AmxPanelCode.TARGET_PANEL_BYTES, targetBytes / panels);
        arguments.set(JAVA_LONG, AmxPanelCode.CONSTANTS, guest(constants));
        call(AmxPanelCode.of(panel), arguments);
        MemorySegment want = MemorySegment.ofArray(new byte[(int) targetBytes]);
        for (int n = 0; n < panels * Panel.OUTPUTS; n++) {
            long at = n / Panel.OUTPUTS * panel.bytes(columns);
            float[] row = AmxTwin.weights(panel, type, weights, at, n % Panel.OUTPUTS, columns);
            for (int k = 0; k < columns; k++) {
                want.set(JAVA_SHORT_UNALIGNED, placeOf(columns, n, k), BrainFloat.of(row[k]));
            }
        }
        expect(type.label() + " unpacked", target, want.toArray(JAVA_BYTE));
    }

    private static long placeOf(int columns, int output, int k) {
        long panel = (long) output / Panel.OUTPUTS * columns * AmxKernels.BYTES_PER_COLUMN;
        return panel + k / 2 * 64L + output % Panel.OUTPUTS * 4L + k % 2 * 2L;
    }

    /** Two steps of k in one call, and a third in another one that goes on. */
    private void multiply(int rows, int tiles, int together, int groups) {
        int columns = 3 * AmxGemmCode.DEPTH;
        int width = together * groups * Panel.OUTPUTS;
        long stride = columns * 2L + 64;
        MemorySegment input = take(rows * stride);
        MemorySegment weights = take((long) width * columns * 2);
        for (long at = 0; at < input.byteSize(); at += 2) {
            input.set(JAVA_SHORT_UNALIGNED, at, number());
        }
        for (long at = 0; at < weights.byteSize(); at += 2) {
            weights.set(JAVA_SHORT_UNALIGNED, at, number());
        }
        long outputBytes = (long) rows * width * Float.BYTES;
        MemorySegment output = output(outputBytes);
        MemorySegment configuration = take(AmxGemmCode.configuration(rows, false));
        byte[] code = AmxGemmCode.of(tiles, together, false);
        for (int i = 0; i < 2; i++) {
            MemorySegment arguments = take(AmxGemmCode.SIZE);
            arguments.set(JAVA_LONG, AmxGemmCode.WEIGHTS, guest(weights) + i * 2048L);
            arguments.set(JAVA_LONG, AmxGemmCode.PANEL_BYTES, (long) columns * AmxKernels.BYTES_PER_COLUMN);
            arguments.set(JAVA_LONG, AmxGemmCode.INPUT, guest(input) + i * 128L);
            arguments.set(JAVA_LONG, AmxGemmCode.STRIDE, stride);
            arguments.set(JAVA_LONG, AmxGemmCode.OUTPUT, guest(output) + SLACK);
            arguments.set(JAVA_LONG, AmxGemmCode.OUTPUT_STRIDE, (long) width * Float.BYTES);
            arguments.set(JAVA_LONG, AmxGemmCode.GROUPS, groups);
            arguments.set(JAVA_LONG, AmxGemmCode.STEPS, i == 0 ? 2 : 1);
            arguments.set(JAVA_LONG, AmxGemmCode.CONFIGURATION, guest(configuration));
            arguments.set(JAVA_LONG, AmxGemmCode.CONTINUES, i);
            call(code, arguments);
        }
        MemorySegment want = MemorySegment.ofArray(new byte[(int) outputBytes]);
        for (int n = 0; n < width; n++) {
            var weight = new float[columns];
            for (int k = 0; k < columns; k++) {
                weight[k] = BrainFloat.toFloat(weights.get(JAVA_SHORT_UNALIGNED, placeOf(columns, n, k)));
            }
            for (int r = 0; r < rows; r++) {
                var row = new float[columns];
                for (int k = 0; k < columns; k++) {
                    row[k] = BrainFloat.toFloat(input.get(JAVA_SHORT_UNALIGNED, r * stride + 2L * k));
                }
                want.set(JAVA_FLOAT_UNALIGNED, ((long) r * width + n) * Float.BYTES, AmxTwin.dot(weight, row));
            }
        }
        String name = rows + " rows, " + groups + " groups of " + together + " panels";
        expect(name, output, want.toArray(JAVA_BYTE));
    }

    /** A number of moderate size, or now and then one that is subnormal or nearly so. */
    private short number() {
        short moderate = BrainFloat.of((float) random.nextGaussian());
        return random.nextInt(16) == 0 ? (short) (moderate & 0x80FF) : moderate;
    }

    private boolean check(byte[] dump) {
        System.out.println(features(dump));
        int at = Math.toIntExact(4 * ANSWER_BYTES);
        int wrong = 0;
        for (int i = 0; i < wanted.size(); i++) {
            byte[] want = wanted.get(i);
            byte[] got = java.util.Arrays.copyOfRange(dump, at, at + want.length);
            int first = java.util.Arrays.mismatch(want, got);
            if (first >= 0) {
                wrong++;
                System.out.println(names.get(i) + ": byte " + (first - SLACK) + " differs from the twin");
            }
            at += want.length;
        }
        boolean isAll = at == dump.length;
        System.out.println(wanted.size() - wrong + " of " + wanted.size() + " outputs of " + calls.size()
                + " calls are the twin's, bit for bit" + (isAll ? "" : "; the dump has " + dump.length + " bytes"));
        return wrong == 0 && isAll;
    }
}
