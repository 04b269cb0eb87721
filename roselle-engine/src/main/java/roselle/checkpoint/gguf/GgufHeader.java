package roselle.checkpoint.gguf;

import java.util.List;
import java.util.SequencedMap;
import roselle.checkpoint.file.TensorPlace;

/**
 * What stands before the tensors of a GGUF file.
 *
 * @param metadata where each key's value lies
 * @param tensors in file order
 */
record GgufHeader(SequencedMap<String, GgufEntry> metadata, List<TensorPlace> tensors) {}
