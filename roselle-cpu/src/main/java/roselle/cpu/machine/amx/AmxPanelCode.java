package roselle.cpu.machine.amx;

import static roselle.cpu.machine.assembler.Operand.at;
import static roselle.cpu.machine.panel.PanelDecoder.CODES;
import static roselle.cpu.machine.panel.PanelDecoder.EVEN;
import static roselle.cpu.machine.panel.PanelDecoder.MINIMA;
import static roselle.cpu.machine.panel.PanelDecoder.SCALES;

import roselle.cpu.machine.assembler.Assembler;
import roselle.cpu.machine.assembler.Assembler.Label;
import roselle.cpu.machine.assembler.Opcode;
import roselle.cpu.machine.assembler.Operand.General;
import roselle.cpu.machine.panel.Constants;
import roselle.cpu.machine.panel.Panel;
import roselle.cpu.machine.panel.PanelDecoder;

/**
 * Writes what makes panels of bfloat16, as tiles read them, of panels with scales.
 *
 * <p>Formula: that of {@link PanelDecoder}, rounded once more. A tile sums 32 products before anyone could scale them, so
 * that the scale has to be in the weight. The target is {@link Panel#BFLOAT16}, of so many units of k from those that the
 * source begins with.
 */
final class AmxPanelCode implements PanelDecoder.Pairs {
    /** The addresses of the codes, scales and minima of a panel's first unit; the code leaves those of the next panel. */
    static final int CODES_FROM = 0;

    static final int SCALES_FROM = 8;
    static final int MINIMA_FROM = 16;

    /** The address of the first panel to write; the code leaves that of the panel after its last. */
    static final int TARGET = 24;

    static final int UNITS = 32;
    static final int PANELS = 40;

    /** Bytes from a panel to the next. */
    static final int PANEL_BYTES = 48;

    static final int TARGET_PANEL_BYTES = 56;

    /** The address of {@link Constants}. */
    static final int CONSTANTS = 64;

    static final int SIZE = 72;

    private static final int LINE = 64;

    private static final General ARGUMENTS = General.RDI;
    private static final General TO = General.R8;
    private static final General UNITS_LEFT = General.R9;
    private static final General PANELS_LEFT = General.R10;
    private static final General OTHER = General.R11;

    private final Assembler code = new Assembler();
    private final Panel panel;
    private final PanelDecoder decoder;

    private AmxPanelCode(Panel panel) {
        this.panel = panel;
        decoder = new PanelDecoder(code, panel, this);
    }

    /** The code for panels of a kind that has scales. */
    static byte[] of(Panel panel) {
        var writer = new AmxPanelCode(panel);
        writer.routine();
        return writer.code.bytes();
    }

    private void routine() {
        code.load(OTHER, at(ARGUMENTS, CONSTANTS));
        decoder.constants(OTHER);
        code.load(PANELS_LEFT, at(ARGUMENTS, PANELS));
        Label next = code.here();
        code.load(CODES, at(ARGUMENTS, CODES_FROM));
        code.load(SCALES, at(ARGUMENTS, SCALES_FROM));
        code.load(MINIMA, at(ARGUMENTS, MINIMA_FROM));
        code.load(TO, at(ARGUMENTS, TARGET));
        code.load(UNITS_LEFT, at(ARGUMENTS, UNITS));
        Label nextUnit = code.here();
        decoder.unit();
        code.add(UNITS_LEFT, -1);
        code.jumpIfNotZero(nextUnit);
        code.load(OTHER, at(ARGUMENTS, PANEL_BYTES));
        advance(CODES_FROM);
        advance(SCALES_FROM);
        advance(MINIMA_FROM);
        code.load(OTHER, at(ARGUMENTS, TARGET_PANEL_BYTES));
        advance(TARGET);
        code.add(PANELS_LEFT, -1);
        code.jumpIfNotZero(next);
        code.ret();
    }

    private void advance(int argument) {
        code.load(TO, at(ARGUMENTS, argument));
        code.add(TO, OTHER);
        code.store(at(ARGUMENTS, argument), TO);
    }

    @Override
    public void pair(int pair) {
        decoder.round();
        code.emit(Opcode.VMOVUPS_STORE, at(TO, pair * LINE), EVEN);
    }

    @Override
    public void endBlock(int block) {
        code.add(TO, panel.block() / 2 * LINE);
    }
}
