package roselle.bench.yaml;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import org.junit.jupiter.api.Test;
import roselle.api.InvalidRequestException;

final class YamlTest {
    @Test
    void readsMapsListsAndTexts() {
        var file = Yaml.parse("""
                # a comment
                model: demo   # another
                scales: [0.4, "0,8", 'it''s']
                online:
                  trace: poisson:rate=4
                  n: 200
                backends:
                  - roselle
                  - name: a # b
                    url: http://127.0.0.1:8000/x#y
                    environment: {A: "b: c", D: e}
                  -
                    name: "c\\n"
                flags:
                - --x
                - -y
                empty:
                text: |
                  one: 1

                    two # kept
                last: end
                """);

        assertThat(file.text("model")).contains("demo");
        assertThat(file.field("scales").orElseThrow().asItems("s"))
                .extracting(each -> each.asText("s"))
                .containsExactly("0.4", "0,8", "it's");
        var online = file.field("online").orElseThrow().asFields("online");
        assertThat(online.text("trace")).contains("poisson:rate=4");
        assertThat(online.text("n")).contains("200");
        var backends = file.field("backends").orElseThrow().asItems("backends");
        assertThat(backends).hasSize(3);
        assertThat(backends.get(0).asText("b")).isEqualTo("roselle");
        assertThat(backends.get(1).asFields("b").text("name")).contains("a");
        assertThat(backends.get(1).asFields("b").text("url")).contains("http://127.0.0.1:8000/x#y");
        assertThat(backends.get(1)
                        .asFields("b")
                        .field("environment")
                        .orElseThrow()
                        .asFields("e")
                        .text("A"))
                .contains("b: c");
        assertThat(backends.get(2).asFields("b").text("name")).contains("c\n");
        assertThat(file.field("flags").orElseThrow().asItems("f"))
                .extracting(each -> each.asText("f"))
                .containsExactly("--x", "-y");
        assertThat(file.text("empty")).contains("");
        assertThat(file.text("text")).contains("one: 1\n\n  two # kept\n");
        assertThat(file.text("last")).contains("end");
    }

    @Test
    void namesTheLineOfWhatItDoesNotRead() {
        refuses("a: 1\n\tb: 2\n", "line 2");
        refuses("a: &x 1\n", "line 1: a value begins with &");
        refuses("a: *x\n", "begins with *");
        refuses("a: [1, 2\n", "line 1: a bracket is not closed");
        refuses("a: \"x\n", "a quote is not closed");
        refuses("a: 1\na: 2\n", "line 2: the key a is there twice");
        refuses("a: 1\n    b: 2\n", "line 2: it is indented as nothing above it");
        refuses("a\n", "line 1: it has no key");
        refuses("- a\n", "the file has to be a map");
        refuses("a: " + "[".repeat(40) + "\n", "nested deeper");
        refuses("a: \"\\x\"\n", "after a backslash");
        refuses("a: [1] 2\n", "something follows");
    }

    private static void refuses(String text, String message) {
        assertThatThrownBy(() -> Yaml.parse(text))
                .isInstanceOf(InvalidRequestException.class)
                .hasMessageContaining(message);
    }
}
