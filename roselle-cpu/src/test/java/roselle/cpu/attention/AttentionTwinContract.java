package roselle.cpu.attention;

import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import roselle.backend.memory.Buffer;
import roselle.backend.memory.KvGroup;
import roselle.backend.memory.KvType;
import roselle.backend.memory.Rows;
import roselle.backend.operation.AttentionLayer;
import roselle.backend.operation.HeadShape;
import roselle.backend.step.StepInputs;
import roselle.backend.step.StepLimits;
import roselle.cpu.CpuDevice;
import roselle.cpu.gemm.InterpretedTiles;
import roselle.cpu.machine.Compute;
import roselle.cpu.memory.CpuBuffer;
import roselle.cpu.memory.CpuKvCache;
import roselle.cpu.memory.MachineCode;
import roselle.cpu.memory.Step;
import roselle.cpu.option.CpuOptions;
import roselle.cpu.option.CpuPath;
import roselle.cpu.option.Precision;
import roselle.cpu.twin.ScalarAttention;
import roselle.cpu.twin.ScalarPanelAttention;
import roselle.tensor.DataType;

/** Attention of a prompt and of a single token must give the bits of its scalar twin at any vector width. */
public final class AttentionTwinContract {
    private static final int CONTEXT = 150;
    private static final int PAGE_TOKENS = 16;
    private static final List<Case> CASES = List.of(
            new Case(KvType.F32, 4, 2, 64, 64, 0, 0, false, 1),
            new Case(KvType.F16, 4, 1, 32, 32, 0, 0, false, 2),
            new Case(KvType.BF16, 6, 2, 40, 24, 0, 30, false, 3),
            new Case(KvType.F32, 4, 4, 8, 8, 20, 0, true, 1),
            new Case(KvType.F16, 3, 3, 5, 9, 0, 50, false, 2),
            new Case(KvType.F16, 20, 1, 72, 64, 70, 0, true, 2),
            new Case(KvType.F16, 20, 1, 64, 96, 70, 0, true, 2),
            new Case(KvType.BF16, 6, 2, 96, 32, 0, 30, false, 3),
            new Case(KvType.F32, 3, 3, 32, 64, 20, 0, true, 1),
            new Case(KvType.FP8, 4, 2, 64, 32, 0, 0, false, 1),
            new Case(KvType.FP8, 3, 3, 5, 9, 0, 50, true, 2),
            new Case(KvType.INT8, 6, 2, 96, 64, 0, 30, true, 2),
            new Case(KvType.INT8, 4, 1, 41, 24, 0, 0, false, 1),
            new Case(KvType.INT4, 4, 2, 64, 96, 0, 0, false, 1),
            new Case(KvType.INT4, 20, 1, 73, 27, 0, 0, true, 2),
            new Case(KvType.INT4, 3, 3, 32, 32, 20, 0, true, 1));

    private final Random random;

    public AttentionTwinContract(long seed) {
        random = new Random(seed);
    }

    private record Case(
            KvType type,
            int queryHeads,
            int keyHeads,
            int keySize,
            int valueSize,
            int window,
            float softCap,
            boolean hasSinks,
            int threads) {}

    /** Values that are no numbers reach the rows that see them, and no row before. */
    private static final int POISONED = 91;

    public List<String> faults() {
        var faults = new ArrayList<String>();
        for (Case each : CASES) {
            for (CpuPath path : CpuDevice.paths()) {
                check(each, new CpuDevice(CpuOptions.of(each.threads).with(path)), path.label(), faults);
            }
            var rounding = CpuOptions.of(each.threads).with(Precision.BF16);
            if (CpuDevice.rounds(rounding)) {
                check(each, new CpuDevice(rounding), "bfloat16", faults);
            }
            if (CpuDevice.paths().contains(CpuPath.AMX)) {
                check(
                        each,
                        split(new CpuDevice(
                                CpuOptions.of(each.threads).with(CpuPath.AMX).with(Precision.SPLIT))),
                        "split",
                        faults);
            }
            if (InterpretedTiles.arePossible()) {
                check(each, InterpretedTiles.backend(rounding), "interpreted tiles", faults);
            }
        }
        return faults;
    }

    /** A device that has loaded weights of float32. */
    private static CpuDevice split(CpuDevice device) {
        device.machineCode().use(Compute.SPLIT);
        return device;
    }

    private void check(Case shape, CpuDevice opened, String how, List<String> faults) {
        var limits = new StepLimits(CONTEXT + 2, 2, 1, CONTEXT, PAGE_TOKENS);
        var group = new KvGroup("full", 1, shape.keyHeads, shape.keySize, shape.valueSize, shape.window);
        try (var device = opened) {
            var cache = (CpuKvCache)
                    device.allocateKvCache(List.of(group), shape.type, PAGE_TOKENS, new int[] {2 * limits.maxPages()});
            fill(cache, 2 * limits.maxPages(), shape);
            StepInputs inputs = inputs(limits);
            Buffer sinks = shape.hasSinks ? device.constants(numbers(shape.queryHeads)) : null;
            var heads = new HeadShape(shape.queryHeads, shape.keyHeads, shape.keySize, shape.valueSize);
            var layer = new AttentionLayer(0, 0, heads, null, null, null, 0.2f, shape.softCap, sinks);
            int asked = shape.queryHeads * shape.keySize;
            Rows query = Rows.of(device.constants(numbers(inputs.rows * asked)), asked);
            CpuBuffer.number(CpuBuffer.of(query), 7L * asked, Float.NaN);
            int width = shape.queryHeads * shape.valueSize;
            Rows output = Rows.of(device.allocate(DataType.F32, (long) inputs.rows * width), width);
            Rows twin = Rows.of(device.allocate(DataType.F32, (long) inputs.rows * width), width);
            CpuBuffer.of(output).fill((byte) 0xff);
            attend(device, inputs, query, layer, cache, output, twin);
            compare(shape + " with " + how, inputs.rows, twin, output, faults);
            poison(cache, 2 * limits.maxPages(), shape);
            attend(device, inputs, query, layer, cache, output, twin);
            compare("poisoned " + shape + " with " + how, inputs.rows, twin, output, faults);
            if (!isFinite(output, 8, POISONED - 30)) {
                faults.add(shape + " with " + how + ": a value reached a row before its position");
            }
        }
    }

    private static void attend(
            CpuDevice device,
            StepInputs inputs,
            Rows query,
            AttentionLayer layer,
            CpuKvCache cache,
            Rows output,
            Rows twin) {
        device.submit(inputs, (operations, _) -> operations.attention(query, layer, cache, output));
        var step = new Step(inputs);
        for (int row = 0; row < inputs.rows; row++) {
            attendScalar(device.machineCode(), step, query, layer, cache, twin, row);
        }
    }

    private static void attendScalar(
            MachineCode code, Step step, Rows query, AttentionLayer layer, CpuKvCache cache, Rows output, int row) {
        int heads = layer.heads().queryHeads();
        if (!code.isThere() || !MachineAttention.takes(cache.groups().get(layer.group()))) {
            ScalarAttention.scalar(step, query, layer, cache, output, row, 0, heads);
            return;
        }
        for (int head = 0; head < heads; head++) {
            ScalarPanelAttention.scalar(code, step, query, layer, cache, output, row, head);
        }
    }

    /** A number of a value that is none; of codes, all of that value are. */
    private void poison(CpuKvCache cache, int pages, Case shape) {
        float[] poison = {Float.POSITIVE_INFINITY, Float.NaN};
        for (int i = 0; i < poison.length; i++) {
            int position = POISONED + i;
            float[] value = numbers(shape.valueSize);
            value[shape.valueSize - 1 - i] = poison[i];
            storeValue(cache, pages - 1 - position / PAGE_TOKENS, 0, position % PAGE_TOKENS, value);
        }
    }

    private static void storeValue(CpuKvCache cache, int page, int head, int token, float[] value) {
        long at = cache.valueAt(0, 0, page, head, token);
        long scalesAt = cache.valueScalesAt(0, 0, page, head, token);
        cache.format(0).store(MemorySegment.ofArray(value), 0, value.length, cache.segment(0), at, scalesAt);
    }

    private static void storeKey(CpuKvCache cache, int page, int head, int token, float[] key) {
        long at = cache.keyAt(0, 0, page, head, token);
        long scalesAt = cache.keyScalesAt(0, 0, page, head, token);
        cache.format(0).store(MemorySegment.ofArray(key), 0, key.length, cache.segment(0), at, scalesAt);
    }

    private static boolean isFinite(Rows rows, int first, int end) {
        for (int i = first * rows.columns(); i < end * rows.columns(); i++) {
            if (!Float.isFinite(CpuBuffer.number(CpuBuffer.of(rows), i))) {
                return false;
            }
        }
        return true;
    }

    private static void compare(String shape, int rows, Rows twin, Rows output, List<String> faults) {
        for (int i = 0; i < rows * output.columns(); i++) {
            float want = CpuBuffer.number(CpuBuffer.of(twin), i);
            float got = CpuBuffer.number(CpuBuffer.of(output), i);
            if (Float.floatToIntBits(want) != Float.floatToIntBits(got)) {
                faults.add(shape + ": number " + i % output.columns() + " of row " + i / output.columns() + " is " + got
                        + ", the twin says " + want);
                return;
            }
        }
    }

    /** A prompt of one sequence, its first 30 tokens computed before, and one token of another. */
    private static StepInputs inputs(StepLimits limits) {
        var inputs = new StepInputs(limits, 1);
        inputs.sequences = 2;
        inputs.rowStart[1] = CONTEXT - 30;
        inputs.rowStart[2] = CONTEXT - 29;
        inputs.contextLength[0] = 30;
        inputs.contextLength[1] = 99;
        inputs.rows = CONTEXT - 29;
        for (int row = 0; row < inputs.rows; row++) {
            inputs.positions[row] = row < CONTEXT - 30 ? 30 + row : 99;
        }
        for (int page = 0; page < inputs.pageTable[0].length; page++) {
            inputs.pageTable[0][page] = inputs.pageTable[0].length - 1 - page;
        }
        return inputs;
    }

    /** What lies behind the positions of a sequence is poison. */
    private void fill(CpuKvCache cache, int pages, Case shape) {
        cache.segment(0).fill((byte) 0xff);
        for (int position = 0; position < CONTEXT; position++) {
            for (int sequence = 0; sequence < 2; sequence++) {
                int page = pages - 1 - (sequence * (pages / 2) + position / PAGE_TOKENS);
                for (int head = 0; head < shape.keyHeads; head++) {
                    storeKey(cache, page, head, position % PAGE_TOKENS, numbers(shape.keySize));
                    storeValue(cache, page, head, position % PAGE_TOKENS, numbers(shape.valueSize));
                }
            }
        }
    }

    private float[] numbers(int count) {
        float[] numbers = new float[count];
        for (int i = 0; i < count; i++) {
            numbers[i] = number();
        }
        return numbers;
    }

    private float number() {
        return (float) random.nextGaussian();
    }
}
