package roselle.cuda;

/** Where the machine code of kernels comes from. */
@FunctionalInterface
interface Cubins {
    /** The machine code of a source for an architecture such as {@code sm_90a}. */
    byte[] cubin(KernelSource source, String architecture);
}
