package roselle.structured.type;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Random;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import roselle.grammar.mask.TokenMasks;
import tools.jackson.databind.DeserializationFeature;
import tools.jackson.databind.SerializationFeature;
import tools.jackson.databind.cfg.DateTimeFeature;
import tools.jackson.databind.json.JsonMapper;

/**
 * Whatever is drawn under the masks of a random record type is read into it, as Jackson reads it, and is the same again when
 * Jackson has written it.
 */
final class RandomTypesTest {
    private static final int AT_ONCE = 50; // types that are compiled together
    private static final JsonMapper JACKSON = JsonMapper.builder()
            .enable(DeserializationFeature.FAIL_ON_UNKNOWN_PROPERTIES, DeserializationFeature.FAIL_ON_TRAILING_TOKENS)
            .disable(SerializationFeature.FAIL_ON_EMPTY_BEANS)
            .disable(DateTimeFeature.ADJUST_DATES_TO_CONTEXT_TIME_ZONE)
            .build();

    @Test
    void walksAreReadAsJacksonReadsThem() throws ClassNotFoundException {
        check(0, 5);
    }

    @Tag("long")
    @ParameterizedTest
    @MethodSource("thousandTypes")
    void manyWalksOfManyTypesAreReadAsJacksonReadsThem(int first) throws ClassNotFoundException {
        check(first, 20);
    }

    static IntStream thousandTypes() {
        return IntStream.range(0, 1000 / AT_ONCE).map(batch -> batch * AT_ONCE);
    }

    private static void check(int first, int walks) throws ClassNotFoundException {
        Map<String, String> sources = new LinkedHashMap<>();
        for (int seed = first; seed < first + AT_ONCE; seed++) {
            sources.put("Types" + seed, RandomTypes.source("Types" + seed, new Random(seed)));
        }
        ClassLoader loader = MemoryCompiler.compile(sources);
        int seed = first;
        for (Map.Entry<String, String> source : sources.entrySet()) {
            check(loader.loadClass(source.getKey() + "$Root"), new Random(seed++), walks, source.getValue());
        }
    }

    private static <T> void check(Class<T> type, Random random, int walks, String source) {
        AnswerType<T> compiled = AnswerType.of(type);
        TokenMasks masks = Walks.masks(compiled);
        for (int walk = 0; walk < walks; walk++) {
            String text = Walks.walk(masks, random);
            String where = source + "\nschema " + compiled.schema() + "\ntext " + text;
            T value = Reading.whole(compiled, text, where);
            assertThat(value).as(where).isEqualTo(JACKSON.readValue(text, type));
            String written = JACKSON.writeValueAsString(value);
            assertThat(Reading.whole(compiled, written, where + "\nwritten " + written))
                    .as("%s\nwritten %s", where, written)
                    .isEqualTo(value);
            assertThat(Reading.inPieces(compiled, text, random)).as(where).isEqualTo(Reading.inPieces(compiled, text));
        }
    }
}
