package roselle.model.adapter;

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

    /** The pairs by module; a tensor that belongs to none is refused. */
    SequencedMap<String, Both> pairs(Checkpoint files) {
        SequencedMap<String, Both> pairs = new LinkedHashMap<>();
        for (Tensor tensor : files.tensors().values()) {
            String name = tensor.name();
            if (isOf(name, shrinkEnding)) {
                String module = module(name, shrinkEnding);
                pairs.put(module, new Both(checked(files, tensor), checked(files, other(files, module, expandEnding))));
            } else if (isOf(name, expandEnding)) {
                other(files, module(name, expandEnding), shrinkEnding);
            } else {
                throw new CheckpointException(
                        files.source() + ": tensor " + name + " is no matrix of a low-rank pair: "
                                + "whole weights (modules_to_save), biases, embeddings and magnitudes (DoRA) are not supported: merge the adapter into its model (roselle merge)");
            }
        }
        if (pairs.isEmpty()) {
            throw new CheckpointException(files.source() + " has no tensor: it is no adapter");
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

    private static Tensor checked(Checkpoint files, Tensor tensor) {
        if (tensor.shape().rank() != 2 || !tensor.type().isFloating()) {
            throw new CheckpointException(files.source() + ": tensor " + tensor.name() + " is "
                    + tensor.type().label() + " " + tensor.shape() + ", expected a matrix of floats");
        }
        return tensor;
    }

    /** The rank of a pair, which both matrices have. */
    static int rank(Checkpoint files, Map.Entry<String, Both> pair) {
        long rank = pair.getValue().shrink().shape().rows();
        long other = pair.getValue().expand().shape().columns();
        if (rank != other || rank < 1 || rank > AdapterFiles.MAX_RANK) {
            throw new CheckpointException(files.source() + ": the matrices of " + pair.getKey() + " are "
                    + pair.getValue().expand().shape() + " and "
                    + pair.getValue().shrink().shape() + ", expected one rank for both, of at most "
                    + AdapterFiles.MAX_RANK);
        }
        return (int) rank;
    }
}
