package roselle.model.adapter;

import java.util.List;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import roselle.tensor.Tensor;

/** What an adapter has for a module of its model, which is named as the model's checkpoint names it, without {@code .weight}. */
sealed interface StoredPart {
    String module();

    /** What of it is read. */
    List<Tensor> tensors();

    /**
     * The two matrices of a product.
     *
     * @param shrink {@code [rank, inputs]}
     * @param expand {@code [outputs, rank]}
     */
    record Pair(String module, Tensor shrink, Tensor expand, float scale) implements StoredPart {
        @Override
        public List<Tensor> tensors() {
            return List.of(shrink, expand);
        }
    }

    /**
     * The two matrices of an embedding.
     *
     * @param shrink {@code [rank, tokens]}
     * @param expand {@code [width, rank]}
     */
    record TablePair(String module, Tensor shrink, Tensor expand, float scale) implements StoredPart {
        @Override
        public List<Tensor> tensors() {
            return List.of(shrink, expand);
        }
    }

    /**
     * The matrices of all experts of a layer: those that shrink one below the other, and of those that expand the columns of all experts
     * beside each other for each rank.
     *
     * @param module with the parameter behind it
     * @param shrink {@code [experts * rank, inputs]}
     * @param expand {@code [outputs, rank * experts]}
     * @param isTurned whether inputs and outputs are certainly the right way round, as they were not in PEFT's first versions
     */
    record ExpertPairs(String module, Tensor shrink, Tensor expand, int rank, float scale, boolean isTurned)
            implements StoredPart {
        @Override
        public List<Tensor> tensors() {
            return List.of(shrink, expand);
        }
    }

    /** A matrix in the place of the model's, and the bias behind it. */
    record Whole(String module, Tensor matrix, @Nullable Tensor bias) implements StoredPart {
        @Override
        public List<Tensor> tensors() {
            return bias == null ? List.of(matrix) : List.of(matrix, bias);
        }
    }

    /**
     * The model's own matrix, or bias, which PEFT writes beside what adds to an embedding or to logits.
     *
     * @param ending behind the module, in the model's name of it
     */
    record Original(String module, String ending, Tensor numbers) implements StoredPart {
        @Override
        public List<Tensor> tensors() {
            return List.of();
        }
    }

    /** The rank of a part; 0 where it has none. */
    default int rank() {
        return switch (this) {
            case Pair pair -> Math.toIntExact(pair.shrink.shape().rows());
            case TablePair pair -> Math.toIntExact(pair.shrink.shape().rows());
            case ExpertPairs pairs -> pairs.rank;
            case Whole _, Original _ -> 0;
        };
    }

    /** Numbers of all parts. */
    static long elements(List<StoredPart> parts) {
        Stream<Tensor> tensors = parts.stream().flatMap(part -> part.tensors().stream());
        return tensors.mapToLong(tensor -> tensor.shape().elements()).sum();
    }
}
