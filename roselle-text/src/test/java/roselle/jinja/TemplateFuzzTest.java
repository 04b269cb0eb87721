package roselle.jinja;

import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;

/** As many seeded mutations of good templates as take about a second; a failure prints the seed and the template. */
final class TemplateFuzzTest {
    private static final long SEED = 20260704;
    private static final int INPUTS = 20_000;
    private static final List<String> GOOD = List.of(
            "{%- for message in messages %}{{- '<|' + message['role'] + '|>\\n' + message.content | trim }}"
                    + "{%- if loop.last and message.tool_calls is defined %}{{ message.tool_calls[0] | tojson(indent=4) }}"
                    + "{%- endif %}{% else %}none{%- endfor %}",
            "{% macro m(a, b=2, *c) %}{{ a ~ b }}{% endmacro %}{{ m(1, b=n) }}{% set ns = namespace(count=0) %}"
                    + "{% for k, v in tools[0].parameters|dictsort %}{% set ns.count = ns.count + v|int %}{% endfor %}{{ ns.count }}",
            "{% macro m(a, b=2) %}{{ caller(a) if caller else varargs }}{% endmacro %}{% call(y) m(n) %}[{{ y }}]{% endcall %}"
                    + "{% filter upper %}{% generation %}a{% endgeneration %}{% endfilter %}{% set z | trim %} q {% endset %}{{ z }}",
            "{{ (1 + 2 * n - 3 // 2 ** 2) % 5 }}{{ 'a,b'.split(',')[::-1]|join('-') }}{{ '%5.2f|%-4s|%x' % (n, x, 255) }}"
                    + "{{ '{:>8}|{0!r}'.format(x) if false else '{:,}'.format(1234567) }}{{ not x in messages and n is odd }}",
            "{#- note -#}{% raw %}{{ no }}{% endraw %}{{ range(10)|batch(3)|map('list')|list }}{{ x|replace(' ', '') }}"
                    + "{% for a in [1, [2]] recursive %}{{ loop(a) if a is iterable else a }}{% if a == 2 %}{% break %}{% endif %}{% endfor %}");

    @Test
    void mutatedTemplatesAreRefusedOrRender() {
        var random = new Random(SEED);
        for (int input = 0; input < INPUTS; input++) {
            String template = mutated(random);
            try {
                TemplateFuzzTarget.fuzzerTestOneInput(template.getBytes(StandardCharsets.UTF_8));
            } catch (RuntimeException | StackOverflowError escaped) {
                throw new AssertionError("seed " + SEED + ", input " + input + ": " + template, escaped);
            }
        }
    }

    /** A good template with pieces of the others put in, left out or changed. */
    private static String mutated(Random random) {
        var template = new StringBuilder(GOOD.get(random.nextInt(GOOD.size())));
        int changes = 1 + random.nextInt(5);
        for (int i = 0; i < changes && !template.isEmpty(); i++) {
            int at = random.nextInt(template.length());
            String other = GOOD.get(random.nextInt(GOOD.size()));
            int from = random.nextInt(other.length());
            String piece = other.substring(from, Math.min(other.length(), from + 1 + random.nextInt(12)));
            switch (random.nextInt(4)) {
                case 0 -> template.insert(at, piece);
                case 1 -> template.delete(at, Math.min(template.length(), at + 1 + random.nextInt(8)));
                case 2 -> template.replace(at, Math.min(template.length(), at + piece.length()), piece);
                default -> template.setCharAt(at, (char) (32 + random.nextInt(95)));
            }
        }
        return template.toString();
    }
}
