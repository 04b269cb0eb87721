package roselle.jinja;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.lang.management.ManagementFactory;
import java.time.Duration;
import java.time.LocalDateTime;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import roselle.api.InvalidRequestException;

/** Templates that want more than they should get: each ends soon, with one sentence that names a place. */
final class HostileTemplateTest {
    private static final LocalDateTime NOW = LocalDateTime.of(2026, 7, 4, 12, 0);
    /** Of the processor's time, on a slow one too: what is not refused takes minutes. */
    private static final Duration TIMELY = Duration.ofSeconds(5);

    @ParameterizedTest
    @ValueSource(
            strings = {
                "{% for i in range(10**9) %}{% endfor %}",
                "{% for i in range(100000) %}{% for j in range(100000) %}{% endfor %}{% endfor %}",
                "{% for i in range(100000) %}{% for j in range(100000) if false %}{% endfor %}{% endfor %}",
                "{{ range(-9223372036854775807, 9223372036854775807, 1) }}",
                "{{ 'a' * 10**9 }}",
                "{{ 10**9 * 'a' }}",
                "{{ [0] * 10**9 }}",
                "{{ (0,) * 10**18 }}",
                "{{ 10**(10**10) }}",
                "{{ 2**(2**30) }}",
                "{{ (2**16000)|string }}",
                "{% set ns = namespace(x=3) %}{% for i in range(64) %}{% set ns.x = ns.x * ns.x %}{% endfor %}",
                "{% set ns = namespace(x='ab') %}{% for i in range(64) %}{% set ns.x = ns.x ~ ns.x %}{% endfor %}",
                "{% set ns = namespace(x=[1]) %}{% for i in range(64) %}{% set ns.x = ns.x + ns.x %}{% endfor %}",
                "{% set ns = namespace(x=1) %}{% for i in range(64) %}{% set ns.x = [ns.x, ns.x] %}{% endfor %}{{ ns.x }}",
                "{% set ns = namespace(x=1) %}{% for i in range(64) %}{% set ns.x = [ns.x, ns.x] %}{% endfor %}{{ ns.x|tojson }}",
                "{% set a = namespace(x=1) %}{% set b = namespace(x=1) %}{% for i in range(64) %}{% set a.x = [a.x, a.x] %}"
                        + "{% set b.x = [b.x, b.x] %}{% endfor %}{{ a.x == b.x }}",
                "{% set a = namespace(x=1) %}{% for i in range(64) %}{% set a.x = (a.x, a.x) %}{% endfor %}{{ {a.x: 1} }}",
                "{% set ns = namespace(x=[]) %}{% for i in range(90000) %}{% set ns.x = [ns.x] %}{% endfor %}{{ ns.x }}",
                "{% set ns = namespace() %}{% set ns.x = [ns] %}{{ ns }}",
                "{% macro m() %}{{ m() }}{% endmacro %}{{ m() }}",
                "{% macro m(n) %}{{ m(n + 1) }}{{ m(n + 1) }}{% endmacro %}{{ m(0) }}",
                "{% macro m() %}{% call m() %}{{ caller() }}{% endcall %}{% endmacro %}{{ m() }}",
                "{% for x in [1] recursive %}{{ loop([1]) }}{% endfor %}",
                "{% set x = 'a' * 10**7 %}{% for i in range(90000) %}{{ x }}{% endfor %}",
                "{% set x = 'a' * 10**7 %}{% for i in range(90000) %}{% set y = x|upper %}{% endfor %}",
                "{% set x = 'a' * 10**6 %}{% for i in range(90000) %}{% set y = x.count('b') %}{% endfor %}",
                "{% set x = ' ' * 10**6 %}{% for i in range(90000) %}{% set y = x.split('  ') %}{% endfor %}",
                "{% for i in range(90000) %}{% set y = range(90000)|list %}{% endfor %}",
                "{{ 'a'.center(10**9) }}",
                "{{ 'a'.zfill(10**9) }}",
                "{{ '%1000000000d' % 1 }}",
                "{{ '%.1000000000f' % 1 }}",
                "{{ '{:>1000000000}'.format(1) }}",
                "{{ '{:.999999999f}'.format(1.0) }}",
                "{{ '\\t'.expandtabs(10**9) }}",
                "{{ ('a' * 10**6).replace('a', 'b' * 10**6) }}",
                "{{ ('a' * 10**6).join(['x'] * 1000) }}",
                "{{ [1]|batch(10**9, 'x')|list }}",
                "{{ [1]|slice(10**9)|list }}",
                "{{ ['a\nb'|indent(10**9)] }}",
                "{{ ('<!---->' * 10**5)|striptags }}",
                "{{ {'a': 1}|tojson(indent=10**9) }}",
                "{{ lipsum(10**6) }}",
                "{{ ''.__class__.__mro__[1].__subclasses__() }}",
                "{{ m.__globals__['os'] }}",
                "{{ '{0.__class__.__init__}'.format(x).y() }}",
                "{{ x.getClass() }}",
                "{{ x.getClass().forName('java.lang.Runtime') }}",
                "{{ [].append(1) }}",
                "{{ {}.update({'a': 1}) }}",
                "{% include '/etc/passwd' %}",
                "{% import 'os' as os %}",
                "{% extends 'base' %}",
                "{% from 'os' import system %}",
                "{{ 1",
                "{% if %}",
                "{{ }}",
                "{% for %}",
                "{% raw %}",
                "{# ",
                "{{ 'a",
                "{{ (1] }}",
                "{{ '\\x4' }}",
                "{{ 1.__class__() }}",
                "{{ raise_exception('no') }}",
                "{{ raise_exception('no\\n\\nnot so') }}",
                "{{ a\u0000b }}",
            })
    void isRefusedWithinSeconds(String template) {
        assertThatThrownBy(() -> timely(template))
                .isInstanceOf(InvalidRequestException.class)
                .hasMessageMatching("template 'hostile', line \\d+, column \\d+: .+");
    }

    @ParameterizedTest
    @ValueSource(
            strings = {"(", "[", "not ", "-", "x if ", "{1:", "f(", "x[", "{% if x %}", "{% for x in y %}", "'a' ~ -"})
    void refusesWhatIsNestedAHundredThousandDeep(String opening) {
        String body = opening.startsWith("{%") ? opening.repeat(100_000) : "{{ " + opening.repeat(100_000) + "1 }}";
        assertThatThrownBy(() -> timely(body)).isInstanceOf(InvalidRequestException.class);
    }

    @ParameterizedTest
    @ValueSource(
            strings = {" + 1", " and 1", " ** 1", "|list", ".a", "[0]", "()", " is none", " if 1", " or x", " / 2"})
    void refusesChainsOfAHundredThousandOperators(String operator) {
        assertThatThrownBy(() -> timely("{{ x" + operator.repeat(100_000) + " }}"))
                .isInstanceOf(InvalidRequestException.class);
    }

    @Test
    void fitsMacrosAtTheLimitOfDepthIntoAnOrdinaryStack() throws Exception {
        String nested = "(".repeat(60) + "m(n - 1)" + ")".repeat(60);
        String template = "{% macro m(n) %}{% if n %}{% if n %}{% if n %}{{ [" + nested
                + "] }}{% endif %}{% endif %}{% endif %}{% endmacro %}{{ m(100000) }}";
        var message = new CompletableFuture<String>();
        var thread = new Thread(null, () -> message.complete(refusal(template)), "small", 1 << 20);
        thread.start();
        assertThat(message.get(120, TimeUnit.SECONDS)).contains("macros or recursive loops are nested too deeply");
    }

    @Test
    void searchesForLongTextsInLinearTime() {
        String template = "{% set a = 'a' * 10**6 %}{{ (a ~ 'b') in a ~ a }}{{ (a ~ a).find(a ~ 'b') }}"
                + "{{ (a ~ a).rfind('b' ~ a) }}{{ (a ~ a).replace(a ~ 'b', '')|length }}";
        assertThat(timely(template)).isEqualTo("False-1-12000000");
    }

    @Test
    void refusesVariablesThatAreNestedTooDeeply() {
        Object value = List.of();
        for (int i = 0; i < 100_000; i++) {
            value = List.of(value);
        }
        var variables = Map.of("x", value);
        var template = ChatTemplate.compile("deep", "{{ x }}");
        assertThatThrownBy(() -> template.render(variables, NOW))
                .isInstanceOf(InvalidRequestException.class)
                .hasMessageContaining("variable 'x' is nested more than");
    }

    @Test
    void refusesVariablesThatAreNotData() {
        var template = ChatTemplate.compile("object", "{{ x.home }}");
        assertThatThrownBy(() -> template.render(Map.of("x", new Object()), NOW))
                .isInstanceOf(InvalidRequestException.class)
                .hasMessageContaining("only strings, numbers, booleans, null, lists and maps are data");
    }

    @Test
    void neverRunsTextFromVariables() {
        var text = new ArrayList<>(List.of("{{ 7 * 7 }}", "{% for x in y %}", "{# no #}", "%}"));
        var template = ChatTemplate.compile("text", "{% for x in text %}{{ x }}{{ x|trim }}{% endfor %}");
        assertThat(template.render(Map.of("text", text), NOW))
                .isEqualTo("{{ 7 * 7 }}{{ 7 * 7 }}{% for x in y %}{% for x in y %}{# no #}{# no #}%}%}");
    }

    @Test
    void namesLineAndColumn() {
        assertThatThrownBy(() -> timely("a\n  b {{ 1 }}\n{{ x.y.z }}"))
                .hasMessage("template 'hostile', line 3, column 5: 'x' is undefined");
    }

    private static String timely(String template) {
        var threads = ManagementFactory.getThreadMXBean();
        long start = threads.getCurrentThreadCpuTime();
        try {
            return ChatTemplate.compile("hostile", template).render(Map.of(), NOW);
        } finally {
            assertThat(Duration.ofNanos(threads.getCurrentThreadCpuTime() - start))
                    .isLessThan(TIMELY);
        }
    }

    private static String refusal(String template) {
        try {
            return timely(template);
        } catch (InvalidRequestException refused) {
            return String.valueOf(refused.getMessage());
        }
    }
}
