package roselle.cpu.adapter;

import static java.lang.foreign.ValueLayout.JAVA_FLOAT;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.List;
import roselle.backend.memory.LowRank;
import roselle.cpu.vector.Lanes;
import roselle.tensor.Dequantizer;

/**
 * All that an adapter adds to one weight, as float32: the rows that shrink, one below the other, and tiles of outputs that expand.
 *
 * <p>Fused matrices have a part each, with a rank of its own. A tile is {@code [rank, TILE]}, padded with zeros, so that a vector of
 * outputs meets one vector for each number of the shrunk row.
 */
final class Addition {
    /** Outputs of a tile. */
    static final int TILE = 4 * Lanes.COUNT;

    final int ranks; // of all parts together
    final int inputs;
    final int stride; // of a row of shrink
    final MemorySegment shrink; // [ranks, stride]
    final float[] scale; // [ranks]
    final int tiles;
    final int[] tileOutput; // [tiles], the first
    final int[] tileOutputs; // [tiles]
    final int[] tileRank; // [tiles]
    final int[] tileFrom; // [tiles], where in a shrunk row its numbers begin
    final long[] tileAt; // [tiles], the number of expand at which it begins
    final MemorySegment expand;

    Addition(List<LowRank> parts, Arena arena) {
        inputs = parts.getFirst().inputs();
        stride = Lanes.padded(inputs);
        ranks = parts.stream().mapToInt(LowRank::rank).sum();
        tiles = parts.stream().mapToInt(part -> tiles(part.outputs())).sum();
        scale = new float[ranks];
        tileOutput = new int[tiles];
        tileOutputs = new int[tiles];
        tileRank = new int[tiles];
        tileFrom = new int[tiles];
        tileAt = new long[tiles];
        long expanded = 0;
        for (LowRank part : parts) {
            expanded += (long) tiles(part.outputs()) * part.rank() * TILE;
        }
        shrink = arena.allocate((long) ranks * stride * Float.BYTES, 64);
        expand = arena.allocate(expanded * Float.BYTES, 64);
        fill(parts);
    }

    private static int tiles(int outputs) {
        return (outputs + TILE - 1) / TILE;
    }

    long bytes() {
        return shrink.byteSize() + expand.byteSize();
    }

    private void fill(List<LowRank> parts) {
        int rank = 0;
        int tile = 0;
        long at = 0;
        var row = new float[inputs];
        for (LowRank part : parts) {
            for (int j = 0; j < part.rank(); j++) {
                Dequantizer.row(part.shrink(), j, row, 0);
                MemorySegment.copy(row, 0, shrink, JAVA_FLOAT, (long) (rank + j) * stride * Float.BYTES, inputs);
                scale[rank + j] = part.scale();
            }
            for (int first = 0; first < part.outputs(); first += TILE) {
                tileOutput[tile] = part.firstOutput() + first;
                tileOutputs[tile] = Math.min(TILE, part.outputs() - first);
                tileRank[tile] = part.rank();
                tileFrom[tile] = rank;
                tileAt[tile] = at;
                fillTile(part, first, tileOutputs[tile++], at);
                at += (long) part.rank() * TILE;
            }
            rank += part.rank();
        }
    }

    private void fillTile(LowRank part, int first, int outputs, long at) {
        var row = new float[part.rank()];
        for (int output = 0; output < outputs; output++) {
            Dequantizer.row(part.expand(), part.order().applyAsInt(first + output), row, 0);
            for (int j = 0; j < row.length; j++) {
                expand.setAtIndex(JAVA_FLOAT, at + (long) j * TILE + output, row[j]);
            }
        }
    }
}
