package roselle.gotemplate;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.time.LocalDateTime;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import roselle.api.InvalidRequestException;

/** What goldens do not have: places in messages, limits, dates, and what a template is found to know. */
final class OllamaTemplateTest {
    private static final LocalDateTime NOW = LocalDateTime.of(2026, 3, 1, 0, 30);

    private static String render(String template, Map<String, Object> variables) {
        return OllamaTemplate.parse("test", template).render(variables, NOW);
    }

    private static Map<String, Object> asked(String content) {
        return Map.of("messages", List.of(Map.of("role", "user", "content", content)));
    }

    @Test
    void tellsTheDateOfTheRendering() {
        assertThat(render("{{ currentDate }} {{ yesterdayDate }} {{ .Prompt }}", asked("x")))
                .isEqualTo("2026-03-01 2026-02-28 x");
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
                    a\\n {{ .Prompt | line 2, column 2: unclosed action
                    {{ if .Prompt }}x | line 1, column 4: this has no {{end}}
                    a\\nb {{ $x }} | line 2, column 6: undefined variable $x
                    {{ call .Prompt }} | line 1, column 4: there is no function call
                    """)
    void saysWhereATemplateIsWrong(String template, String message) {
        assertThatThrownBy(() -> OllamaTemplate.parse("test", template.replace("\\n", "\n")))
                .isInstanceOf(InvalidRequestException.class)
                .hasMessageContaining("template 'test', " + message);
    }

    @Test
    void saysWhereARenderingFailed() {
        assertThatThrownBy(() -> render("{{ range .Messages }}\n  {{ .Content.Deep }}{{ end }}", asked("x")))
                .isInstanceOf(InvalidRequestException.class)
                .hasMessageContaining("line 2, column 6: there is no field Deep in a string");
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "{{ range 9000000000000000000 }}{{ end }}",
                "{{ range 100000 }}{{ range 100000 }}{{ end }}{{ end }}",
                "{{ define `t` }}{{ template `t` . }}{{ end }}{{ template `t` . }}",
                "{{ define `t` }}{{ template `t` . }}{{ template `t` . }}{{ end }}{{ template `t` . }}",
                "{{ $x := .Prompt }}{{ range 64 }}{{ $x = print $x $x }}{{ end }}",
                "{{ range 64 }}{{ range 1000 }}{{ range 1000 }}{{ json $ }}{{ end }}{{ end }}{{ end }}",
                "{{ $x := .Prompt }}{{ range 15 }}{{ $x = print $x $x }}{{ end }}{{ $x = print $x $x $x $x $x $x $x $x $x }}",
                "{{ $x := .Prompt }}{{ range 14 }}{{ $x = print $x $x }}{{ end }}{{ html $x }}",
                "{{ printf `%1000v%1000v%1000v%1000v` 1 2 3 4 | printf `%100000s` }}",
            })
    void endsWhatWouldNeverEnd(String template) {
        assertThatThrownBy(() -> render(template, asked("x".repeat(1000)))).isInstanceOf(InvalidRequestException.class);
    }

    @ParameterizedTest
    @ValueSource(strings = {"{{ if . }}", "{{ with . }}", "{{ range . }}"})
    void refusesActionsNestedTooDeeply(String action) {
        String deep = action.repeat(5_000) + "{{ end }}".repeat(5_000);
        assertThatThrownBy(() -> OllamaTemplate.parse("test", deep)).isInstanceOf(InvalidRequestException.class);
    }

    @ParameterizedTest
    @ValueSource(strings = {"{{ if . }}{{ else if . }}", "{{ print ("})
    void refusesChainsAndParenthesesNestedTooDeeply(String part) {
        String deep = part.replace("{{ if . }}", "").repeat(5_000);
        String template = part.startsWith("{{ if") ? "{{ if . }}" + deep + "{{ end }}" : "{{ " + "(".repeat(5_000);
        assertThatThrownBy(() -> OllamaTemplate.parse("test", template)).isInstanceOf(InvalidRequestException.class);
    }

    @Test
    void refusesNumbersAndVariablesWithoutEnd() {
        assertThatThrownBy(() -> OllamaTemplate.parse("test", "{{ " + "9".repeat(1_000_000) + " }}"))
                .hasMessageContaining("bad number");
        assertThatThrownBy(() -> OllamaTemplate.parse("test", "{{ $x := 1 }}".repeat(70_000)))
                .hasMessageContaining("more than 256 variables");
    }

    @Test
    void mentionsWhatJinjasVariablesAreCalledHere() {
        var old = OllamaTemplate.parse("test", "{{ .Prompt }}");
        var thinking =
                OllamaTemplate.parse("test", "{{ range .Messages }}{{ if $.Think }}{{ .Content }}{{ end }}{{ end }}");
        var levels = OllamaTemplate.parse("test", "{{ $.ThinkLevel }}{{ .Messages }}{{ (index .Tools 0).Type }}");

        assertThat(old.mentions("tools")).isFalse();
        assertThat(old.mentions("enable_thinking")).isFalse();
        assertThat(thinking.mentions("enable_thinking")).isTrue();
        assertThat(thinking.mentions("reasoning_effort")).isFalse();
        assertThat(levels.mentions("reasoning_effort")).isTrue();
        assertThat(levels.mentions("tools")).isTrue();
    }
}
