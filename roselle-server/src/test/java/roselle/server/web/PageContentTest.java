package roselle.server.web;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import tools.jackson.databind.JsonNode;

/** What the page does with code, formulas and files, by libraries that it loads when they are needed. */
@Tag("long")
@NeedsPrograms({"chromedriver", "chromium"})
final class PageContentTest {
    private static final String MATHML = "http://www.w3.org/1998/Math/MathML";

    private static ScriptedPage page;
    private static Browser browser;

    @TempDir
    private static Path folder;

    @BeforeAll
    static void startBrowser() throws Exception {
        page = new ScriptedPage(folder);
        browser = page.browser();
    }

    @AfterAll
    static void stopBrowser() {
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

    @Test
    void coloursCodeAndLoadsNothingWithoutIt() {
        page.ask("hello", "Good morning, $5.");
        assertThat(loaded()).noneMatch(name -> name.contains("vendor"));

        page.ask("show", "```java\nfinal class A { String s = \"<b>\"; } // done\n```\n\n```nonsense\nx < y\n```");

        browser.untilTrue("document.querySelector('.block .code-keyword')");
        assertThat(browser.text(".block .code-keyword")).isEqualTo("final");
        assertThat(browser.text(".block .code-string")).isEqualTo("\"<b>\"");
        assertThat(browser.text(".block code")).isEqualTo("final class A { String s = \"<b>\"; } // done");
        assertThat(browser.count("#thread b")).isZero();
        assertThat(browser.script("return [...document.querySelectorAll('.block code')].at(-1).innerHTML")
                        .stringValue())
                .isEqualTo("x &lt; y");
    }

    /** A worker that never answers is ended; the text stays, and the next block has a new worker. */
    @Test
    void codeThatTakesTooLongStaysPlain() {
        browser.script("window.ended = 0; window.Worker = class extends Worker {"
                + " postMessage(asked) { if (!asked.text.includes('endless')) super.postMessage(asked); }"
                + " terminate() { window.ended++; super.terminate(); } }");
        page.ask("show", "```java\nclass endless {}\n```\n\n```java\nclass A {}\n```");

        browser.untilTrue("document.querySelectorAll('.block code')[1].querySelector('.code-keyword')");

        assertThat(browser.script("return window.ended").intValue()).isEqualTo(1);
        assertThat(browser.script("return document.querySelector('.block code').innerHTML")
                        .stringValue())
                .isEqualTo("class endless {}");
    }

    @Test
    void setsFormulas() {
        page.ask(
                "show",
                "So \\(x^2\\) and $\\frac{a}{b}$:\n\n\\[\n\\sum_{i=1}^n i\n\\]\n\n$$\\begin{align}a&=b\\end{align}$$");

        browser.untilTrue("document.querySelectorAll('#thread math').length === 4");

        assertThat(browser.script("return document.querySelector('#thread math').namespaceURI")
                        .stringValue())
                .isEqualTo(MATHML);
        assertThat(browser.script("return document.querySelector('#thread math msup').textContent")
                        .stringValue())
                .isEqualTo("x2");
        assertThat(browser.script("return document.querySelector('#thread pre.math math').getAttribute('display')")
                        .stringValue())
                .isEqualTo("block");
        assertThat(browser.script("return document.querySelector('#thread .math').title")
                        .stringValue())
                .as("the source is still to be seen")
                .isEqualTo("x^2");
    }

    @Test
    void formulasAreHarmless() {
        String deep = "{".repeat(1500) + "x" + "}".repeat(1500);
        page.ask(
                "show",
                "\\(x\\) \\(\\href{javascript:alert(1)}{a}\\) \\(\\includegraphics{http://127.0.0.1:1/x.png}\\)\n\n",
                "\\[\\begin{align}a\\label{prompt}\\end{align}\\]\n\n\\(\\def\\a{\\a\\a}\\a\\) \\(" + deep + "\\)\n\n",
                "\\(\\id{panel}{b}\\) \\(\\class{bar}{c}\\) \\(\\unknown{\\) \\(<img src=x onerror=alert(1)>\\)");

        browser.untilTrue("document.querySelectorAll('#thread math').length >= 2");

        assertThat(browser.count("#thread a, #thread img, #thread [id], #thread [href], #thread [style*=url]"))
                .isZero();
        assertThat(page.answer()).contains("\\href{javascript:alert(1)}{a}", "\\unknown{");
    }

    @Test
    void thePolicyAllowsWhatThisServerHasAndNothingElse() {
        for (String path : List.of("", "web/chat.js", "web/highlighter.js", "web/vendor/temml-0.13.5/temml.min.js")) {
            String policy = browser.await(
                            "fetch(arguments[0]).then(r => r.headers.get('content-security-policy'))", "/" + path)
                    .stringValue();
            assertThat(policy.split("; "))
                    .as(path)
                    .contains("default-src 'none'", "script-src 'self'")
                    .allMatch(rule -> rule.matches("[a-z-]+ '(none|self)'"));
        }
    }

    @Test
    void filesGoBeforeTheWordsAndComeBackWithThem() throws Exception {
        attach("notes.md", "A ```fence``` within.");
        browser.untilTrue("document.querySelectorAll('#chips li').length === 1");
        assertThat(browser.text("#chips")).contains("notes.md · 21 B");
        page.ask("Sum up.", "Fences.");

        assertThat(page.api().request().at("/messages/0/content").stringValue())
                .isEqualTo("notes.md:\n````\nA ```fence``` within.\n````\n\nSum up.");
        assertThat(browser.count("#chips li")).isZero();
        assertThat(browser.text(".user .chip summary")).isEqualTo("notes.md · 21 B");
        browser.clickButton("Edit");
        assertThat(browser.text("#chips")).contains("notes.md");
        browser.click("[aria-label='Remove notes.md']");
        page.api().next("Nothing.");
        browser.type("#prompt", Browser.ENTER);
        browser.untilTrue("document.querySelector('.assistant').innerText.includes('Nothing')");
        page.untilIdle();
        assertThat(page.api().request().at("/messages/0/content").stringValue()).isEqualTo("Sum up.");

        browser.click("[aria-label='Branch before']");
        assertThat(browser.text(".user .chip summary")).isEqualTo("notes.md · 21 B");
        String file = browser.await("import('./web/sharing.js').then(m => m.exported())")
                .stringValue();
        assertThat(file).contains("A ```fence``` within.");
        assertThat(browser.await("import('./web/sharing.js').then(m => m.imported(arguments[0]))", file)
                        .stringValue())
                .startsWith("0 of 1");
        browser.type("#search", "notes.md");
        assertThat(browser.count("#conversations li")).isEqualTo(1);
    }

    /** A file alone is a message, too. */
    @Test
    void filesAreDroppedAndPasted() throws Exception {
        String transfer = "const data = new DataTransfer(); data.items.add(new File([arguments[1]], arguments[0]));";
        browser.script(
                transfer + "document.querySelector('main').dispatchEvent("
                        + "new DragEvent('drop', { dataTransfer: data, bubbles: true, cancelable: true }));",
                "a.txt",
                "dropped");
        browser.untilTrue("document.querySelectorAll('#chips li').length === 1");
        browser.script(
                transfer + "document.querySelector('#prompt').dispatchEvent("
                        + "new ClipboardEvent('paste', { clipboardData: data, bubbles: true, cancelable: true }));",
                "b.txt",
                "pasted");
        browser.untilTrue("document.querySelectorAll('#chips li').length === 2");

        page.ask("", "Seen.");

        assertThat(page.api().request().at("/messages/0/content").stringValue())
                .isEqualTo("a.txt:\n```\ndropped\n```\n\nb.txt:\n```\npasted\n```");
        assertThat(browser.text("#conversations")).contains("a.txt");
    }

    @Test
    void whatIsNoTextOrTooLargeIsRefused() {
        attach("picture.png", "\0PNG");
        untilTold("picture.png is no text.");
        attach("large.txt", "x".repeat(300_000));
        untilTold("large.txt is too large: the files of a message have at most 256 KiB together.");
        for (int file = 1; file <= 11; file++) {
            attach(file + ".txt", "x");
        }
        untilTold("11.txt is one too many: a message has at most 10 files.");
        assertThat(browser.count("#chips li")).isEqualTo(10);
        browser.script("for (let i = 0; i < 10; i++) document.querySelector('#chips button').click()");
        browser.await("import('./web/attachments.js').then("
                + "m => m.attach([new File([new Uint8Array([0xe9])], 'latin.txt')]))");
        untilTold("latin.txt is no text in UTF-8.");
    }

    private static void attach(String name, String text) {
        browser.await(
                "import('./web/attachments.js').then(m => m.attach([new File([arguments[1]], arguments[0])]))",
                name,
                text);
    }

    private static void untilTold(String sentence) {
        browser.until(
                "return document.querySelector('#attached').textContent",
                text -> text.stringValue().equals(sentence));
    }

    @Test
    void emptySettingsShowWhatThenHolds() {
        browser.untilTrue("document.querySelector('[name=temperature]').placeholder !== ''");

        JsonNode shown = browser.script("return ['temperature', 'top_p', 'top_k', 'max_completion_tokens', 'seed']"
                + ".map(name => document.querySelector('[name=' + name + ']').placeholder)");

        JsonNode told = browser.await("fetch('page/defaults?model=scripted').then(r => r.json())");
        assertThat(shown.valueStream().map(JsonNode::stringValue).toList())
                .isEqualTo(List.of(
                        told.at("/temperature").asString(),
                        told.at("/top_p").asString(),
                        told.at("/top_k").asString(),
                        "≤ " + told.at("/context").asString(),
                        "random"));
        assertThat(told.at("/context").intValue()).isEqualTo(1024);
    }

    @Test
    void curvesHaveAxesAndTellTheValuesOfAMoment() {
        page.ask("hello", "Good morning.");
        browser.script("location.hash = '#dashboard'");
        browser.untilTrue("document.querySelector('.chart .from')?.textContent.endsWith('s ago')");

        browser.script("document.querySelector(\"[data-key='Output tokens/s']\").focus()");
        browser.press(Browser.LEFT);
        String readout = "return document.querySelector(\"[data-key='Output tokens/s'] .readout\").textContent";
        assertThat(browser.script(readout).stringValue()).matches("[0-9.,]+ · \\d+ s ago");

        browser.script("window.drawn = document.querySelector('.chart')");
        browser.untilTrue("window.drawn !== document.querySelector('.chart')");
        assertThat(browser.script("return document.activeElement.dataset.key").stringValue())
                .as("drawn anew, it has the focus still")
                .isEqualTo("Output tokens/s");
        assertThat(browser.script(readout).stringValue()).isNotEmpty();
        assertThat(browser.count(".chart .top")).isEqualTo(9);
        assertThat(browser.script("return document.querySelector(\"[data-key='Running']\").ariaLabel")
                        .stringValue())
                .isEqualTo("Running: running 0, waiting 0 now, at most 0");
    }

    private static List<String> loaded() {
        return browser.script("return performance.getEntriesByType('resource').map(e => e.name)")
                .valueStream()
                .map(JsonNode::stringValue)
                .toList();
    }
}
