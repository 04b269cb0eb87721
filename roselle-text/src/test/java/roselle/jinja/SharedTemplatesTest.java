package roselle.jinja;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.file.Files;
import java.time.LocalDateTime;
import java.util.Map;
import java.util.Objects;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import roselle.api.InvalidRequestException;
import roselle.testing.SharedData;
import tools.jackson.databind.json.JsonMapper;

/** Renders the templates of released models, byte for byte as Python's Jinja2 does. */
@Tag("shared-data")
final class SharedTemplatesTest {
    private static final LocalDateTime NOW = LocalDateTime.of(2026, 7, 4, 12, 0);

    @Test
    void rendersReleasedTemplatesAsPythonDoes() throws IOException {
        var cases = read("cases.json");
        int compared = 0;
        for (var expected : read("expected.json").entrySet()) {
            String name = (String) expected.getKey();
            String source = Files.readString(SharedData.path("templates/" + name));
            var template = ChatTemplate.compile(name, source);
            for (var result : ((Map<?, ?>) expected.getValue()).entrySet()) {
                compare(template, variables(cases, result.getKey()), (Map<?, ?>) result.getValue());
                compared++;
            }
        }
        assertThat(compared).isEqualTo(42);
    }

    private static void compare(ChatTemplate template, Map<String, ?> variables, Map<?, ?> expected) {
        if (expected.containsKey("ok")) {
            assertThat(template.render(variables, NOW)).isEqualTo(expected.get("ok"));
            return;
        }
        String error = (String) Objects.requireNonNull(expected.get("err"));
        var thrown = assertThatThrownBy(() -> template.render(variables, NOW))
                .isInstanceOf(InvalidRequestException.class)
                .hasMessageContaining("line ");
        if (error.startsWith("TemplateError: ")) {
            thrown.hasMessageContaining(error.substring("TemplateError: ".length()));
        }
    }

    @SuppressWarnings("unchecked") // JSON objects have string keys
    private static Map<String, ?> variables(Map<?, ?> cases, Object name) {
        return (Map<String, ?>) Objects.requireNonNull(cases.get(name));
    }

    private static Map<?, ?> read(String file) throws IOException {
        return JsonMapper.shared().readValue(Files.readString(SharedData.path("templates/" + file)), Map.class);
    }
}
