package roselle.cpu.gemm;

import static roselle.cpu.vector.Lanes.COUNT;
import static roselle.cpu.vector.Lanes.FLOATS;

import jdk.incubator.vector.FloatVector;

/**
 * The register-blocked inner product: activation rows times a panel of {@link #WIDTH} weight rows.
 *
 * <p>A panel interleaves its weight rows vector by vector, {@code [k / COUNT][WIDTH][COUNT]}. Each pair of an activation row
 * and a weight row has one vector of partial sums, in the order of k; a product over a part of k leaves those vectors in
 * memory, {@code [HEIGHT][WIDTH][COUNT]}, and the next part goes on from there. How rows fall into tiles and k into parts
 * therefore changes no bit.
 */
public final class Tile {
    /** Activation rows of a tile. */
    static final int HEIGHT = 4;
    /** Weight rows of a panel. */
    static final int WIDTH = 6;

    private Tile() {}

    /** Four activation rows, which begin at {@code r0} to {@code r3} of {@code x}, over {@code count} numbers of k. */
    static void multiply(
            float[] x,
            int r0,
            int r1,
            int r2,
            int r3,
            float[] panel,
            int panelAt,
            int count,
            boolean starts,
            float[] sums,
            int sumsAt) {
        FloatVector s00 = FloatVector.zero(FLOATS);
        FloatVector s01 = s00;
        FloatVector s02 = s00;
        FloatVector s03 = s00;
        FloatVector s04 = s00;
        FloatVector s05 = s00;
        FloatVector s10 = s00;
        FloatVector s11 = s00;
        FloatVector s12 = s00;
        FloatVector s13 = s00;
        FloatVector s14 = s00;
        FloatVector s15 = s00;
        FloatVector s20 = s00;
        FloatVector s21 = s00;
        FloatVector s22 = s00;
        FloatVector s23 = s00;
        FloatVector s24 = s00;
        FloatVector s25 = s00;
        FloatVector s30 = s00;
        FloatVector s31 = s00;
        FloatVector s32 = s00;
        FloatVector s33 = s00;
        FloatVector s34 = s00;
        FloatVector s35 = s00;
        if (!starts) {
            s00 = FloatVector.fromArray(FLOATS, sums, sumsAt);
            s01 = FloatVector.fromArray(FLOATS, sums, sumsAt + COUNT);
            s02 = FloatVector.fromArray(FLOATS, sums, sumsAt + 2 * COUNT);
            s03 = FloatVector.fromArray(FLOATS, sums, sumsAt + 3 * COUNT);
            s04 = FloatVector.fromArray(FLOATS, sums, sumsAt + 4 * COUNT);
            s05 = FloatVector.fromArray(FLOATS, sums, sumsAt + 5 * COUNT);
            s10 = FloatVector.fromArray(FLOATS, sums, sumsAt + 6 * COUNT);
            s11 = FloatVector.fromArray(FLOATS, sums, sumsAt + 7 * COUNT);
            s12 = FloatVector.fromArray(FLOATS, sums, sumsAt + 8 * COUNT);
            s13 = FloatVector.fromArray(FLOATS, sums, sumsAt + 9 * COUNT);
            s14 = FloatVector.fromArray(FLOATS, sums, sumsAt + 10 * COUNT);
            s15 = FloatVector.fromArray(FLOATS, sums, sumsAt + 11 * COUNT);
            s20 = FloatVector.fromArray(FLOATS, sums, sumsAt + 12 * COUNT);
            s21 = FloatVector.fromArray(FLOATS, sums, sumsAt + 13 * COUNT);
            s22 = FloatVector.fromArray(FLOATS, sums, sumsAt + 14 * COUNT);
            s23 = FloatVector.fromArray(FLOATS, sums, sumsAt + 15 * COUNT);
            s24 = FloatVector.fromArray(FLOATS, sums, sumsAt + 16 * COUNT);
            s25 = FloatVector.fromArray(FLOATS, sums, sumsAt + 17 * COUNT);
            s30 = FloatVector.fromArray(FLOATS, sums, sumsAt + 18 * COUNT);
            s31 = FloatVector.fromArray(FLOATS, sums, sumsAt + 19 * COUNT);
            s32 = FloatVector.fromArray(FLOATS, sums, sumsAt + 20 * COUNT);
            s33 = FloatVector.fromArray(FLOATS, sums, sumsAt + 21 * COUNT);
            s34 = FloatVector.fromArray(FLOATS, sums, sumsAt + 22 * COUNT);
            s35 = FloatVector.fromArray(FLOATS, sums, sumsAt + 23 * COUNT);
        }
        for (int i = 0; i < count; i += COUNT) {
            int at = panelAt + i * WIDTH;
            FloatVector w0 = FloatVector.fromArray(FLOATS, panel, at);
            FloatVector w1 = FloatVector.fromArray(FLOATS, panel, at + COUNT);
            FloatVector w2 = FloatVector.fromArray(FLOATS, panel, at + 2 * COUNT);
            FloatVector w3 = FloatVector.fromArray(FLOATS, panel, at + 3 * COUNT);
            FloatVector w4 = FloatVector.fromArray(FLOATS, panel, at + 4 * COUNT);
            FloatVector w5 = FloatVector.fromArray(FLOATS, panel, at + 5 * COUNT);
            FloatVector v = FloatVector.fromArray(FLOATS, x, r0 + i);
            s00 = v.fma(w0, s00);
            s01 = v.fma(w1, s01);
            s02 = v.fma(w2, s02);
            s03 = v.fma(w3, s03);
            s04 = v.fma(w4, s04);
            s05 = v.fma(w5, s05);
            v = FloatVector.fromArray(FLOATS, x, r1 + i);
            s10 = v.fma(w0, s10);
            s11 = v.fma(w1, s11);
            s12 = v.fma(w2, s12);
            s13 = v.fma(w3, s13);
            s14 = v.fma(w4, s14);
            s15 = v.fma(w5, s15);
            v = FloatVector.fromArray(FLOATS, x, r2 + i);
            s20 = v.fma(w0, s20);
            s21 = v.fma(w1, s21);
            s22 = v.fma(w2, s22);
            s23 = v.fma(w3, s23);
            s24 = v.fma(w4, s24);
            s25 = v.fma(w5, s25);
            v = FloatVector.fromArray(FLOATS, x, r3 + i);
            s30 = v.fma(w0, s30);
            s31 = v.fma(w1, s31);
            s32 = v.fma(w2, s32);
            s33 = v.fma(w3, s33);
            s34 = v.fma(w4, s34);
            s35 = v.fma(w5, s35);
        }
        s00.intoArray(sums, sumsAt);
        s01.intoArray(sums, sumsAt + COUNT);
        s02.intoArray(sums, sumsAt + 2 * COUNT);
        s03.intoArray(sums, sumsAt + 3 * COUNT);
        s04.intoArray(sums, sumsAt + 4 * COUNT);
        s05.intoArray(sums, sumsAt + 5 * COUNT);
        s10.intoArray(sums, sumsAt + 6 * COUNT);
        s11.intoArray(sums, sumsAt + 7 * COUNT);
        s12.intoArray(sums, sumsAt + 8 * COUNT);
        s13.intoArray(sums, sumsAt + 9 * COUNT);
        s14.intoArray(sums, sumsAt + 10 * COUNT);
        s15.intoArray(sums, sumsAt + 11 * COUNT);
        s20.intoArray(sums, sumsAt + 12 * COUNT);
        s21.intoArray(sums, sumsAt + 13 * COUNT);
        s22.intoArray(sums, sumsAt + 14 * COUNT);
        s23.intoArray(sums, sumsAt + 15 * COUNT);
        s24.intoArray(sums, sumsAt + 16 * COUNT);
        s25.intoArray(sums, sumsAt + 17 * COUNT);
        s30.intoArray(sums, sumsAt + 18 * COUNT);
        s31.intoArray(sums, sumsAt + 19 * COUNT);
        s32.intoArray(sums, sumsAt + 20 * COUNT);
        s33.intoArray(sums, sumsAt + 21 * COUNT);
        s34.intoArray(sums, sumsAt + 22 * COUNT);
        s35.intoArray(sums, sumsAt + 23 * COUNT);
    }

    /** One activation row; its sums are those of a tile's first row. */
    static void multiplyOne(
            float[] x, int row, float[] panel, int panelAt, int count, boolean starts, float[] sums, int sumsAt) {
        FloatVector s0 = FloatVector.zero(FLOATS);
        FloatVector s1 = s0;
        FloatVector s2 = s0;
        FloatVector s3 = s0;
        FloatVector s4 = s0;
        FloatVector s5 = s0;
        if (!starts) {
            s0 = FloatVector.fromArray(FLOATS, sums, sumsAt);
            s1 = FloatVector.fromArray(FLOATS, sums, sumsAt + COUNT);
            s2 = FloatVector.fromArray(FLOATS, sums, sumsAt + 2 * COUNT);
            s3 = FloatVector.fromArray(FLOATS, sums, sumsAt + 3 * COUNT);
            s4 = FloatVector.fromArray(FLOATS, sums, sumsAt + 4 * COUNT);
            s5 = FloatVector.fromArray(FLOATS, sums, sumsAt + 5 * COUNT);
        }
        for (int i = 0; i < count; i += COUNT) {
            int at = panelAt + i * WIDTH;
            FloatVector v = FloatVector.fromArray(FLOATS, x, row + i);
            s0 = v.fma(FloatVector.fromArray(FLOATS, panel, at), s0);
            s1 = v.fma(FloatVector.fromArray(FLOATS, panel, at + COUNT), s1);
            s2 = v.fma(FloatVector.fromArray(FLOATS, panel, at + 2 * COUNT), s2);
            s3 = v.fma(FloatVector.fromArray(FLOATS, panel, at + 3 * COUNT), s3);
            s4 = v.fma(FloatVector.fromArray(FLOATS, panel, at + 4 * COUNT), s4);
            s5 = v.fma(FloatVector.fromArray(FLOATS, panel, at + 5 * COUNT), s5);
        }
        s0.intoArray(sums, sumsAt);
        s1.intoArray(sums, sumsAt + COUNT);
        s2.intoArray(sums, sumsAt + 2 * COUNT);
        s3.intoArray(sums, sumsAt + 3 * COUNT);
        s4.intoArray(sums, sumsAt + 4 * COUNT);
        s5.intoArray(sums, sumsAt + 5 * COUNT);
    }
}
