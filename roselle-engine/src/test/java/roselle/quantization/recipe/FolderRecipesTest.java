package roselle.quantization.recipe;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.lang.foreign.ValueLayout;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.List;
import java.util.TreeMap;
import java.util.stream.Collectors;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import roselle.checkpoint.Checkpoint;
import roselle.checkpoint.path.Checkpoints;
import roselle.tensor.Tensor;

final class FolderRecipesTest {
    private static final Path MODELS = Path.of("src/test/resources/tiny-models");

    @TempDir
    private Path folder;

    /** Digests of what llama.cpp's converter (that of llama-cpp-python 0.3.36) makes, by tools/models/digest.py. */
    @ParameterizedTest
    @CsvSource({
        "llama, BF16, b8e7084229be7afe7e0e9dbe8117a5fdf49921d936d2e2f023f4e8a816459962",
        "llama, Q8_0, 377baa1e501890c15df55b7068380d0e473fd1b855a770baee233d0a0cd44b8e",
        "llama-bias-headdim, BF16, d166e3e82f987e7e3cb33c264c68c496af3ad9215a96f8e7a4b680341058c1c6",
        "mistral, BF16, 9ea8090aacf8b819b32dce3d6b715ddb28bfb2766a6dd8d3df9b905f10bd1039",
        "qwen2, BF16, 6a70c9ad1be6f2b9f44100091e9915f39015428935d39962783757b225dc4baf",
        "qwen3, BF16, 9fbf331f4f80e4a14e0ea8abb3c9b7bc83d2235d8d1135da4e15093ae64f4a2e",
        "gemma, BF16, 42c4208fef8eed2472e1ff85b128cb79acf33e3bdff5b3c58cf67451dbdba5fe",
        "gemma, F16, 9e6c6d8e48f0766c88e83f3ac10ff774849d79f4b75de2cd8fb1dad817ab14f3",
        "gemma2, BF16, 5c3ffeb01d90508a6052d4e7852d2a42944991fb627c6e85b00a0db0ea918195",
        "gemma3, BF16, 7fc7e3e996df748b5f73c94527e85bba84a3903fd7a44f28ad5bd8619a0a4e30",
        "phi, BF16, 7e12cfe3c0e09cb31b27c394afb26810aabb5eea6ee717b862392ba454ae6cc2",
        "phi3, BF16, e5be9e4cd38f271f6944ce3608bb9026b36610011aa3ffe9821ca4ef93f05ab8",
        "phi3, Q8_0, 31ef5c48370084775fa143d265423277a3b3394a651bc7594462a80d6b7ba5cf",
    })
    void makesTheBytesThatTheReferenceMakes(String model, Mix mix, String digest) throws Exception {
        Path target = folder.resolve("model.gguf");
        try (Checkpoint source = Checkpoints.open(sayable(model))) {
            var plan = ConversionPlan.of(source, new Recipe(mix, List.of(), false, false), null);
            new Conversion(plan, target, 1).run((index, tensor, isDone) -> {});
        }
        try (Checkpoint written = Checkpoints.open(target)) {
            assertThat(digest(written)).isEqualTo(digest);
        }
    }

    /** The model, of Gemma with scores scaled as a GGUF's readers scale them. */
    private Path sayable(String model) throws IOException {
        Path copy = Files.createDirectories(folder.resolve(model));
        String config = Files.readString(MODELS.resolve(model).resolve("config.json"));
        Files.writeString(copy.resolve("config.json"), config.replace("_scalar\": 20", "_scalar\": 32"));
        Files.copy(MODELS.resolve(model).resolve("model.safetensors"), copy.resolve("model.safetensors"));
        return copy;
    }

    private static String digest(Checkpoint model) throws NoSuchAlgorithmException {
        var digest = MessageDigest.getInstance("SHA-256");
        for (Tensor tensor : new TreeMap<>(model.tensors()).values()) {
            String shape = Arrays.stream(tensor.shape().toArray())
                    .mapToObj(Long::toString)
                    .collect(Collectors.joining(","));
            String line = tensor.name() + " " + tensor.type().label() + " " + shape + "\n";
            digest.update(line.getBytes(StandardCharsets.UTF_8));
            digest.update(tensor.data().toArray(ValueLayout.JAVA_BYTE));
        }
        return HexFormat.of().formatHex(digest.digest());
    }
}
