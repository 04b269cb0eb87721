package roselle.quantization.recipe;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import roselle.tensor.DataType;

/** Compares types with those that tools/formats/mixes.py had llama-quantize choose. */
class MixRulesTest {
    @ParameterizedTest
    @CsvSource({"dense, 16, 0, 4, false", "shared, 24, 0, 1, true", "experts, 8, 8, 2, false"})
    void choosesTheTypesOfLlamaQuantize(String model, int layers, int experts, int queriesPerKey, boolean shares)
            throws IOException {
        var lines = Files.readAllLines(Path.of("src/test/resources/formats/mixes.txt")).stream()
                .map(line -> List.of(line.split(" ")))
                .filter(line -> line.getFirst().equals(model))
                .toList();
        var facts = new ModelFacts(
                layers,
                experts,
                queriesPerKey,
                IntStream.range(0, layers).boxed().toList(),
                shares);
        List<String> names = lines.getFirst();
        assertThat(lines).hasSize(23);
        for (List<String> line : lines.subList(1, lines.size())) {
            Mix mix = Mix.named(line.get(1)).orElseThrow();
            var rules = new MixRules(mix, facts, false);
            for (int i = 2; i < names.size(); i++) {
                String name = names.get(i);
                int rank = name.contains("norm") ? 1 : name.contains("_exps") ? 3 : 2;
                DataType chosen = !TensorKind.isQuantized(name, rank)
                        ? DataType.F32
                        : mix.type().isQuantized() ? rules.type(name, rank) : mix.type();
                assertThat(chosen).as("%s in %s", name, mix).isEqualTo(DataType.valueOf(line.get(i)));
            }
        }
    }

    @Test
    void findsATypeForRowsThatAreNoWholeBlocks() {
        assertThat(MixRules.fitting(DataType.Q4_K, 512)).isEqualTo(DataType.Q4_K);
        assertThat(MixRules.fitting(DataType.Q4_K, 576)).isEqualTo(DataType.Q5_0);
        assertThat(MixRules.fitting(DataType.IQ4_XS, 576)).isEqualTo(DataType.IQ4_NL);
        assertThat(MixRules.fitting(DataType.Q6_K, 100)).isEqualTo(DataType.F16);
        assertThat(MixRules.fitting(DataType.Q8_0, 100)).isEqualTo(DataType.F16);
    }
}
