package roselle.checkpoint;

import java.util.List;
import java.util.SequencedMap;

/**
 * What stands before the tensors of a GGUF file.
 *
 * @param metadata where each key's value lies
 * @param tensors in file order
 */
record GgufHeader(SequencedMap<String, GgufEntry> metadata, List<TensorPlace> tensors) {}
