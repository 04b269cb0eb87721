package roselle.checkpoint.gguf;

import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import roselle.checkpoint.Metadata;

/** What {@code general.file_type} of a GGUF file says: the mix of types of a whole model, by llama.cpp's names (llama_ftype). */
public final class FileTypes {
    private static final String KEY = "general.file_type";

    /** Set where a program has guessed the type from the tensors. */
    private static final int GUESSED = 1024;

    /** By number; empty where there is none, or none any more. */
    private static final List<String> NAMES = Arrays.asList(("F32,F16,Q4_0,Q4_1,,,,Q8_0,Q5_0,Q5_1,Q2_K,Q3_K_S,Q3_K_M,"
                    + "Q3_K_L,Q4_K_S,Q4_K_M,Q5_K_S,Q5_K_M,Q6_K,IQ2_XXS,IQ2_XS,Q2_K_S,IQ3_XS,IQ3_XXS,IQ1_S,IQ4_NL,IQ3_S,"
                    + "IQ3_M,IQ2_S,IQ2_M,IQ4_XS,IQ1_M,BF16,,,,TQ1_0,TQ2_0,MXFP4_MOE,NVFP4")
            .split(","));

    private FileTypes() {}

    /** The name of a file's mix; empty where it says none, or one that is not known. */
    public static Optional<String> name(Metadata config) {
        if (!config.has(KEY)) {
            return Optional.empty();
        }
        int number = config.integer(KEY) & ~GUESSED;
        return number < 0 || number >= NAMES.size()
                ? Optional.empty()
                : Optional.of(NAMES.get(number)).filter(name -> !name.isEmpty());
    }
}
