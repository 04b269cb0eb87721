package roselle.cpu.gemm;

import roselle.cpu.CpuDevice;
import roselle.cpu.machine.Processor;
import roselle.cpu.machine.amx.AmxInterpreter;
import roselle.cpu.memory.MachineCode;
import roselle.cpu.option.CpuOptions;

/** The CPU with AMX tiles that are interpreted, for processors that have AVX512_BF16 and no tiles. */
public final class InterpretedTiles {
    private InterpretedTiles() {}

    /** Whether all else that the path needs is there. */
    public static boolean arePossible() {
        return Processor.probe().features().contains(Processor.Feature.BF16);
    }

    public static CpuDevice backend(int threads) {
        return backend(CpuOptions.of(threads));
    }

    public static CpuDevice backend(CpuOptions options) {
        AmxInterpreter interpreter = AmxInterpreter.anywhere();
        return new CpuDevice(options, MachineCode.withTiles(options, interpreter.kernels(), "interpreted"));
    }
}
