package roselle.checkpoint.conversion;

import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import java.util.function.LongUnaryOperator;
import roselle.api.CheckpointException;
import roselle.checkpoint.Checkpoint;
import roselle.checkpoint.Metadata;
import roselle.checkpoint.gguf.GgufMetadata;
import roselle.tensor.Dequantizer;
import roselle.tensor.Tensor;

/**
 * Makes of a Hugging Face folder what llama.cpp's {@code convert_hf_to_gguf.py} makes of it: names, keys, tokenizer; for Llama and
 * Mistral the rows of queries and keys such that the pairs that turn together lie side by side; for Gemma norms with the 1 that its
 * code adds.
 *
 * <p>Vectors become float32; matrices stay as they lie, their rows in another order only when they are read.
 */
final class FolderConversion {
    private final Checkpoint folder;
    private final Metadata config;
    private final Family family;
    private final FamilyKeys keys;

    private FolderConversion(Checkpoint folder) {
        this.folder = folder;
        config = folder.config();
        family = Family.of(config.string("model_type"), config.origin());
        keys = new FamilyKeys(folder, family);
    }

    static GgufModel of(Checkpoint folder) {
        return new FolderConversion(folder).model();
    }

    private GgufModel model() {
        if (config.has("quantization_config") || folder.modelOptConfig().isPresent()) {
            throw new CheckpointException(
                    config.origin() + " says that the model is quantized; begin with one of f32, f16 or bf16 tensors");
        }
        var tensors = new ArrayList<>(keys.ropeFactors());
        for (Tensor tensor : folder.tensors().values()) {
            if (!isUnread(tensor.name())) {
                tensors.add(converted(tensor));
            }
        }
        long numbers = tensors.stream()
                .mapToLong(tensor -> tensor.tensor().shape().elements())
                .sum();
        byte[] header = keys.write(numbers, vocabularySize(tensors)).toBytes();
        GgufMetadata metadata = GgufMetadata.of(folder.source(), MemorySegment.ofArray(header));
        return new GgufModel(folder, metadata, tensors);
    }

    /** Buffers of old releases, and an output of its own where it is the embedding again. */
    private boolean isUnread(String name) {
        boolean isTied = config.flag("tie_word_embeddings", family.normOffset() != 0); // Gemma's are unless it is said
        return name.endsWith(".rotary_emb.inv_freq")
                || name.endsWith(".attention.masked_bias")
                || (isTied && name.equals("lm_head.weight"));
    }

    private SourceTensor converted(Tensor tensor) {
        String name = family.name(tensor.name())
                .orElseThrow(() -> new CheckpointException(folder.source() + ": tensor " + tensor.name()
                        + " is none that models of type " + config.string("model_type") + " are known to have"));
        if (!tensor.type().isFloating() || tensor.type().isQuantized()) {
            throw new CheckpointException(folder.source() + ": tensor " + tensor.name() + " is "
                    + tensor.type().label() + ", expected f32, f16 or bf16");
        }
        boolean isNorm = name.endsWith("_norm.weight");
        if (tensor.shape().rank() > 1 && !isNorm) {
            return new SourceTensor(
                    new Tensor(name, tensor.type(), tensor.shape(), tensor.data()),
                    order(name, tensor.shape().rows()));
        }
        float[] stored = Dequantizer.all(tensor);
        var numbers = new float[stored.length];
        LongUnaryOperator order = order(name, numbers.length);
        for (int i = 0; i < numbers.length; i++) {
            numbers[i] = stored[(int) order.applyAsLong(i)] + (isNorm ? family.normOffset() : 0);
        }
        return SourceTensor.ofVector(name, numbers);
    }

    private LongUnaryOperator order(String name, long rows) {
        if (!family.interleavesHeads() || !(name.contains(".attn_q.") || name.contains(".attn_k."))) {
            return SourceTensor.AS_STORED;
        }
        int heads = name.contains(".attn_q.") ? keys.heads() : keys.keyHeads();
        if (rows % (2L * heads) != 0) {
            throw new CheckpointException(folder.source() + ": " + name + " has " + rows
                    + " rows, which are no even rows for each of " + heads + " heads");
        }
        long half = rows / heads / 2;
        return row -> row / (2 * half) * (2 * half) + row % 2 * half + row % (2 * half) / 2;
    }

    private int vocabularySize(List<SourceTensor> tensors) {
        return tensors.stream()
                .map(SourceTensor::tensor)
                .filter(tensor -> tensor.name().equals("token_embd.weight"))
                .findFirst()
                .map(tensor -> Math.toIntExact(tensor.shape().rows()))
                .orElseThrow(() -> new CheckpointException(
                        folder.source() + " has no tensor model.embed_tokens.weight: it holds no whole decoder"));
    }
}
