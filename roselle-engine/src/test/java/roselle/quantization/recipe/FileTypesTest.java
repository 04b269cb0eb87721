package roselle.quantization.recipe;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.charset.StandardCharsets;
import java.util.Optional;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;
import roselle.checkpoint.gguf.FileTypes;
import roselle.checkpoint.huggingface.JsonMetadata;

class FileTypesTest {
    private static Optional<String> name(int number) {
        String header = "{\"general.file_type\": " + number + "}";
        return FileTypes.name(JsonMetadata.parse("header", header.getBytes(StandardCharsets.UTF_8)));
    }

    @ParameterizedTest
    @EnumSource
    void whatIsWrittenIsReadByItsName(Mix mix) {
        assertThat(name(mix.fileType())).hasValue(mix.name());
        assertThat(name(mix.fileType() + 1024)).as("guessed").hasValue(mix.name());
    }

    /** Of llama.h, those that are never written here. */
    @ParameterizedTest
    @CsvSource({"19,IQ2_XXS", "24,IQ1_S", "27,IQ3_M", "29,IQ2_M", "31,IQ1_M"})
    void knowsWhatOthersWrite(int number, String name) {
        assertThat(name(number)).hasValue(name);
    }

    @ParameterizedTest
    @CsvSource({"4", "35", "40", "1023", "-1"})
    void saysNothingOfNumbersThatMeanNothing(int number) {
        assertThat(name(number)).isEmpty();
    }
}
