package roselle.jinja;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.time.LocalDateTime;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.zip.GZIPInputStream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import roselle.api.InvalidRequestException;
import tools.jackson.databind.json.JsonMapper;

/** Compares thousands of generated templates with what Python's Jinja2 made of them; see tools/templates/golden.py. */
final class GoldenTest {
    private static final int MAX_SHOWN = 40;

    /** One template; the output is null where Python raises. */
    private record Golden(String template, @Nullable String output) {}

    @Test
    void rendersGeneratedTemplatesAsPythonDoes() throws IOException {
        var document = read();
        var variables = map(document.get("variables"));
        var now = LocalDateTime.parse((String) Objects.requireNonNull(document.get("now")));
        var different = new ArrayList<String>();
        int count = 0;
        for (var golden : cases(document)) {
            String rendered = render(golden.template(), variables, now);
            boolean raises = rendered.startsWith("raises ");
            boolean isSame = golden.output() == null ? raises : rendered.equals("gives " + golden.output());
            count++;
            if (!isSame) {
                String expected = golden.output() == null ? "raises" : "gives " + golden.output();
                different.add("\n" + golden.template() + "\n  Python: " + expected + "\n  here:   " + rendered);
            }
        }
        assertThat(count).isGreaterThan(4_000);
        assertThat(different.size() > MAX_SHOWN ? different.subList(0, MAX_SHOWN) : different)
                .as("%d of %d differ", different.size(), count)
                .isEmpty();
    }

    private static String render(String template, Map<String, ?> variables, LocalDateTime now) {
        try {
            return "gives " + ChatTemplate.compile("golden", template).render(variables, now);
        } catch (InvalidRequestException expected) {
            return "raises " + expected.getMessage();
        }
    }

    private static Map<?, ?> read() throws IOException {
        var resource = Objects.requireNonNull(GoldenTest.class.getResourceAsStream("golden.json.gz"));
        try (var input = new GZIPInputStream(resource)) {
            return JsonMapper.shared().readValue(input, Map.class);
        }
    }

    @SuppressWarnings("unchecked") // JSON objects have string keys
    private static Map<String, ?> map(@Nullable Object value) {
        return (Map<String, ?>) Objects.requireNonNull(value);
    }

    private static List<Golden> cases(Map<?, ?> document) {
        var cases = new ArrayList<Golden>();
        for (Object each : (List<?>) Objects.requireNonNull(document.get("cases"))) {
            var pair = (List<?>) each;
            cases.add(new Golden((String) pair.get(0), (String) pair.get(1)));
        }
        return cases;
    }
}
