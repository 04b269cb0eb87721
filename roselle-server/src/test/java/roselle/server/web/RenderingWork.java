package roselle.server.web;

import java.util.Map;
import tools.jackson.databind.JsonNode;

/**
 * Counts what it takes the page to make elements of texts, in steps that are the same on every machine however busy: how often blocks
 * of {@code markdown.js} are run, which the browser counts, and how many characters and elements the methods of the language that it
 * calls go over.
 */
final class RenderingWork implements AutoCloseable {
    private static final String SCRIPT = "/web/markdown.js";

    /** Has the methods count while the text is rendered, which is done at once. */
    private static final String RENDER = """
            import('./web/markdown.js').then(m => {
              let goneOver = 0;
              const originals = [];
              const count = (type, cost, ...names) => names.forEach(name => {
                const original = type.prototype[name];
                originals.push(() => { type.prototype[name] = original; });
                type.prototype[name] = function (...given) {
                  const made = original.apply(this, given);
                  goneOver += cost(this, made, given);
                  return made;
                };
              });
              const text = arguments[0].repeat(arguments[1]);
              count(String, (all, made, given) => (made < 0 ? all.length : made) - (given[1] ?? 0), 'indexOf');
              count(String, all => all.length, 'includes', 'lastIndexOf', 'replaceAll', 'split');
              count(String, (all, made) => made.length, 'repeat', 'slice', 'toLowerCase', 'toUpperCase', 'trim', 'trimStart');
              count(Array, (all, made) => made.length, 'join', 'splice');
              count(RegExp, (all, made, given) => given[0].length, 'test');
              try {
                m.markdown(text);
              } finally {
                originals.forEach(restore => restore());
              }
              return goneOver;
            })""";

    private final Browser browser;

    /** Counts on the page that is open, which is loaded anew: the browser counts blocks of what is loaded while it does so. */
    RenderingWork(Browser browser) {
        this.browser = browser;
        browser.devTools("Profiler.enable", Map.of());
        browser.devTools("Profiler.startPreciseCoverage", Map.of("callCount", true, "detailed", true));
        browser.reload();
        steps("once", 1);
    }

    /** The steps for a piece of text that is repeated. */
    long steps(String piece, int times) {
        blocks(); // what came before
        long goneOver = browser.await(RENDER, piece, times).longValue();
        return goneOver + blocks();
    }

    /** How often blocks were run since the last call. */
    private long blocks() {
        return blocks(browser.devTools("Profiler.takePreciseCoverage", Map.of()));
    }

    private static long blocks(JsonNode coverage) {
        long blocks = 0;
        for (JsonNode script : coverage.path("result")) {
            if (script.path("url").stringValue().endsWith(SCRIPT)) {
                for (JsonNode function : script.path("functions")) {
                    for (JsonNode range : function.path("ranges")) {
                        blocks += range.path("count").longValue();
                    }
                }
            }
        }
        return blocks;
    }

    @Override
    public void close() {
        browser.devTools("Profiler.stopPreciseCoverage", Map.of());
        browser.devTools("Profiler.disable", Map.of());
    }
}
