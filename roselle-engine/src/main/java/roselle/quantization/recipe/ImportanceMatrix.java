package roselle.quantization.recipe;

import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.SequencedMap;
import roselle.api.CheckpointException;
import roselle.checkpoint.Checkpoint;
import roselle.checkpoint.Metadata;
import roselle.tensor.Dequantizer;
import roselle.tensor.Tensor;

/**
 * How much each column of a model's matrices matters: the mean square of what it is multiplied with, over some text. The form is
 * llama.cpp's: a GGUF with {@code X.in_sum2} and {@code X.counts} for each matrix {@code X}, or each stack of matrices.
 */
public final class ImportanceMatrix {
    static final String SUMS = ".in_sum2";
    static final String COUNTS = ".counts";

    private final String origin;
    private final Map<String, float[]> means; // [matrices, columns]
    private final List<String> datasets;
    private final int chunks;

    private ImportanceMatrix(String origin, Map<String, float[]> means, List<String> datasets, int chunks) {
        this.origin = origin;
        this.means = means;
        this.datasets = datasets;
        this.chunks = chunks;
    }

    /** Reads a file that is open. */
    public static ImportanceMatrix of(Checkpoint file) {
        Metadata config = file.config();
        String type = config.string("general.type", "model");
        if (!type.equals("imatrix")) {
            throw new CheckpointException(
                    file.source() + ": general.type is " + type + ", expected imatrix; make one with roselle imatrix");
        }
        SequencedMap<String, float[]> means = new LinkedHashMap<>();
        for (Tensor sums : file.tensors().values()) {
            if (sums.name().endsWith(SUMS)) {
                String name = sums.name().substring(0, sums.name().length() - SUMS.length());
                means.put(name, means(file, sums, file.tensor(name + COUNTS)));
            }
        }
        List<String> datasets = config.has("imatrix.datasets") ? config.strings("imatrix.datasets") : List.of();
        return new ImportanceMatrix(
                file.source().toString(), means, datasets, config.integer("imatrix.chunk_count", 0));
    }

    private static float[] means(Checkpoint file, Tensor sums, Tensor counts) {
        float[] numbers = Dequantizer.all(sums);
        float[] counted = Dequantizer.all(counts);
        int columns = Math.toIntExact(sums.shape().columns());
        if (counted.length != sums.shape().rows()) {
            throw new CheckpointException(file.source() + ": tensor " + counts.name() + " has " + counted.length
                    + " counts for " + sums.shape().rows() + " matrices");
        }
        for (int i = 0; i < numbers.length; i++) {
            float count = counted[i / columns];
            numbers[i] = count > 0 ? numbers[i] / count : 1; // an expert that nothing came to
            if (!(numbers[i] >= 0 && numbers[i] < Float.POSITIVE_INFINITY)) {
                throw new CheckpointException(file.source() + ": tensor " + sums.name() + " has the mean square "
                        + numbers[i] + " at " + i + "; mean squares are finite and not negative");
            }
        }
        return numbers;
    }

    /** The file. */
    public String origin() {
        return origin;
    }

    /** The texts that were read. */
    List<String> datasets() {
        return datasets;
    }

    /** Pieces of text that were read. */
    int chunks() {
        return chunks;
    }

    /** Matrices that it knows. */
    public int matrices() {
        return means.size();
    }

    /** Of a tensor, {@code [matrices, columns]}; empty where nothing is known of it. */
    Optional<float[]> of(PlannedTensor tensor) {
        float[] found = means.get(tensor.name());
        if (found == null) {
            return Optional.empty();
        }
        long expected = tensor.shape().columns() * ConversionPlan.matricesOf(tensor.shape());
        if (found.length != expected) {
            throw new CheckpointException(origin + ": " + tensor.name() + " has " + found.length
                    + " columns, the model " + expected + "; it was made from another model");
        }
        return Optional.of(found);
    }
}
