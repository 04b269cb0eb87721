package roselle.tensor;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.HashMap;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** What a type's parts come to is what ggml's structs and safetensors' names say. */
class DataTypeTest {
    // type_traits and static_asserts of ggml-common.h
    @ParameterizedTest
    @CsvSource({
        "F32, 1, 4, 0",
        "F16, 1, 2, 1",
        "Q4_0, 32, 18, 2",
        "Q4_1, 32, 20, 3",
        "Q5_0, 32, 22, 6",
        "Q5_1, 32, 24, 7",
        "Q8_0, 32, 34, 8",
        "Q2_K, 256, 84, 10",
        "Q3_K, 256, 110, 11",
        "Q4_K, 256, 144, 12",
        "Q5_K, 256, 176, 13",
        "Q6_K, 256, 210, 14",
        "IQ4_NL, 32, 18, 20",
        "IQ4_XS, 256, 136, 23",
        "I8, 1, 1, 24",
        "I16, 1, 2, 25",
        "I32, 1, 4, 26",
        "I64, 1, 8, 27",
        "F64, 1, 8, 28",
        "BF16, 1, 2, 30",
        "MXFP4, 32, 17, 39",
        "IQ2_XXS, 256, 66, 16",
        "IQ2_XS, 256, 74, 17",
        "IQ3_XXS, 256, 98, 18",
        "IQ1_S, 256, 50, 19",
        "IQ3_S, 256, 110, 21",
        "IQ2_S, 256, 82, 22",
        "IQ1_M, 256, 56, 29",
        "TQ1_0, 256, 54, 34",
        "TQ2_0, 256, 66, 35",
        "NVFP4, 64, 36, 40",
        "Q1_0, 128, 18, 41",
        "Q2_0, 64, 18, 42"
    })
    void hasTheSizesAndTheNumberOfGguf(DataType type, int elements, int bytes, int number) {
        assertThat(type.blockElements()).isEqualTo(elements);
        assertThat(type.blockBytes()).isEqualTo(bytes);
        assertThat(DataType.ofGguf(number)).contains(type);
    }

    @Test
    void numbersOfGgufAreThoseAlone() {
        Map<DataType, Integer> known = new HashMap<>();
        for (int number = -3; number < 100; number++) {
            int one = number;
            DataType.ofGguf(number)
                    .ifPresent(type -> assertThat(known.put(type, one)).isNull());
        }
        assertThat(known).hasSize(33);
    }

    @Test
    void namesOfSafetensorsAreThoseOfPlainTypes() {
        for (DataType type : DataType.values()) {
            if (type.isQuantized()) {
                assertThat(DataType.ofSafetensors(type.name())).isEmpty();
            } else {
                assertThat(DataType.ofSafetensors(type.name())).contains(type);
            }
        }
        assertThat(DataType.ofSafetensors("F8_E4M3")).contains(DataType.F8_E4M3);
        assertThat(DataType.ofSafetensors("f32")).isEmpty();
    }
}
