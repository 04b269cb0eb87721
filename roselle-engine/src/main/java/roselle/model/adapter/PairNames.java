package roselle.model.adapter;

import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.SequencedMap;
import roselle.api.CheckpointException;
import roselle.checkpoint.Checkpoint;
import roselle.tensor.Tensor;

/**
 * How the tensors of an adapter's format are named.
 *
 * @param prefix before the module, or empty
 * @param shrinkEnding behind the module, of the first matrix
 * @param expandEnding the same of the second
 */
record PairNames(String prefix, String shrinkEnding, String expandEnding) {
    /** Both matrices of a module, of which a torn file has one. */
    record Both(Tensor shrink, Tensor expand) {}

    /** The pairs of these tensors by module; a tensor that belongs to none is refused. */
    SequencedMap<String, Both> pairs(Checkpoint files, Collection<Tensor> tensors) {
        SequencedMap<String, Both> pairs = new LinkedHashMap<>();
        for (Tensor tensor : tensors) {
            String name = tensor.name();
            if (isOf(name, shrinkEnding)) {
                String module = module(name, shrinkEnding);
                pairs.put(module, new Both(checked(files, tensor), checked(files, other(files, module, expandEnding))));
            } else if (isOf(name, expandEnding)) {
                other(files, module(name, expandEnding), shrinkEnding);
            } else {
                throw new CheckpointException(
                        files.source() + ": tensor " + name + " is no matrix of a low-rank pair: "
                                + "biases, magnitudes (DoRA), single tokens, and whole weights that modules_to_save does not name are not supported: merge the adapter into its model (roselle merge)");
            }
        }
        return pairs;
    }

    private boolean isOf(String name, String ending) {
        return name.startsWith(prefix) && name.endsWith(ending) && name.length() > prefix.length() + ending.length();
    }

    private String module(String name, String ending) {
        return name.substring(prefix.length(), name.length() - ending.length());
    }

    private Tensor other(Checkpoint files, String module, String ending) {
        Tensor tensor = files.tensors().get(prefix + module + ending);
        if (tensor == null) {
            throw new CheckpointException(files.source() + ": tensor " + prefix + module + ending
                    + " is missing; the adapter is not complete");
        }
        return tensor;
    }

    static Tensor checked(Checkpoint files, Tensor tensor) {
        if (tensor.shape().rank() != 2 || !tensor.type().isFloating()) {
            throw mistyped(files, tensor, "a matrix");
        }
        return tensor;
    }

    /** A vector of floats. */
    static Tensor floats(Checkpoint files, Tensor tensor) {
        if (tensor.shape().rank() != 1 || !tensor.type().isFloating()) {
            throw mistyped(files, tensor, "a vector");
        }
        return tensor;
    }

    private static CheckpointException mistyped(Checkpoint files, Tensor tensor, String expected) {
        return new CheckpointException(files.source() + ": tensor " + tensor.name() + " is "
                + tensor.type().label() + " " + tensor.shape() + ", expected " + expected + " of floats");
    }

    /** The rank of a pair, which both matrices have. */
    static int rank(Checkpoint files, Map.Entry<String, Both> pair) {
        return rank(files, pair.getKey(), pair.getValue(), 1);
    }

    /** The rank of each of so many pairs in two matrices. */
    static int rank(Checkpoint files, String module, Both pair, int count) {
        long ranks = pair.shrink().shape().rows();
        long rank = ranks / count;
        if (ranks != pair.expand().shape().columns()
                || rank * count != ranks
                || rank < 1
                || rank > AdapterFiles.MAX_RANK) {
            throw new CheckpointException(files.source() + ": the matrices of " + module + " are "
                    + pair.expand().shape() + " and " + pair.shrink().shape()
                    + ", expected one rank for both, of at most " + AdapterFiles.MAX_RANK);
        }
        return (int) rank;
    }
}
