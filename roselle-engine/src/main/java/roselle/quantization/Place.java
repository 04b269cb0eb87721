package roselle.quantization;

/** Where a matrix's scales or offsets lie. */
public sealed interface Place {
    /** There are none. */
    record Nowhere() implements Place {}

    /** Beside the codes of their group, in blocks of one tensor; so many bits each. */
    record InBlocks(int bits) implements Place {}

    /** In a tensor of their own, whose name is that of the codes with an ending. */
    record OwnTensor(String ending) implements Place {}
}
