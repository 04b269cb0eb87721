package roselle.server.web;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import tools.jackson.databind.JsonNode;

/**
 * Each view of the page, light and dark, wide and on a phone: axe-core finds nothing, nothing is wider than the screen, and a
 * picture is left in the build folder for whoever changes the page. Needs npm and the network on first use.
 */
@Tag("long")
@NeedsPrograms({"chromedriver", "chromium", "npm"})
final class PageViewsTest {
    private static final Path PICTURES = Path.of("target", "pictures");

    private static final String ANSWER = """
            # Sums
            The sum of the first \\(n\\) numbers is **half** of $n(n+1)$, as *Gauss* [is said](https://example.org) to have found:

            \\[
            \\sum_{i=1}^{n} i = \\frac{n(n+1)}{2}
            \\]

            ```java
            /** Adds them up. */
            static long sum(int n) {
                return n * (n + 1L) / 2; // "exact"
            }
            ```

            | n | sum |
            |---|----:|
            | 10 | 55 |
            | 100 | 5050 |

            1. Pair the *first* and the last.
            2. Count the pairs: `n / 2`.

            > Every pair has the same sum.
            """;

    private static ScriptedPage page;
    private static Browser browser;
    private static String axe = "";

    @TempDir
    private static Path folder;

    @BeforeAll
    static void start() throws Exception {
        axe = Files.readString(installedAxe());
        page = new ScriptedPage(folder);
        browser = page.browser();
        Files.createDirectories(PICTURES);
    }

    private static Path installedAxe() throws IOException, InterruptedException {
        Path root = Files.createDirectories(Path.of("target", "page-tools"));
        Path library = root.resolve("node_modules/axe-core/axe.min.js");
        if (!Files.exists(library)) {
            Files.copy(
                    Path.of("src/test/web/package.json"),
                    root.resolve("package.json"),
                    StandardCopyOption.REPLACE_EXISTING);
            Process npm = new ProcessBuilder(
                            TestPrograms.find("npm").toString(),
                            "install",
                            "--no-package-lock",
                            "--no-audit",
                            "--silent")
                    .directory(root.toFile())
                    .inheritIO()
                    .start();
            assertThat(npm.waitFor(300, TimeUnit.SECONDS)).isTrue();
            assertThat(npm.exitValue()).isZero();
        }
        return library;
    }

    @AfterAll
    static void stop() {
        if (page != null) {
            page.close();
        }
    }

    @BeforeEach
    void open() {
        page.open();
    }

    @AfterEach
    void leave() {
        page.leave();
    }

    @ParameterizedTest
    @CsvSource({"light, 1100, 800", "dark, 1100, 800", "light, 390, 844", "dark, 390, 844"})
    void looksWell(String theme, int width, int height) throws IOException {
        boolean isPhone = width < 600;
        String suffix = "-" + theme + (isPhone ? "-phone" : "");
        browser.resize(width, height);
        browser.script("document.documentElement.dataset.theme = arguments[0]; " + axe, theme);
        look("empty" + suffix);

        browser.await("import('./web/attachments.js').then(m => m.attach([new File(['a = 1'], 'sums.py')]))");
        look("attached" + suffix);
        page.ask("What is the sum of the first n numbers?", ScriptedApi.THOUGHT + "Gauss did this.", ANSWER);
        browser.untilTrue("document.querySelectorAll('#thread math').length === 3"
                + " && document.querySelector('.code-comment') && document.querySelector('.figures').innerText");
        browser.click(".thoughts summary");
        browser.script("document.querySelector('#thread').scrollTop = 0");
        look("conversation" + suffix);
        browser.script("document.querySelector('#thread').scrollTop = 1e6");
        look("conversation-end" + suffix);

        page.ask("And with a bad seed?", ScriptedApi.REFUSE);
        browser.clickButton("Edit");
        look("failure" + suffix);
        browser.press(Browser.ESCAPE);
        browser.click("#settings");
        look("settings" + suffix);
        browser.script("document.querySelector('#tools input').click()");
        browser.press(Browser.ESCAPE);
        page.api().next(ScriptedApi.CALL + "get_weather {\"city\": \"Oslo\"}");
        browser.type("#prompt", "How is the weather?" + Browser.ENTER);
        browser.untilTrue("document.querySelector('.consent')");
        look("call" + suffix);
        browser.press(Browser.ESCAPE);
        page.untilIdle();
        if (isPhone) {
            browser.click("#menu");
            look("conversations" + suffix);
            browser.press(Browser.ESCAPE);
        }
        browser.script("location.hash = '#dashboard'");
        browser.untilTrue("document.querySelector('.chart .from')?.textContent.endsWith('s ago')");
        browser.script("document.querySelector(\"[data-key='Output tokens/s']\").focus()");
        browser.press(Browser.LEFT);
        look("dashboard" + suffix);
    }

    private static void look(String name) throws IOException {
        Files.write(PICTURES.resolve(name + ".png"), browser.screenshot());
        int width =
                browser.script("return document.scrollingElement.scrollWidth").intValue();
        int screen = browser.script("return window.innerWidth").intValue();
        assertThat(width).as("the width of %s", name).isLessThanOrEqualTo(screen);
        assertThat(violations()).as("what axe-core finds in %s", name).isEmpty();
    }

    private static List<String> violations() {
        return browser.await("axe.run().then(found => found.violations.flatMap("
                        + "rule => rule.nodes.map(node => rule.id + ': ' + node.html + ' ' + node.failureSummary)))")
                .valueStream()
                .map(JsonNode::stringValue)
                .toList();
    }

    /** What axe-core would have said, had something been wrong: it is awake. */
    @Test
    void axeFindsWhatIsPlanted() {
        browser.script(axe + "; document.querySelector('main').append(document.createElement('button'));"
                + "document.querySelector('#prompt').style.color = '#bbbbbb'");

        assertThat(violations()).hasSizeGreaterThanOrEqualTo(1).anyMatch(found -> found.startsWith("button-name: "));
    }
}
