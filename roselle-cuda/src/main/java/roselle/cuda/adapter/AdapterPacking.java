package roselle.cuda.adapter;

import static java.lang.foreign.ValueLayout.JAVA_FLOAT;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_SHORT;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.TreeMap;
import roselle.backend.memory.LowRank;
import roselle.backend.memory.Weight;
import roselle.cuda.kernel.Launcher;
import roselle.cuda.kernel.PackedTiles;
import roselle.cuda.layout.AddedPartLayout;
import roselle.cuda.memory.CudaAdapter;
import roselle.tensor.DataType;
import roselle.tensor.Dequantizer;

/** Puts an adapter's matrices together as {@code low_rank.cu} reads them: a list of weights, their parts, the numbers. */
final class AdapterPacking {
    /** Outputs of a block that expands. */
    static final int TILE = 256;

    private static final int GROUP = 8; // numbers that rows are filled up to, and that a thread expands
    private static final int ALIGNMENT = 16;
    private static final int MAX_TILE_RANKS = 16; // of a part that a product's kernel adds

    private final DataType type;
    private final TreeMap<Integer, List<LowRank>> byIndex = new TreeMap<>();
    private final MemorySegment packed;
    private long at; // where the next matrix begins

    private AdapterPacking(List<LowRank> matrices, DataType type, AdaptedWeights weights) {
        this.type = type;
        var byWeight = new IdentityHashMap<Weight, List<LowRank>>();
        for (LowRank each : matrices) {
            byWeight.computeIfAbsent(each.weight(), _ -> new ArrayList<>()).add(each);
        }
        byWeight.forEach((weight, parts) -> byIndex.put(weights.note(weight, needs(parts)), parts));
        at = partsAt() + matrices.size() * AddedPartLayout.BYTES;
        packed = Arena.ofAuto().allocate(at + numberBytes(), ALIGNMENT);
        fill();
    }

    static CudaAdapter pack(List<LowRank> matrices, DataType type, AdaptedWeights weights) {
        return new CudaAdapter(new AdapterPacking(matrices, type, weights).packed);
    }

    private static AdaptedWeights.Needs needs(List<LowRank> parts) {
        return new AdaptedWeights.Needs(ranks(parts), tiles(parts), areEights(parts), areTiles(parts));
    }

    private static int ranks(List<LowRank> parts) {
        return parts.stream().mapToInt(LowRank::rank).sum();
    }

    private static int tiles(List<LowRank> parts) {
        return parts.stream()
                .mapToInt(part -> Launcher.cover(part.outputs(), TILE))
                .sum();
    }

    private static boolean areEights(List<LowRank> parts) {
        return parts.stream().allMatch(part -> part.firstOutput() % GROUP == 0 && part.outputs() % GROUP == 0);
    }

    /** Whether each tile of a packed weight is of one part, as {@code linear_adapted_hopper.cu} has it. */
    private static boolean areTiles(List<LowRank> parts) {
        List<LowRank> sorted = parts.stream()
                .sorted(Comparator.comparingInt(LowRank::firstOutput))
                .toList();
        int end = 0;
        for (LowRank part : sorted) {
            if (part.firstOutput() < end
                    || part.firstOutput() % PackedTiles.TILE != 0
                    || part.outputs() % GROUP != 0
                    || part.rank() > MAX_TILE_RANKS) {
                return false;
            }
            end = part.firstOutput() + part.outputs();
        }
        return true;
    }

    /** Weights up to the last one that it adds to. */
    private int weights() {
        return byIndex.isEmpty() ? 0 : byIndex.lastKey() + 1;
    }

    private long partsAt() {
        return aligned((weights() + 2L) * Integer.BYTES);
    }

    private static long aligned(long bytes) {
        return (bytes + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
    }

    private static int filledUp(int numbers) {
        return (numbers + GROUP - 1) / GROUP * GROUP;
    }

    private long numberBytes() {
        long bytes = 0;
        for (List<LowRank> parts : byIndex.values()) {
            for (LowRank part : parts) {
                bytes += part.rank() * type.rowBytes(filledUp(part.inputs()) + (long) filledUp(part.outputs()));
            }
        }
        return bytes;
    }

    private void fill() {
        packed.setAtIndex(JAVA_INT, 0, weights());
        int parts = 0;
        for (int index = 0; index < weights(); index++) {
            packed.setAtIndex(JAVA_INT, 1L + index, parts);
            parts += byIndex.getOrDefault(index, List.of()).size();
        }
        packed.setAtIndex(JAVA_INT, 1L + weights(), parts);
        int part = 0;
        for (List<LowRank> ofWeight : byIndex.values()) {
            var structs = new ArrayList<MemorySegment>();
            int firstRank = 0;
            for (LowRank each : ofWeight) { // what shrinks lies together
                MemorySegment struct =
                        packed.asSlice(partsAt() + part++ * AddedPartLayout.BYTES, AddedPartLayout.BYTES);
                describe(each, firstRank, struct);
                AddedPartLayout.SHRINK.set(struct, at);
                shrink(each);
                firstRank += each.rank();
                structs.add(struct);
            }
            for (int i = 0; i < structs.size(); i++) {
                AddedPartLayout.EXPAND.set(structs.get(i), at);
                expand(ofWeight.get(i));
            }
        }
    }

    private static void describe(LowRank part, int firstRank, MemorySegment struct) {
        AddedPartLayout.FIRST_OUTPUT.set(struct, part.firstOutput());
        AddedPartLayout.OUTPUTS.set(struct, part.outputs());
        AddedPartLayout.FIRST_RANK.set(struct, firstRank);
        AddedPartLayout.RANK.set(struct, part.rank());
        AddedPartLayout.STRIDE.set(struct, filledUp(part.inputs()));
        AddedPartLayout.WIDTH.set(struct, filledUp(part.outputs()));
        AddedPartLayout.SCALE.set(struct, part.scale());
    }

    private void shrink(LowRank part) {
        var row = new float[filledUp(part.inputs())];
        for (int j = 0; j < part.rank(); j++) {
            Dequantizer.row(part.shrink(), j, row, 0);
            put(row, row.length);
        }
    }

    private void expand(LowRank part) {
        int width = filledUp(part.outputs());
        var turned = new float[part.rank()][width];
        var row = new float[part.rank()];
        for (int output = 0; output < part.outputs(); output++) {
            Dequantizer.row(part.expand(), part.order().applyAsInt(output), row, 0);
            for (int j = 0; j < row.length; j++) {
                turned[j][output] = row[j];
            }
        }
        for (float[] each : turned) {
            put(each, width);
        }
    }

    private void put(float[] numbers, int count) {
        switch (type) {
            case F32 -> MemorySegment.copy(numbers, 0, packed, JAVA_FLOAT, at, count);
            case F16 -> {
                for (int i = 0; i < count; i++) {
                    packed.set(JAVA_SHORT, at + 2L * i, Float.floatToFloat16(numbers[i]));
                }
            }
            case BF16 -> {
                for (int i = 0; i < count; i++) {
                    packed.set(JAVA_SHORT, at + 2L * i, bfloat16(numbers[i]));
                }
            }
            default -> throw new IllegalStateException("rows are never " + type.label());
        }
        at += type.rowBytes(count);
    }

    /** Rounded to nearest, ties to even. */
    private static short bfloat16(float number) {
        int bits = Float.floatToIntBits(number);
        return (short) (Float.isNaN(number) ? 0x7FC0 : (bits + 0x7FFF + ((bits >>> 16) & 1)) >>> 16);
    }
}
