package roselle.cpu.machine;

/** The instructions that kernels are made of. */
public enum InstructionSet {
    /** Vectors of 256 bits, with FMA: float32 and bytes. */
    AVX2,
    /** Vectors of 512 bits. */
    AVX512
}
