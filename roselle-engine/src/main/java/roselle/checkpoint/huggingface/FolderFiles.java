package roselle.checkpoint.huggingface;

import java.nio.file.Path;

/** The files of a folder as Hugging Face lays it out, by name. */
public final class FolderFiles {
    public static final String CONFIG = "config.json";
    public static final String TOKENIZER_JSON = "tokenizer.json";
    public static final String TOKENIZER_MODEL = "tokenizer.model";
    public static final String SAFETENSORS = "model.safetensors";
    public static final String SAFETENSORS_INDEX = "model.safetensors.index.json";
    public static final String ADAPTER_CONFIG = "adapter_config.json";
    public static final String ADAPTER = "adapter_model.safetensors";
    static final String GENERATION_CONFIG = "generation_config.json";
    static final String MODEL_OPT_CONFIG = "hf_quant_config.json";
    static final String TOKENIZER_CONFIG = "tokenizer_config.json";

    private FolderFiles() {}

    /** The folder that a file lies in. */
    public static Path folderOf(Path file) {
        Path parent = file.getParent();
        return parent == null ? Path.of("") : parent;
    }
}
