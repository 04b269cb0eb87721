package roselle.engine;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import java.util.List;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import roselle.api.GenerationRequest;
import roselle.api.ResponseFormat;
import roselle.testing.ChildJvm;

/** An engine that is prepared for response formats has the first request make no class, of lambdas either. */
@Tag("long")
class FirstFormatTest {
    private static final Path MODEL = Path.of("../roselle-engine/src/test/resources/demo-model");
    private static final String BEGINS = "the first request begins";
    private static final String ENDS = "it has ended";
    private static final String SCHEMA = """
            {"type": "object", "required": ["name"], "additionalProperties": false,
             "properties": {"name": {"type": "string", "maxLength": 9}}}""";

    /** Arguments: whether the engine is prepared. */
    public static void main(String[] arguments) {
        try (Engine engine = Engine.open(EngineConfig.of(MODEL))) {
            answer(engine, ResponseFormat.TEXT);
            if (Boolean.parseBoolean(arguments[0])) {
                engine.prepareResponseFormats();
            }
            System.out.println(BEGINS);
            answer(engine, new ResponseFormat.JsonSchema(SCHEMA));
            System.out.println(ENDS);
        }
    }

    private static void answer(Engine engine, ResponseFormat format) {
        var request = GenerationRequest.builder()
                .user("Tell me a story about a fox.")
                .format(format)
                .temperature(0) // what an answer says has its classes, too
                .maxTokens(16)
                .build();
        try (var generation = engine.submit(request)) {
            generation.forEach(_ -> {});
        }
    }

    /** Roselle's classes that the first request made. */
    private static List<String> made(boolean isPrepared) {
        String said = ChildJvm.run(
                        List.of("--enable-native-access=ALL-UNNAMED", "-Xlog:class+load"),
                        FirstFormatTest.class,
                        Boolean.toString(isPrepared))
                .success();
        assertThat(said).contains(BEGINS, ENDS);
        return said.substring(said.indexOf(BEGINS), said.indexOf(ENDS))
                .lines()
                .filter(line -> line.contains(" roselle."))
                .collect(Collectors.toList());
    }

    @Test
    void makesNoClassWherePrepared() {
        assertThat(made(true)).isEmpty();
        assertThat(made(false)).hasSizeGreaterThan(100);
    }
}
