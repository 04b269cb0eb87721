package roselle.model.adapter;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import roselle.api.CheckpointException;
import roselle.checkpoint.Checkpoint;
import roselle.checkpoint.Metadata;

/** A GGUF file with an adapter, as llama.cpp's {@code convert_lora_to_gguf.py} writes it. */
final class GgufFiles {
    static final String ARCHITECTURE = "general.architecture";
    private static final String TYPE = "adapter.type";
    private static final String ALPHA = "adapter.lora.alpha";
    private static final PairNames NAMES = new PairNames("", ".weight.lora_a", ".weight.lora_b");

    private final Checkpoint files;

    GgufFiles(Checkpoint files) {
        this.files = files;
    }

    List<StoredPart> parts() {
        Metadata config = files.config();
        if (!config.string("general.type", "").equals("adapter")
                || !config.string(TYPE, "").equals("lora")) {
            throw new CheckpointException(files.source() + " is no adapter: general.type is "
                    + config.string("general.type", "absent") + " and " + TYPE + " " + config.string(TYPE, "absent")
                    + ", expected adapter and lora");
        }
        for (String key : config.keys()) {
            if (key.startsWith("adapter.") && !key.equals(TYPE) && !key.equals(ALPHA)) {
                throw new CheckpointException(
                        files.source() + ": " + key
                                + " is set, which Roselle does not know how to honour; merge the adapter into its model instead");
            }
        }
        double alpha = config.number(ALPHA, 0);
        var parts = new ArrayList<StoredPart>();
        for (Map.Entry<String, PairNames.Both> pair :
                NAMES.pairs(files, files.tensors().values()).entrySet()) {
            int rank = PairNames.rank(files, pair);
            float scale = alpha == 0 ? 1f : (float) (alpha / rank); // as llama.cpp does without alpha
            parts.add(new StoredPart.Pair(
                    pair.getKey(), pair.getValue().shrink(), pair.getValue().expand(), scale));
        }
        return parts;
    }
}
