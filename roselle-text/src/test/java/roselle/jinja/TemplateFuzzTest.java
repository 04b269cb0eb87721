package roselle.jinja;

import java.util.List;
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
        new TemplateMutations(GOOD, SEED).feed(INPUTS, TemplateFuzzTarget::fuzzerTestOneInput);
    }
}
