package roselle.cpu.machine.gemm;

import static roselle.cpu.machine.assembler.Operand.at;
import static roselle.cpu.machine.gemm.GemmRegisters.BLOCKS_LEFT;
import static roselle.cpu.machine.gemm.GemmRegisters.CODES;
import static roselle.cpu.machine.gemm.GemmRegisters.OTHER;
import static roselle.cpu.machine.gemm.GemmRegisters.SCALES;
import static roselle.cpu.machine.gemm.GemmRegisters.UNITS_LEFT;
import static roselle.cpu.machine.gemm.GemmRegisters.argument;

import roselle.cpu.machine.assembler.Assembler;
import roselle.cpu.machine.assembler.Assembler.Label;
import roselle.cpu.machine.panel.Panel;

/** Writes a product's way over a panel, whatever its vectors: over units of k, over a unit's blocks, and over the minima. */
final class PanelWalk {
    /** What is written for a block. */
    interface Block {
        /**
         * Uses the codes that {@code CODES} points to, and moves on to the next; {@code SCALES} points to the block's scales
         * or, where those of the unit are factors of them, to its own factors, and {@code OTHER} to the unit's.
         */
        void write(boolean hasFactors);
    }

    private static final int FACTORS_AT = Panel.OUTPUTS * Short.BYTES;

    private final Assembler code;
    private final Panel panel;

    PanelWalk(Assembler code, Panel panel) {
        this.code = code;
        this.panel = panel;
    }

    /** Goes over all of k, from the panel on that {@code CODES} points to. */
    void units(Block block) {
        code.move(SCALES, CODES);
        code.load(OTHER, argument(Arguments.SCALES_AT));
        code.add(SCALES, OTHER);
        code.load(UNITS_LEFT, argument(Arguments.UNITS));
        Label next = code.here();
        unit(block);
        code.add(UNITS_LEFT, -1);
        code.jumpIfNotZero(next);
    }

    private void unit(Block block) {
        if (panel.blocks() == 1) {
            block.write(false);
            code.add(SCALES, panel.scaleBytes());
            return;
        }
        code.address(OTHER, at(SCALES, 0));
        code.add(SCALES, FACTORS_AT);
        code.set(BLOCKS_LEFT, panel.blocks());
        Label next = code.here();
        block.write(true);
        code.add(SCALES, Panel.OUTPUTS);
        code.add(BLOCKS_LEFT, -1);
        code.jumpIfNotZero(next);
    }

    /** What is written for the minima of a unit's block, whose factors are some bytes from where {@code SCALES} points to. */
    interface Minima {
        void write(int block, int factorsAt);
    }

    /** Goes over the minima of all units, and calls for more after each. */
    void minima(Minima minima, Runnable afterUnit) {
        code.load(SCALES, argument(Arguments.WEIGHTS));
        code.load(OTHER, argument(Arguments.MINIMA_AT));
        code.add(SCALES, OTHER);
        code.load(UNITS_LEFT, argument(Arguments.UNITS));
        Label next = code.here();
        code.address(OTHER, at(SCALES, 0));
        for (int b = 0; b < panel.blocks(); b++) {
            minima.write(b, FACTORS_AT + b * Panel.OUTPUTS);
        }
        code.add(SCALES, panel.minimumBytes());
        afterUnit.run();
        code.add(UNITS_LEFT, -1);
        code.jumpIfNotZero(next);
    }
}
